package ledger

import (
	"encoding/binary"
	"errors"

	"stepback/csvimport"
)

// BlockRows is how many rows a block has. It is part of the stored data: it must never change.
const BlockRows = 128

// BlockOf is the block of a row, from 0, and the row's place in it.
func BlockOf(row int64) (block int64, place int) { return row / BlockRows, int(row % BlockRows) }

// Entry is what a block says of a row. The zero value is a row that is open.
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

// Closed is the entry of a row that is dead-lettered and must not be counted any more.
func Closed() Entry { return Entry{state: closed} }

// Counted is the entry of a row that a run has counted with an increment of the fingerprint. The run is its number, or
// 0 when it has no name.
func Counted(run, fingerprint int64) Entry {
	return Entry{state: counted, run: run, check: fold(fingerprint)}
}

// fold makes 32 bits of a fingerprint: enough to notice a file whose rows are other than before. It is part of the
// stored data.
func fold(fingerprint int64) uint32 { return uint32(uint64(fingerprint) ^ uint64(fingerprint)>>32) }

// Open tells whether nothing is decided about the row.
func (e Entry) Open() bool { return e.state == open }

// Outcome is what the entry of a row that is not open means for a run.
func (e Entry) Outcome(run int64) csvimport.Outcome {
	switch {
	case e.state == closed:
		return csvimport.DeadLettered
	case run != 0 && e.run == run:
		return csvimport.Applied
	}
	return csvimport.AlreadyApplied
}

// Repeat answers an attempt to count a row that is not open: its outcome, or the permanent failure of a closed row or
// of other values than before.
func (e Entry) Repeat(run int64, file csvimport.Source, row, fingerprint int64) csvimport.Answer {
	switch {
	case e.state == closed:
		return csvimport.Answer{Err: csvimport.RowClosed(file, row)}
	case e.check != fold(fingerprint):
		return csvimport.Answer{Err: csvimport.KeyReused(file, row)}
	}
	return csvimport.Answer{Outcome: e.Outcome(run)}
}

// Block holds the entries of its rows. The zero value is a block whose rows are all open.
type Block [BlockRows]Entry

// The stored form is a byte for the form, and then, for each stretch of neighbours with the same state and run, their
// number, a code, and four bytes for each row that is counted. What is not there is open.
const form = 1

const (
	codeOpen    = 0
	codeClosed  = 1
	codeCounted = 2 // + the run's number
)

var errDamaged = errors.New("a block of rows is damaged: its bytes are not what was written")

// Decode reads a stored block. No bytes are a block that was never written.
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

// Append writes the stored form.
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
