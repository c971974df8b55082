package checksumvfs

import (
	"errors"
	"strconv"
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Name is the VFS's name, for the parameter vfs of a data source name.
const Name = "checksums"

// Damaged is the extended result code of SQLite, SQLITE_IOERR_DATA, with which a statement fails that reads a page
// without its checksum.
const Damaged = sqlite3.SQLITE_IOERR_DATA

// Register registers the VFS on its first call. It must be called before a database is opened with it.
func Register() error { return register() }

var register = sync.OnceValue(func() error {
	tls := libc.NewTLS()
	defer tls.Close()
	if rc := sqlite3.Xsqlite3_initialize(tls); rc != sqlite3.SQLITE_OK {
		return errors.New("SQLite cannot be initialized: " + sqlite3Error(rc))
	}
	base := sqlite3.Xsqlite3_vfs_find(tls, 0)
	if base == 0 {
		return errors.New("SQLite has no default VFS")
	}
	// SQLite keeps the addresses until the process ends.
	name, err := libc.CString(Name)
	if err != nil {
		return err
	}
	own := libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})))
	if own == 0 {
		return errors.New("SQLite cannot allocate memory for a VFS")
	}
	*memory[sqlite3.Tsqlite3_vfs](own) = *memory[sqlite3.Tsqlite3_vfs](base) // including pAppData, which the default VFS's functions use
	v := memory[sqlite3.Tsqlite3_vfs](own)
	v.FzName, v.FpNext = name, 0
	v.FszOsFile += int32(fileSize)
	v.FxOpen = pointer(open)
	baseVFS = base
	for _, shared := range []bool{false, true} {
		table := libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{})))
		if table == 0 {
			return errors.New("SQLite cannot allocate memory for a VFS")
		}
		*memory[sqlite3.Tsqlite3_io_methods](table) = methods(shared)
		if shared {
			methodsShared = table
		} else {
			methodsUnshared = table
		}
	}
	if rc := sqlite3.Xsqlite3_vfs_register(tls, own, 0); rc != sqlite3.SQLITE_OK {
		return errors.New("SQLite cannot register a VFS: " + sqlite3Error(rc))
	}
	return nil
})

// Set by register, and constant from then on.
var (
	baseVFS         uintptr // SQLite's default VFS
	methodsShared   uintptr // methods of files with the shared memory of a write-ahead log
	methodsUnshared uintptr // methods of files without, which are opened as immutable
)

func sqlite3Error(rc int32) string { return "result code " + strconv.Itoa(int(rc)) }

// file is a database file in SQLite's memory. The file of the default VFS follows it.
type file struct {
	methods  uintptr // must be the first
	db       uintptr // the connection, for the pragma
	pageSize int32   // 0 until the header has been read or written
	sums     int32   // 1 if pages have checksums
}

const fileSize = (unsafe.Sizeof(file{}) + 15) &^ 15

// memory returns a pointer into SQLite's memory, which is not Go's: no address of it moves or is collected.
func memory[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) } //nolint:gosec // see above

func bytesAt(p uintptr, n int32) []byte { return unsafe.Slice(memory[byte](p), n) } //nolint:gosec // see above

// base returns the file of the default VFS and its methods.
func base(p uintptr) (uintptr, *sqlite3.Tsqlite3_io_methods) {
	p += fileSize
	return p, memory[sqlite3.Tsqlite3_io_methods](*memory[uintptr](p))
}

// pointer returns the address of a function, as SQLite's translation to Go stores it in a table.
//
//nolint:gosec // as above
func pointer(f any) uintptr {
	type words [2]uintptr
	return (*words)(unsafe.Pointer(&f))[1]
}

// function returns the function of an address in a table.
//
//nolint:gosec // as above
func function[F any](p uintptr) F {
	return *(*F)(unsafe.Pointer(&struct{ p uintptr }{p}))
}

