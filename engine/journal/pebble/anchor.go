package pebble

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// The anchor is a small file beside the log that records how many groups of records were on the disk. A log that has
// lost its tail looks like one torn by a crash, so only something outside the log can tell the difference. The anchor
// is written every second, after the records, so it never counts records that were not on the disk; a loss of records
// from the last second is not detected.
const (
	anchorFile     = "stepback-anchor.json"
	anchorInterval = time.Second
	groupsKey      = "n" // number of groups committed, including the current one
)

// LostTail reports that the end of the log is missing: the journal has fewer records than had been on the disk.
type LostTail struct {
	// Seen is the time the loss was found. Groups is the number of missing groups of records (a group is synced
	// together).
	Seen   time.Time `json:"seen"`
	Groups uint64    `json:"groups"`
}

// Error implements error.
func (l *LostTail) Error() string {
	return fmt.Sprintf("the end of the log was lost before %s: %d groups of records that had been on the disk are missing, including "+
		"the last acknowledged ones; restore a backup of the directory if there is one", l.Seen.UTC().Format(time.RFC3339), l.Groups)
}

// anchorContent is the content of the anchor file.
type anchorContent struct {
	Groups uint64      `json:"groups"`
	Lost   []*LostTail `json:"lost,omitempty"`
}

// anchor writes the anchor file from a separate goroutine, which stop waits for.
type anchor struct {
	fs    vfs.FS
	dir   string
	quit  chan struct{}
	ended sync.WaitGroup
	said  anchorContent // once the goroutine runs, only it uses this
}

// readAnchor reads the anchor file and compares it with the store. An unreadable file is ignored.
func readAnchor(fs vfs.FS, dir string, db *pebble.DB) (*anchor, error) {
	a := &anchor{fs: fs, dir: dir, quit: make(chan struct{})}
	if f, err := fs.Open(filepath.Join(dir, anchorFile)); err == nil {
		text, err := io.ReadAll(f)
		if err = errors.Join(err, f.Close()); err != nil || json.Unmarshal(text, &a.said) != nil {
			a.said = anchorContent{}
		}
	}
	there, err := groupsOf(db)
	if err != nil {
		return nil, err
	}
	if there < a.said.Groups {
		a.said.Lost = append(a.said.Lost, &LostTail{Seen: time.Now(), Groups: a.said.Groups - there})
	}
	a.said.Groups = max(a.said.Groups, there)
	return a, nil
}

func groupsOf(db *pebble.DB) (uint64, error) {
	v, closer, err := db.Get([]byte(groupsKey))
	if errors.Is(err, pebble.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, damaged(err)
	}
	defer closer.Close()
	if len(v) != 8 {
		return 0, fmt.Errorf("the key %q has no number", groupsKey)
	}
	return binary.BigEndian.Uint64(v), nil
}

// setGroups stores the number of groups in the same batch as the group it counts.
func setGroups(b *pebble.Batch, n uint64) error {
	return b.Set([]byte(groupsKey), binary.BigEndian.AppendUint64(nil, n), nil)
}

// follow writes the number of durable groups every second and at the end. A write that fails is repeated the next
// time.
func (a *anchor) follow(durable func() uint64) {
	a.ended.Go(func() {
		tick := time.NewTicker(anchorInterval)
		defer tick.Stop()
		written := uint64(0)
		for over := false; !over; {
			select {
			case <-tick.C:
			case <-a.quit:
				over = true
			}
			if n := durable(); n != written {
				a.said.Groups = n
				if a.write() == nil {
					written = n
				}
			}
		}
	})
}

func (a *anchor) stop() {
	if a == nil {
		return
	}
	close(a.quit)
	a.ended.Wait()
}

// write replaces the file atomically. It does not sync: after a crash the file shows at most what is durable.
func (a *anchor) write() error {
	text, err := json.Marshal(a.said)
	if err != nil {
		return err
	}
	path := filepath.Join(a.dir, anchorFile)
	f, err := a.fs.Create(path+".tmp", vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return a.fs.Rename(path+".tmp", path)
}

// LostTails returns the losses at the end of the log that the anchor has revealed, oldest first. They are reported
// until Repair has acknowledged them.
func (j *Journal) LostTails() []*LostTail { return j.lost }
