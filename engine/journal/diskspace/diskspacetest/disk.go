// Package diskspacetest provides a disk in memory whose free space a test sets.
package diskspacetest

import (
	"sync"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// ReserveName is the name of the file whose size the Disk counts as used.
const ReserveName = "reserve"

// Disk is a file system in memory that rejects writes with ENOSPC when there is not enough free space. Writes do not
// use up space; only a preallocated file with the name ReserveName does. It is safe for concurrent use.
type Disk struct {
	*vfs.MemFS

	mu   sync.Mutex
	free int64 // without the reserve
	held int64
	fail error
}

// New returns a disk with a number of free bytes.
func New(free int64) *Disk { return &Disk{MemFS: vfs.NewCrashableMem(), free: free} }

// SetFree sets the number of free bytes, besides the reserve. A negative number makes the disk full even after the
// reserve has been released.
func (d *Disk) SetFree(bytes int64) {
	d.mu.Lock()
	d.free = bytes
	d.mu.Unlock()
}

// Fail makes all writes fail with an error; nil makes them succeed again.
func (d *Disk) Fail(with error) {
	d.mu.Lock()
	d.fail = with
	d.mu.Unlock()
}

// GetDiskUsage implements vfs.FS.
func (d *Disk) GetDiskUsage(string) (vfs.DiskUsage, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return vfs.DiskUsage{AvailBytes: uint64(max(0, d.free))}, nil
}

// Create implements vfs.FS.
func (d *Disk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.MemFS.Create(name, c)
	return &file{f, d, d.PathBase(name) == ReserveName}, err
}

// ReuseForWrite implements vfs.FS.
func (d *Disk) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.MemFS.ReuseForWrite(from, to, c)
	return &file{f, d, false}, err
}

// Remove implements vfs.FS.
func (d *Disk) Remove(name string) error {
	if d.PathBase(name) == ReserveName {
		d.mu.Lock()
		d.free, d.held = d.free+d.held, 0
		d.mu.Unlock()
	}
	return d.MemFS.Remove(name)
}

type file struct {
	vfs.File
	disk    *Disk
	reserve bool
}

// Preallocate implements vfs.File.
func (f *file) Preallocate(_, bytes int64) error {
	if f.reserve {
		f.disk.mu.Lock()
		f.disk.free, f.disk.held = f.disk.free-bytes, bytes
		f.disk.mu.Unlock()
	}
	return nil
}

// Write implements vfs.File.
func (f *file) Write(p []byte) (int, error) {
	f.disk.mu.Lock()
	err := f.disk.fail
	if err == nil && f.disk.free < int64(len(p)) {
		err = syscall.ENOSPC
	}
	f.disk.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return f.File.Write(p)
}