// The types of the methods.
type (
	plain   = func(tls *libc.TLS, f uintptr) int32
	withInt = func(tls *libc.TLS, f uintptr, n int32) int32
	withPtr = func(tls *libc.TLS, f, p uintptr) int32
	atPlace = func(tls *libc.TLS, f, p uintptr, n int32, at int64) int32
	shmMap  = func(tls *libc.TLS, f uintptr, region, size, extend int32, out uintptr) int32
	shmLock = func(tls *libc.TLS, f uintptr, offset, n, flags int32) int32
)

// open opens a file with the default VFS. A database becomes a file with checksums; journals, logs and temporary files
// stay as they are.
func open(tls *libc.TLS, _, name, f uintptr, flags int32, out uintptr) int32 {
	call := function[func(tls *libc.TLS, vfs, name, f uintptr, flags int32, out uintptr) int32](
		memory[sqlite3.Tsqlite3_vfs](baseVFS).FxOpen,
	)
	if flags&sqlite3.SQLITE_OPEN_MAIN_DB == 0 {
		return call(tls, baseVFS, name, f, flags, out)
	}
	*memory[file](f) = file{}
	rc := call(tls, baseVFS, name, f+fileSize, flags, out)
	if *memory[uintptr](f + fileSize) == 0 { // SQLite does not close it
		return rc
	}
	memory[file](f).methods = methodsUnshared
	if _, m := base(f); m.FxShmMap != 0 {
		memory[file](f).methods = methodsShared
	}
	return rc
}

// methods returns the table of a database's methods.
func methods(shared bool) sqlite3.Tsqlite3_io_methods {
	m := sqlite3.Tsqlite3_io_methods{
		FiVersion: 3,
		FxClose: pointer(func(tls *libc.TLS, f uintptr) int32 {
			f, m := base(f)
			return function[plain](m.FxClose)(tls, f)
		}),
		FxRead:  pointer(read),
		FxWrite: pointer(write),
		FxTruncate: pointer(func(tls *libc.TLS, f uintptr, size int64) int32 {
			f, m := base(f)
			return function[func(tls *libc.TLS, f uintptr, size int64) int32](m.FxTruncate)(tls, f, size)
		}),
		FxSync: pointer(func(tls *libc.TLS, f uintptr, flags int32) int32 {
			f, m := base(f)
			return function[withInt](m.FxSync)(tls, f, flags)
		}),
		FxFileSize: pointer(func(tls *libc.TLS, f, size uintptr) int32 {
			f, m := base(f)
			return function[withPtr](m.FxFileSize)(tls, f, size)
		}),
		FxLock: pointer(func(tls *libc.TLS, f uintptr, level int32) int32 {
			f, m := base(f)
			return function[withInt](m.FxLock)(tls, f, level)
		}),
		FxUnlock: pointer(func(tls *libc.TLS, f uintptr, level int32) int32 {
			f, m := base(f)
			return function[withInt](m.FxUnlock)(tls, f, level)
		}),
		FxCheckReservedLock: pointer(func(tls *libc.TLS, f, out uintptr) int32 {
			f, m := base(f)
			return function[withPtr](m.FxCheckReservedLock)(tls, f, out)
		}),
		FxFileControl: pointer(control),
		FxSectorSize: pointer(func(tls *libc.TLS, f uintptr) int32 {
			f, m := base(f)
			return function[plain](m.FxSectorSize)(tls, f)
		}),
		FxDeviceCharacteristics: pointer(func(tls *libc.TLS, f uintptr) int32 {
			f, m := base(f)
			return function[plain](m.FxDeviceCharacteristics)(tls, f) &^ sqlite3.SQLITE_IOCAP_SUBPAGE_READ
		}),
		// Pages are not mapped into memory, where reading them would verify nothing.
		FxFetch: pointer(func(_ *libc.TLS, _ uintptr, _ int64, _ int32, out uintptr) int32 {
			*memory[uintptr](out) = 0
			return sqlite3.SQLITE_OK
		}),
		FxUnfetch: pointer(func(*libc.TLS, uintptr, int64, uintptr) int32 { return sqlite3.SQLITE_OK }),
	}
	if !shared {
		return m
	}
	m.FxShmMap = pointer(func(tls *libc.TLS, f uintptr, region, size, extend int32, out uintptr) int32 {
		f, m := base(f)
		return function[shmMap](m.FxShmMap)(tls, f, region, size, extend, out)
	})
	m.FxShmLock = pointer(func(tls *libc.TLS, f uintptr, offset, n, flags int32) int32 {
		f, m := base(f)
		return function[shmLock](m.FxShmLock)(tls, f, offset, n, flags)
	})
	m.FxShmBarrier = pointer(func(tls *libc.TLS, f uintptr) {
		f, m := base(f)
		function[func(tls *libc.TLS, f uintptr)](m.FxShmBarrier)(tls, f)
	})
	m.FxShmUnmap = pointer(func(tls *libc.TLS, f uintptr, remove int32) int32 {
		f, m := base(f)
		return function[withInt](m.FxShmUnmap)(tls, f, remove)
	})
	return m
}

