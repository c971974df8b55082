package pebble

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/internal/pebblestore"
)

// LostTail reports that the end of the log is missing: the journal has fewer changes than had been on the disk.
type LostTail struct {
	// Seen is the time at which the loss was found.
	Seen time.Time
	// Changes is the number of missing changes of keys. 0 means that it is not known.
	Changes uint64
	// Anchor is true if the file that holds the number of changes was damaged, so that changes may be missing.
	Anchor bool
}

// Error implements error.
func (l *LostTail) Error() string { return (*pebblestore.LostTail)(l).Error() }

// LostTails returns the losses at the end of the log that have been found, oldest first. They are reported until Repair
// has acknowledged them.
func (j *Journal) LostTails() []*LostTail {
	found := j.db.LostTails()
	all := make([]*LostTail, len(found))
	for i, lost := range found {
		all[i] = (*LostTail)(lost)
	}
	return all
}

// Until November 2026, the number of groups of records was stored twice, so that a shortened log was noticed: in the
// file groupsFile beside the log, and in the store under groupsKey.
const (
	groupsFile = "stepback-anchor.json"
	groupsKey  = "n"
)

// takeGroups moves the losses that an earlier version recorded, or would find now, to the store's own list, and removes
// the earlier version's file.
func takeGroups(system vfs.FS, dir string, db *pebblestore.Store, readOnly bool) error {
	path := filepath.Join(dir, groupsFile)
	f, err := system.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	text, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	var said struct {
		Groups uint64
		Lost   []*pebblestore.LostTail
	}
	if json.Unmarshal(text, &said) != nil {
		said.Groups, said.Lost = 0, nil // as the earlier version did, which wrote it without syncing
	}
	there := uint64(0)
	v, closer, err := db.Get([]byte(groupsKey))
	switch {
	case err == nil && len(v) == 8:
		there = binary.BigEndian.Uint64(v)
		err = closer.Close()
	case err == nil:
		err = closer.Close()
	case errors.Is(err, pebble.ErrNotFound):
		err = nil
	}
	if err != nil {
		return err
	}
	if there < said.Groups {
		said.Lost = append(said.Lost, &pebblestore.LostTail{Seen: time.Now()})
	}
	if err := db.AddLosses(said.Lost...); err != nil || readOnly {
		return err
	}
	return system.Remove(path)
}
