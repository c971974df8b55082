package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"time"

	"stepback/csvimport"
	"stepback/internal/checksumvfs"
	"stepback/retry"
)

// maxNamed is the number of damaged pages that an error names.
const maxNamed = 10

// Check compares each page of a database and of its write-ahead log with its checksum, and lets SQLite check the
// structure. It changes nothing. A database that does not exist is no error. One of a version that kept no checksums
// gets them when it is opened; until then, a changed byte within a value is not found.
func Check(ctx context.Context, path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := checksumvfs.Register(); err != nil {
		return failure("open "+path, err)
	}
	if err := checksumvfs.CheckLog(path); err != nil {
		return damagedLog(err)
	}
	pages, _, err := checksumvfs.CheckPages(ctx, path, maxNamed+1)
	if err != nil {
		return err
	}
	if len(pages) > 0 {
		return damaged(path, namePages(pages))
	}
	mode := "mode=ro"
	if _, err := os.Stat(path + "-wal"); errors.Is(err, fs.ErrNotExist) { // closed: no file is created beside it
		mode += "&immutable=1"
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?vfs="+checksumvfs.Name+"&"+mode)
	if err != nil {
		return failure("open "+path, err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	verdict, current := "", 0
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict); err != nil {
		return damaged(path, err.Error())
	}
	if verdict != "ok" {
		return damaged(path, verdict)
	}
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&current); err != nil {
		return damaged(path, err.Error())
	}
	if current < withChecksums {
		return nil
	}
	return requireChecksums(ctx, db, path)
}

// namePages names damaged pages and their tables.
func namePages(pages []checksumvfs.Page) string {
	var names []string
	for _, p := range pages[:min(len(pages), maxNamed)] {
		name := fmt.Sprintf("page %d", p.Number)
		if p.Table != "" {
			name += " of " + p.Table
		}
		names = append(names, name)
	}
	if len(pages) > maxNamed {
		names = append(names, "and more")
	}
	return strings.Join(names, ", ") + " (not the checksum with which it was written)"
}

func damaged(path, why string) error {
	return csvimport.Fail(retry.StorageError, "the database %s is damaged: %s; restore it from a backup", path, why)
}

// RepairLog cuts a damaged write-ahead log after its last intact transaction, which SQLite would do silently. The log
// is copied before. It returns what was lost, and where the copy is; nil if the log is intact or missing.
func RepairLog(path string, now time.Time) (lost error, err error) {
	var damage *checksumvfs.DamagedLogError
	if err := checksumvfs.CheckLog(path); !errors.As(err, &damage) {
		return nil, err
	}
	log, err := os.OpenFile(damage.Path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	aside := damage.Path + ".damaged-" + now.UTC().Format("20060102T150405.000000Z")
	to, err := os.OpenFile(aside, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(to, log)
	if err = errors.Join(err, to.Sync(), to.Close()); err == nil {
		err = errors.Join(log.Truncate(damage.Valid), log.Sync())
	}
	if err != nil {
		return nil, err
	}
	return fmt.Errorf("%w; they were dropped, the log as it was is in %s", damage, aside), nil
}
