package pebblestore

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// The files of the anchor in a store's directory.
const (
	// AnchorFile holds the number of the newest change that is on the disk.
	AnchorFile = "stepback-anchor"
	// lossesFile lists the lost tails that no repair has acknowledged yet. It exists only if there are any.
	lossesFile = "stepback-losses.json"
)

// LostTail reports that the end of a store's log is missing: the store has fewer changes than had been on the disk.
type LostTail struct {
	// Seen is the time at which the loss was found.
	Seen time.Time `json:"seen"`
	// Changes is the number of missing changes of keys. 0 means that it is not known.
	Changes uint64 `json:"changes"`
	// Anchor is true if the file that would tell was damaged, so that changes may be missing.
	Anchor bool `json:"anchor,omitempty"`
}

// Error implements error.
func (l *LostTail) Error() string {
	if l.Anchor {
		return fmt.Sprintf("%s was damaged before %s: whether the end of the log is missing is not known; stepback data repair "+
			"acknowledges this", AnchorFile, l.Seen.UTC().Format(time.RFC3339))
	}
	lost := "changes that had been on the disk are missing, including the last acknowledged ones"
	switch {
	case l.Changes == 1:
		lost = "1 change that had been on the disk is missing, the last acknowledged one"
	case l.Changes > 1:
		lost = fmt.Sprintf("%d %s", l.Changes, lost)
	}
	return fmt.Sprintf("the end of the log was lost before %s: %s; restore a backup of the directory if there is one, or accept the loss with stepback data repair",
		l.Seen.UTC().Format(time.RFC3339), lost)
}

// The anchor file has two slots, which are written in turn: if a crash tears one, the other one is intact. Each holds a
// generation, the number of a change, and a checksum of both, in hexadecimal. They lie in different sectors.
const (
	slotFormat   = "%016x %016x %08x\n"
	slotLength   = 16 + 1 + 16 + 1 + 8 + 1
	slotDistance = 512
)

// errAnchor is returned if neither slot of an anchor file can be read.
var errAnchor = errors.New("neither of its two entries can be read")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// slot is the content of a slot.
type slot struct{ generation, change uint64 }

func (s slot) text() []byte {
	text := make([]byte, 0, slotLength)
	text = append(hex.AppendEncode(text, binary.BigEndian.AppendUint64(nil, s.generation)), ' ')
	text = hex.AppendEncode(text, binary.BigEndian.AppendUint64(nil, s.change))
	sum := crc32.Checksum(text, castagnoli)
	return append(hex.AppendEncode(append(text, ' '), binary.BigEndian.AppendUint32(nil, sum)), '\n')
}

func parseSlot(text []byte) (s slot, ok bool) {
	var sum uint32
	if _, err := fmt.Sscanf(string(text), slotFormat, &s.generation, &s.change, &sum); err != nil {
		return slot{}, false
	}
	return s, string(s.text()) == string(text)
}

// readAnchor reads the newest slot of a directory's anchor. found is false if there is no anchor; the error is
// errAnchor if there is one that cannot be read.
func readAnchor(system vfs.FS, dir string) (newest slot, found bool, err error) {
	f, err := system.Open(filepath.Join(dir, AnchorFile))
	if errors.Is(err, fs.ErrNotExist) {
		return slot{}, false, nil
	}
	if err != nil {
		return slot{}, false, err
	}
	text, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return slot{}, false, err
	}
	valid := false
	for _, at := range [...]int{0, slotDistance} {
		if len(text) < at+slotLength {
			continue
		}
		if s, ok := parseSlot(text[at : at+slotLength]); ok {
			valid = true
			if s.generation >= newest.generation {
				newest = s
			}
		}
	}
	if !valid {
		return slot{}, true, fmt.Errorf("%s: %w", filepath.Join(dir, AnchorFile), errAnchor)
	}
	return newest, true, nil
}

// anchor is the open anchor file of a store.
type anchor struct {
	file vfs.File
	// synced is the newest change on the disk; written is the newest one in the file.
	synced, written atomic.Uint64

	mu         sync.Mutex // orders the writes of the file
	generation uint64
}

// openAnchor opens or creates the anchor file of a store whose newest change is change. after is the newest slot of the
// existing file; it is zero if there is none, or none that can be read.
func openAnchor(system vfs.FS, dir string, after slot, change uint64) (*anchor, error) {
	path := filepath.Join(dir, AnchorFile)
	if after.generation == 0 {
		if err := createAnchor(system, dir, path); err != nil {
			return nil, err
		}
	}
	f, err := system.OpenReadWrite(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, err
	}
	a := &anchor{file: f, generation: after.generation}
	a.synced.Store(change)
	if err := errors.Join(a.write(change), f.Sync()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return a, nil
}

// createAnchor creates a file with two empty slots atomically, so that later writes change bytes in place and need no
// space.
func createAnchor(system vfs.FS, dir, path string) error {
	text := bytes.Repeat([]byte{' '}, slotDistance+slotLength)
	copy(text, slot{}.text())
	copy(text[slotDistance:], slot{}.text())
	return replace(system, dir, path, text)
}

// replace replaces a file atomically and syncs it.
func replace(system vfs.FS, dir, path string, text []byte) error {
	f, err := system.Create(path+".tmp", vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = system.Rename(path+".tmp", path)
	}
	if err == nil {
		err = syncDir(system, dir)
	}
	return err
}

func syncDir(system vfs.FS, dir string) error {
	d, err := system.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// reached notes that a change and all changes before it are on the disk. It returns when the file has that number or a
// higher one. The file is not synced: it survives the death of the process, and after a crash of the machine it holds
// an earlier number, never a later one. A write that fails is repeated with the next change.
func (a *anchor) reached(change uint64) {
	for seen := a.synced.Load(); seen < change && !a.synced.CompareAndSwap(seen, change); {
		seen = a.synced.Load()
	}
	if a.written.Load() >= change {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if newest := a.synced.Load(); a.written.Load() < newest {
		_ = a.write(newest) // the next one repeats it
	}
}

// write writes the next slot. mu is held, or the anchor is not in use yet.
func (a *anchor) write(change uint64) error {
	next := slot{a.generation + 1, change}
	if _, err := a.file.WriteAt(next.text(), int64(next.generation%2)*slotDistance); err != nil {
		return err
	}
	a.generation = next.generation
	a.written.Store(change)
	return nil
}

// Losses returns the losses of a store that no repair has acknowledged, without opening the store.
func Losses(system vfs.FS, dir string) ([]*LostTail, error) { return readLosses(system, dir) }

// readLosses returns the losses that a directory's file lists. An unreadable file counts as one loss of unknown size.
func readLosses(system vfs.FS, dir string) ([]*LostTail, error) {
	path := filepath.Join(dir, lossesFile)
	f, err := system.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(f)
	var losses []*LostTail
	if err = errors.Join(err, f.Close()); err == nil && json.Unmarshal(text, &losses) != nil || len(losses) == 0 {
		losses = []*LostTail{{}}
	}
	return losses, err
}

// writeLosses replaces the file of losses atomically and syncs it.
func writeLosses(system vfs.FS, dir string, losses []*LostTail) error {
	text, err := json.Marshal(losses)
	if err != nil {
		return err
	}
	return replace(system, dir, filepath.Join(dir, lossesFile), text)
}
