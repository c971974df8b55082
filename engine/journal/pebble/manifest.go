package pebble

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

// firstSequence is the sequence number of the first key written to a store.
const firstSequence = 10

// manifestEnd describes the state of the store at the end of a MANIFEST.
type manifestEnd struct {
	log      uint64 // number of the oldest log whose records are not in the tables
	sequence uint64 // sequence number of the last key written before
}

// checkManifest refuses a store whose MANIFEST has lost its end. Pebble takes an unreadable rest for a record torn by
// a crash and continues with old tables and a newer log. That leaves a gap, which the sequence numbers reveal: keys
// are numbered in the order of writing, and the log has to continue where the tables end.
func checkManifest(fs vfs.FS, dir, manifest string) error {
	end, err := readManifest(fs, manifest)
	if err != nil {
		return err
	}
	first, log, err := firstLogged(fs, dir, end.log)
	if err != nil || first <= end.sequence+1 {
		return err
	}
	return fmt.Errorf("%s is truncated: it lists %d keys, and %s continues after key %d; nothing was changed:"+
		" restore a backup of the directory", filepath.Base(manifest), end.sequence, log, first-1)
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
		case isEnd(err):
			return end, nil
		case err != nil:
			return end, err
		}
		if err := end.take(bufio.NewReader(r)); err != nil {
			return end, nil // Pebble reports it in more detail
		}
	}
}

// isEnd reports whether an error of a record reader means that there are no more records, or no more complete ones.
func isEnd(err error) bool { return errors.Is(err, io.EOF) || record.IsInvalidRecord(err) }

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

// firstLogged returns the sequence number of the first key in the logs starting with number from, and the log that
// contains it; 0 if they are empty.
func firstLogged(fs vfs.FS, dir string, from uint64) (first uint64, log string, err error) {
	logs, err := wal.Scan(wal.Dir{FS: fs, Dirname: dir})
	if err != nil {
		return 0, "", err
	}
	for _, l := range logs { // in order
		if uint64(l.Num) < from {
			continue
		}
		if first, err = firstOf(l); err != nil || first > 0 {
			return first, l.Num.String() + ".log", err
		}
	}
	return 0, "", nil
}

// firstOf returns the sequence number of the first key in a log, or 0 if the log has no complete record.
func firstOf(log wal.LogicalLog) (first uint64, err error) {
	records := log.OpenForRead()
	defer func() { err = errors.Join(err, records.Close()) }()
	r, _, err := records.NextRecord()
	var sequence [8]byte // a record is a batch, which begins with the sequence number
	if err == nil {
		_, err = io.ReadFull(r, sequence[:])
	}
	switch {
	case isEnd(err), errors.Is(err, io.ErrUnexpectedEOF):
		return 0, nil
	case err != nil:
		return 0, err
	}
	return binary.LittleEndian.Uint64(sequence[:]), nil
}
