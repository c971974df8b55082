package pebblestore

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// verifiedBytes is the amount of table data verified when a store is opened, newest first. Check reads the rest.
const verifiedBytes = 1 << 30

// verifyTables compares tables with their checksums, so that a store with a damaged table is refused at startup and
// not when that data is first read. Tables that the store does not name are skipped: a crash or a full disk leaves
// halves of them. limit is the number of bytes to read, newest tables first. problem receives each damaged table and
// may return an error, which ends the verification.
func verifyTables(ctx context.Context, fs vfs.FS, dir string, db *pebble.DB, limit int64, problem func(error) error) error {
	names, err := tableNames(db)
	if err != nil {
		return err
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		info, err := fs.Stat(path)
		if err == nil {
			if limit -= info.Size(); limit < 0 {
				break
			}
			err = verifyTable(fs, path)
		}
		if errors.Is(err, iofs.ErrNotExist) {
			if now, e := tableNames(db); e == nil && !slices.Contains(now, name) {
				continue // compacted away in the meantime
			}
		}
		if err != nil {
			if err := problem(fmt.Errorf("%s is damaged: %w", name, firstLine(err))); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// tableNames returns the file names of a store's tables, newest first.
func tableNames(db *pebble.DB) ([]string, error) {
	levels, err := db.SSTables()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, level := range levels {
		for i := range level {
			names = append(names, fmt.Sprintf("%06d.sst", uint64(level[i].BackingSSTNum)))
		}
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(b, a) })
	return slices.Compact(names), nil
}

// verifyTable reads all blocks of a table.
//
//nolint:contextcheck,nolintlint // a table is read to its end: what opens a store is not cancelled half-way
func verifyTable(fs vfs.FS, path string) (err error) {
	f, err := fs.Open(path)
	if err != nil {
		return err
	}
	readable, err := sstable.NewSimpleReadable(f)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	r, err := sstable.NewReader(context.Background(), readable, sstable.ReaderOptions{})
	if err != nil {
		return errors.Join(err, readable.Close())
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return r.ValidateBlockChecksums()
}

// firstLine returns an error without the lines that Pebble adds for its own developers.
func firstLine(err error) error {
	if err == nil {
		return nil
	}
	first, _, cut := strings.Cut(err.Error(), "\n")
	if !cut {
		return err
	}
	return shortened{first, err}
}

type shortened struct {
	text  string
	whole error
}

func (s shortened) Error() string { return s.text }
func (s shortened) Unwrap() error { return s.whole }
