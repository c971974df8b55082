package simulation

import (
	"cmp"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/internal/pebblestore"
)

// disk is the simulated disk of a process. It tracks what was synced, so that a crash can lose or tear the rest.
// Its log may be slow, and it may lie, claiming that data is on the disk when it is not.
//
// An existing store opens without waiting for the disk. If opening had to wait and failed, Pebble would close the
// store again and hold its lock while closing syncs the log. A Pebble goroutine that wants the lock meanwhile does
// not count as idle in the bubble. The world lets the sync continue only once all goroutines are idle, so it would
// wait for ever.
type disk struct {
	vfs.FS
	mem     *vfs.MemFS
	world   *world
	slow    bool
	opening atomic.Bool // an existing store is being opened
	lies    atomic.Bool
}

func newDisk(w *world, mem *vfs.MemFS) *disk {
	d := &disk{FS: mem, mem: mem, world: w}
	names, err := mem.List(journalDir)
	d.opening.Store(err == nil && len(names) > 0)
	return d
}

// opened makes the disk wait for syncs from now on, after the store was opened without waiting.
func (d *disk) opened() { d.opening.Store(false) }

// journalDir is the journal's directory on the disk.
const journalDir = "journal"

// Create implements vfs.FS.
func (d *disk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.Create(name, c)
	return d.log(name, f), err
}

// ReuseForWrite implements vfs.FS.
func (d *disk) ReuseForWrite(before, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.ReuseForWrite(before, name, c)
	return d.log(name, f), err
}

// log wraps a file of the log for the simulation; other files are returned unchanged.
func (d *disk) log(name string, f vfs.File) vfs.File {
	if f == nil || filepath.Ext(name) != ".log" {
		return f
	}
	return &logFile{File: f, disk: d}
}

// logFile is a file of the journal's log.
type logFile struct {
	vfs.File
	disk *disk
}

// errDead is the error that tasks of a dead process get.
var errDead = errors.New("simulation: the process has died")

// settle waits for the disk and reports whether the written data is to be synced: not by a disk that lies, nor for a
// process that has died.
func (f *logFile) settle() bool {
	if f.disk.slow && !f.disk.opening.Load() && !f.disk.world.wait("sync") {
		return false
	}
	return !f.disk.lies.Load()
}

// Sync implements vfs.File.
func (f *logFile) Sync() error {
	if !f.settle() {
		return nil
	}
	return f.File.Sync()
}

// SyncData implements vfs.File.
func (f *logFile) SyncData() error {
	if !f.settle() {
		return nil
	}
	return f.File.SyncData()
}

// SyncTo implements vfs.File.
func (f *logFile) SyncTo(length int64) (bool, error) {
	if !f.settle() {
		return true, nil
	}
	return f.File.SyncTo(length)
}

// crash returns the disk as a crash leaves it. Synced data survives. Of the data written to a file since its last
// sync, a draw decides whether nothing, all or a part survives; on a tidy disk nothing does.
func (d *disk) crash(tidy bool) (*vfs.MemFS, error) {
	left := d.mem.CrashClone(vfs.CrashCloneCfg{})
	if tidy {
		return left, nil
	}
	whole, err := files(d.mem)
	if err != nil {
		return nil, err
	}
	synced, err := files(left)
	if err != nil {
		return nil, err
	}
	for _, name := range names(whole) {
		old, there := synced[name]
		if there && string(old) == string(whole[name]) {
			continue
		}
		now := whole[name]
		switch d.world.Intn(3) {
		case 1:
			err = write(left, name, now)
		case 2:
			// The blocks of a write reach the disk in any order; data that had been synced survives.
			from, to := len(old), len(now)
			if !there {
				from = 0
			}
			if from < to && strings.HasPrefix(string(now), string(old)) {
				torn := slices.Clone(now[:from+d.world.Intn(to-from+1)])
				if n := len(torn) - from; n > 0 && d.world.one(2) {
					clear(torn[from : from+d.world.Intn(n)])
				}
				err = write(left, name, torn)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return left, nil
}

// damages are the kinds of damage that happen to a disk at rest.
var damages = []string{"flipped bit", "lost write", "misdirected write"}

// damage damages one place on a disk that is not in use and returns a description of the damage. The description is
// empty if there was nothing to damage.
func damage(d *draws, fs *vfs.MemFS) (string, error) {
	all, err := files(fs)
	if err != nil {
		return "", err
	}
	var spoilable []string
	for _, name := range names(all) {
		if len(all[name]) > 0 {
			spoilable = append(spoilable, name)
		}
	}
	if len(spoilable) == 0 {
		return "", nil
	}
	name := pick(d, spoilable...)
	text := slices.Clone(all[name])
	at := d.Intn(len(text))
	block := text[at:min(at+1+d.Intn(4096), len(text))]
	what := pick(d, damages...)
	switch what {
	case damages[0]:
		block[0] ^= 1 << d.Intn(8)
	case damages[1]:
		clear(block)
	default:
		other := all[pick(d, spoilable...)]
		copy(block, other[d.Intn(len(other)):])
	}
	if string(text) == string(all[name]) {
		return "", nil
	}
	return what + " in " + filepath.Base(name), write(fs, name, text)
}

// files returns the contents of the journal's files by name.
func files(fs vfs.FS) (map[string][]byte, error) {
	all := map[string][]byte{}
	names, err := fs.List(journalDir)
	if err != nil {
		return all, nil //nolint:nilerr // the journal was not there yet
	}
	for _, name := range names {
		path := filepath.Join(journalDir, name)
		if info, err := fs.Stat(path); err != nil || info.IsDir() {
			continue
		}
		f, err := fs.Open(path)
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		all[path] = text
	}
	return all, nil
}

func names(files map[string][]byte) []string {
	out := make([]string, 0, len(files))
	for name := range files {
		out = append(out, name)
	}
	// The numbers in names are random, because two kinds of file draw from one source.
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(cmp.Compare(filepath.Ext(a), filepath.Ext(b)), cmp.Compare(a, b))
	})
	return out
}

// write puts a file on a disk, synced.
func write(fs vfs.FS, name string, text []byte) error {
	f, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	dir, err := fs.OpenDir(journalDir)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// clone returns a copy of a disk that is not in use.
func clone(fs *vfs.MemFS) *vfs.MemFS { return fs.CrashClone(vfs.CrashCloneCfg{}) }

// anchorOf returns the text of the journal's anchor; there is false if it has none.
func anchorOf(fs vfs.FS) (text string, there bool) {
	f, err := fs.Open(filepath.Join(journalDir, pebblestore.AnchorFile))
	if err != nil {
		return "", false
	}
	content, err := io.ReadAll(f)
	return string(content), errors.Join(err, f.Close()) == nil
}