// notice takes the page size from a header. Once pages have checksums, they keep them: SQLite does not lower the number
// of reserved bytes.
func (f *file) notice(b []byte, at int64) {
	if at != 0 {
		return
	}
	if size, sums, ok := header(b); ok {
		f.pageSize = int32(size)
		if sums {
			f.sums = 1
		}
	}
}

// read reads from a database, and verifies what is a page. All else that SQLite reads is a part of the header.
func read(tls *libc.TLS, p, buffer uintptr, n int32, at int64) int32 {
	b, m := base(p)
	if rc := function[atPlace](m.FxRead)(tls, b, buffer, n, at); rc != sqlite3.SQLITE_OK {
		return rc
	}
	f, data := memory[file](p), bytesAt(buffer, n)
	f.notice(data, at)
	if f.sums != 0 && n == f.pageSize && !intact(data) {
		return Damaged
	}
	return sqlite3.SQLITE_OK
}

// write writes to a database, and sets the checksum of a page.
func write(tls *libc.TLS, p, buffer uintptr, n int32, at int64) int32 {
	f, data := memory[file](p), bytesAt(buffer, n)
	f.notice(data, at)
	if f.sums != 0 && n == f.pageSize {
		seal(data) // the reserved bytes are the VFS's, in SQLite's memory, too
	}
	b, m := base(p)
	return function[atPlace](m.FxWrite)(tls, b, buffer, n, at)
}

// pragma is the name of the pragma with which Reserve sets the number of reserved bytes.
const pragma = "checksum_reserve"

// control answers the pragma and forwards all else.
func control(tls *libc.TLS, p uintptr, op int32, arg uintptr) int32 {
	f := memory[file](p)
	switch {
	case op == sqlite3.SQLITE_FCNTL_PDB:
		f.db = *memory[uintptr](arg)
	case op == sqlite3.SQLITE_FCNTL_PRAGMA && f.db != 0:
		words := memory[[3]uintptr](arg)[:] // the result, the pragma's name, and its argument
		if libc.GoString(words[1]) == pragma {
			return reserveBytes(tls, f.db, words[2])
		}
	}
	b, m := base(p)
	return function[func(tls *libc.TLS, f uintptr, op int32, arg uintptr) int32](m.FxFileControl)(tls, b, op, arg)
}

// reserveBytes sets the number of bytes that a new database reserves in each page.
func reserveBytes(tls *libc.TLS, db, text uintptr) int32 {
	if text == 0 {
		return sqlite3.SQLITE_ERROR
	}
	want, err := strconv.ParseUint(libc.GoString(text), 10, 8)
	if err != nil {
		return sqlite3.SQLITE_ERROR
	}
	n := tls.Alloc(8)
	defer tls.Free(8)
	*memory[int32](n) = int32(want)
	return sqlite3.Xsqlite3_file_control(tls, db, 0, sqlite3.SQLITE_FCNTL_RESERVE_BYTES, n)
}
