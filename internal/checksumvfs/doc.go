// Package checksumvfs gives each page of an SQLite database a checksum, which is verified whenever the page is read
// from the file.
//
// It registers a VFS, a layer between SQLite and the file system, which forwards to SQLite's own. The format is that of
// SQLite's checksum VFS (https://www.sqlite.org/cksumvfs.html): 8 bytes are reserved at the end of each page, and hold
// the checksum of the rest. SQLite's extension cksumvfs, loaded into its shell, reads and writes the same files. A
// program without it reads them, too, but the pages that it writes have no valid checksum and are reported as damaged.
//
// A database that reserves another number of bytes is read and written as it is. Reserve sets the number for a new
// database; an existing one gets it by VACUUM.
//
// The write-ahead log is not read through the VFS: its frames have checksums of SQLite's own, which SQLite verifies
// when it recovers the log after a crash. There it drops what follows the first damaged frame and reports nothing;
// CheckLog finds that before.
package checksumvfs
