package ownerfs

import "github.com/cockroachdb/pebble/v2/vfs"

// Unsynced is System without waiting for the disk: what is written survives the process, but not a crash of the
// machine. It is for directories that are removed when the process ends.
var Unsynced vfs.FS = unsynced{System}

type unsynced struct{ vfs.FS }

// Create implements vfs.FS.
func (u unsynced) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return withoutSync(u.FS.Create(name, category))
}

// OpenReadWrite implements vfs.FS.
func (u unsynced) OpenReadWrite(name string, category vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	return withoutSync(u.FS.OpenReadWrite(name, category, o...))
}

// ReuseForWrite implements vfs.FS.
func (u unsynced) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return withoutSync(u.FS.ReuseForWrite(from, to, category))
}

// OpenDir implements vfs.FS.
func (u unsynced) OpenDir(name string) (vfs.File, error) { return withoutSync(u.FS.OpenDir(name)) }

// Unwrap implements vfs.FS.
func (u unsynced) Unwrap() vfs.FS { return u.FS }

func withoutSync(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return unsyncedFile{f}, nil
}

type unsyncedFile struct{ vfs.File }

// Sync implements vfs.File.
func (unsyncedFile) Sync() error { return nil }

// SyncData implements vfs.File.
func (unsyncedFile) SyncData() error { return nil }

// SyncTo implements vfs.File.
func (unsyncedFile) SyncTo(int64) (fullSync bool, err error) { return true, nil }
