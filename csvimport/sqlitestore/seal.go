package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"net/url"
	"os"

	"stepback/csvimport"
	"stepback/internal/atomicfile"
	"stepback/retry"
)

// sealSuffix is the suffix of the file beside a closed database that holds the database's size and checksum. SQLite itself
// has no checksums: a changed byte in a counter would be read as another number. While the database is open, and after a
// crash, there is no such file.
const sealSuffix = "-sum"

type seal struct {
	Size int64  `json:"size"`
	Sum  uint32 `json:"crc32c"`
}

// sealOf returns the size and the checksum of a file.
func sealOf(path string) (s seal, err error) {
	f, err := os.Open(path)
	if err != nil {
		return s, err
	}
	defer f.Close()
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	s.Size, err = io.CopyBuffer(struct{ io.Writer }{sum}, f, make([]byte, 1<<20))
	s.Sum = sum.Sum32()
	return s, err
}

// inUse reports whether another process has the database open, or a crash has left changes outside it.
func inUse(path string) bool {
	_, err := os.Stat(path + "-wal")
	return err == nil
}

// writeSeal writes the seal of a database that has just been closed, unless another process uses it.
func writeSeal(path string) error {
	if inUse(path) {
		return nil
	}
	s, err := sealOf(path)
	if err != nil {
		return err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return atomicfile.Write(path+sealSuffix, text, 0o600)
}

// checkSeal compares a database with its seal, if it has one.
func checkSeal(path string) error {
	text, err := os.ReadFile(path + sealSuffix)
	if errors.Is(err, fs.ErrNotExist) || inUse(path) {
		return nil
	}
	var want seal
	if err == nil {
		err = json.Unmarshal(text, &want)
	}
	if err != nil {
		return damaged(path+sealSuffix, err.Error())
	}
	found, err := sealOf(path)
	if _, e := os.Stat(path + sealSuffix); errors.Is(e, fs.ErrNotExist) || inUse(path) {
		return nil // opened by another process in the meantime
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return damaged(path, "it is missing")
	case err != nil:
		return err
	case found != want:
		return damaged(path, fmt.Sprintf("it has changed since it was closed: it has %d bytes with the checksum %08x, and had %d with %08x",
			found.Size, found.Sum, want.Size, want.Sum))
	}
	return nil
}

func damaged(path, why string) error {
	return csvimport.Fail(retry.StorageError, "the database %s is damaged: %s; restore it from a backup, or accept its content with "+
		"stepback data repair", path, why)
}

// removeSeal removes the seal of a database that is about to be changed.
func removeSeal(path string) error {
	if err := os.Remove(path + sealSuffix); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Check compares a closed database with its checksum and lets SQLite check its structure. It changes nothing. A database
// that does not exist, and should not, is no error.
func Check(ctx context.Context, path string) error {
	if err := checkSeal(path); err != nil {
		return err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	mode := "mode=ro"
	if !inUse(path) {
		mode += "&immutable=1"
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+mode)
	if err != nil {
		return failure("open "+path, err)
	}
	defer db.Close()
	verdict := ""
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict); err != nil {
		return damaged(path, err.Error())
	}
	if verdict != "ok" {
		return damaged(path, verdict)
	}
	return nil
}

// Accept accepts the content of a database that has changed since it was closed.
func Accept(path string) error { return removeSeal(path) }
