package ledger

import (
	"encoding/binary"
	"errors"

	"stepback/csvimport"
)

// BlockRows is the number of rows in a block. It is part of the stored data: it must never change.
const BlockRows = 128

// BlockOf returns the block of a row, from 0, and the row's place in it.
func BlockOf(row int64) (block int64, place int) { return row / BlockRows, int(row % BlockRows) }

// Entry is the state of a row in its block. The zero value is an open row.
type Entry struct {
	state state
	run   int64
	check uint32
}

type state uint8

const (
	open state = iota
	closed
	counted
)

// Closed returns the entry of a row that has been dead-lettered and must not be counted any more.
func Closed() Entry { return Entry{state: closed} }

// Counted returns the entry of a row that a run has counted, with the fingerprint of its increment. run is the run's
// number, or 0 if it has no name.
func Counted(run, fingerprint int64) Entry {
	return Entry{state: counted, run: run, check: fold(fingerprint)}
}

// fold reduces a fingerprint to 32 bits, enough to detect a file whose rows have changed. It is part of the stored
// data.
func fold(fingerprint int64) uint32 { return uint32(uint64(fingerprint) ^ uint64(fingerprint)>>32) }

// Open reports whether nothing has been decided about the row.
func (e Entry) Open() bool { return e.state == open }

// Outcome returns the outcome, from the point of view of this run, of a row that is not open: applied, already
// applied, or dead-lettered.
func (e Entry) Outcome(run int64) csvimport.Outcome {
	switch {
	case e.state == closed:
		return csvimport.DeadLettered
	case run != 0 && e.run == run:
		return csvimport.Applied
	}
	return csvimport.AlreadyApplied
}

// Repeat returns the answer to an attempt to count a row that is not open: its outcome, or a permanent failure if the
// row is closed or its values differ from those counted.
func (e Entry) Repeat(run int64, file csvimport.Source, row, fingerprint int64) csvimport.Answer {
	switch {
	case e.state == closed:
		return csvimport.Answer{Err: csvimport.RowClosed(file, row)}
	case e.check != fold(fingerprint):
		return csvimport.Answer{Err: csvimport.KeyReused(file, row)}
	}
	return csvimport.Answer{Outcome: e.Outcome(run)}
}

// Block holds the entries of its rows. In the zero value all rows are open.
type Block [BlockRows]Entry

// The stored form begins with a byte for the version of the form. Then follows, for each group of neighbours with
// the same state and run number, their count, a code, and four bytes for each counted row. Rows that are missing
// are open.
const form = 1

const (
	codeOpen    = 0
	codeClosed  = 1
	codeCounted = 2 // + the run's number
)

var errDamaged = errors.New("a block of rows is damaged: it cannot be decoded")

// Decode parses a stored block. No bytes mean a block that was never written.
func Decode(data []byte) (*Block, error) {
	b := new(Block)
	if len(data) == 0 {
		return b, nil
	}
	if data[0] != form {
		return nil, errDamaged
	}
	data = data[1:]
	for at := 0; len(data) > 0; {
		n, w := binary.Uvarint(data)
		if w <= 0 || n == 0 || n > uint64(BlockRows-at) {
			return nil, errDamaged
		}
		data = data[w:]
		code, w := binary.Uvarint(data)
		if w <= 0 || code > 1<<63 {
			return nil, errDamaged
		}
		data = data[w:]
		stretch := b[at : at+int(n)]
		at += int(n)
		switch code {
		case codeOpen:
		case codeClosed:
			for i := range stretch {
				stretch[i] = Closed()
			}
		default:
			if len(data) < 4*len(stretch) {
				return nil, errDamaged
			}
			for i := range stretch {
				stretch[i] = Entry{counted, int64(code - codeCounted), binary.LittleEndian.Uint32(data[4*i:])}
			}
			data = data[4*len(stretch):]
		}
	}
	return b, nil
}

// Append appends the stored form to a slice.
func (b *Block) Append(to []byte) []byte {
	to = append(to, form)
	last := BlockRows
	for last > 0 && b[last-1].Open() {
		last--
	}
	for at := 0; at < last; {
		end := at + 1
		for end < last && b[end].state == b[at].state && b[end].run == b[at].run {
			end++
		}
		to = binary.AppendUvarint(to, uint64(end-at))
		switch b[at].state {
		case open:
			to = append(to, codeOpen)
		case closed:
			to = append(to, codeClosed)
		case counted:
			to = binary.AppendUvarint(to, codeCounted+uint64(b[at].run))
			for _, e := range b[at:end] {
				to = binary.LittleEndian.AppendUint32(to, e.check)
			}
		}
		at = end
	}
	return to
}
