package pebblestore

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/wal"
)

// firstSequence is the sequence number of the first change of a store.
const firstSequence = 10

// manifestEnd describes the state of a store at the end of a MANIFEST.
type manifestEnd struct {
	log      uint64 // number of the oldest log whose records are not in the tables
	sequence uint64 // sequence number of the last change before
}

// recovered returns the sequence number of the newest change that opening a store recovers from its MANIFEST and logs.
// It refuses a log whose middle is damaged, and a MANIFEST that has lost its end. Pebble takes an unreadable rest of a
// MANIFEST for a record torn by a crash and continues with old tables and a newer log. That leaves a gap, which the
// sequence numbers reveal: changes are numbered in order, and the log has to continue where the tables end.
func recovered(fs vfs.FS, dir, manifest string) (newest uint64, err error) {
	end, err := readManifest(fs, manifest)
	if err != nil {
		return 0, err
	}
	logs, err := wal.Scan(wal.Dir{FS: fs, Dirname: dir})
	if err != nil {
		return 0, err
	}
	newest = end.sequence
	for i, l := range logs { // in order
		if uint64(l.Num) < end.log {
			continue
		}
		first, last, err := readLog(l, i < len(logs)-1)
		if err != nil {
			return 0, err
		}
		if first > newest+1 {
			return 0, fmt.Errorf("%s is truncated: it lists %d changes, and %s.log continues after change %d; nothing was changed:"+
				" restore a backup of the directory", filepath.Base(manifest), newest, l.Num, first-1)
		}
		newest = max(newest, last)
	}
	return newest, nil
}

// readManifest reads a MANIFEST as far as Pebble does.
func readManifest(fs vfs.FS, manifest string) (end manifestEnd, err error) {
	end.sequence = firstSequence - 1
	f, err := fs.Open(manifest)
	if err != nil {
		return end, err
	}
	defer f.Close()
	for records := record.NewReader(f, 0); ; {
		r, err := records.Next()
		switch {
		case errors.Is(err, io.EOF), record.IsInvalidRecord(err):
			return end, nil
		case err != nil:
			return end, err
		}
		if err := end.take(bufio.NewReader(r)); err != nil {
			return end, nil // Pebble reports it in more detail
		}
	}
}

// The fields of a record in Pebble's MANIFEST that come before those of the tables.
const (
	comparerField     = 1
	logField          = 2
	nextFileField     = 3
	lastSequenceField = 4
	previousLogField  = 9
)

// take reads the fields of one MANIFEST record.
func (m *manifestEnd) take(r *bufio.Reader) error {
	for {
		field, err := binary.ReadUvarint(r)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if field > lastSequenceField && field != previousLogField {
			return nil
		}
		value, err := binary.ReadUvarint(r)
		if err != nil {
			return err
		}
		switch field {
		case comparerField: // the value is the length of its name
			_, err = r.Discard(int(min(value, 1<<16)))
		case logField:
			m.log = value
		case lastSequenceField:
			m.sequence = max(m.sequence, value)
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// batchHeader is the length of the header of a record in a log, which is a batch: the sequence number of its first
// change, then the number of changes.
const batchHeader = 8 + 4

// readLog returns the sequence numbers of the first and the last change in a log; both are 0 if it has none. closed is
// true for all logs but the newest one: they end cleanly, while a crash may have torn the newest one.
func readLog(log wal.LogicalLog, closed bool) (first, last uint64, err error) {
	records := log.OpenForRead()
	defer func() { err = errors.Join(err, records.Close()) }()
	for {
		r, at, err := records.NextRecord()
		var header [batchHeader]byte
		if err == nil {
			_, err = io.ReadFull(r, header[:])
		}
		if err == nil {
			_, err = io.Copy(io.Discard, r)
		}
		switch {
		case errors.Is(err, io.EOF), !closed && (errors.Is(err, record.ErrUnexpectedEOF) || errors.Is(err,
			io.ErrUnexpectedEOF)):
			return first, last, nil
		case err != nil:
			return first, last, &damagedLog{log: log, after: at.Physical, closed: closed, err: err}
		}
		sequence, count := binary.LittleEndian.Uint64(header[:]), uint64(binary.LittleEndian.Uint32(header[8:]))
		if first == 0 {
			first = sequence
		}
		last = max(last, sequence+count-1)
	}
}

// damagedLog reports a log whose middle cannot be read. Pebble refuses to open the store.
type damagedLog struct {
	log    wal.LogicalLog
	after  int64 // bytes
	closed bool
	err    error
}

// Error implements error.
func (d *damagedLog) Error() string {
	return fmt.Sprintf("%s.log is damaged after byte %d: %v; nothing was changed", d.log.Num, d.after, firstLine(d.err))
}

func (d *damagedLog) Unwrap() error { return d.err }
