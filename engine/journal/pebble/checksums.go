package pebble

import (
	"context"
	"errors"
	"fmt"
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
// halves of them.
func verifyTables(fs vfs.FS, dir string, db *pebble.DB) error {
	levels, err := db.SSTables()
	if err != nil {
		return err
	}
	var names []string
	for _, level := range levels {
		for i := range level {
			names = append(names, fmt.Sprintf("%06d.sst", uint64(level[i].BackingSSTNum)))
		}
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(b, a) })
	names = slices.Compact(names)
	left := int64(verifiedBytes)
	for _, name := range names {
		path := filepath.Join(dir, name)
		info, err := fs.Stat(path)
		if err != nil {
			continue // opening the store reports it in more detail
		}
		if left -= info.Size(); left < 0 {
			break
		}
		if err := verifyTable(fs, path); err != nil {
			return fmt.Errorf("%s is damaged: %w", name, firstLineError(err))
		}
	}
	return nil
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

// firstLineError cuts the lines that Pebble adds for its own developers.
func firstLineError(err error) error {
	first, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(first)
}
