package pebble

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"stepback/internal/pebbleguard"
)

// checkComplete refuses a directory with data that Pebble would take for a new or an empty store, removing the files
// in it: one without the marker of its manifest, or one whose manifest no longer lists the tables. It changes
// nothing.
func (j *Journal) checkComplete(o Config, cache *pebble.Cache) error {
	names, err := o.FS.List(j.dir)
	if err != nil {
		return nil //nolint:nilerr // a directory that is not there yet, or one that Pebble says more about
	}
	there, err := pebble.Peek(j.dir, o.FS)
	switch {
	case err != nil:
		return nil //nolint:nilerr // opening it says more
	case !there.Exists && (holds(names, ".sst") || holds(names, ".log")):
		return openError(j.dir, o.ReadOnly,
			errors.New("there are tables or logs, but the marker.manifest file that names their MANIFEST is missing"))
	case !there.Exists:
		return nil
	}
	if err := checkManifest(o.FS, j.dir, there.ManifestFilename); err != nil {
		return openError(j.dir, o.ReadOnly, err)
	}
	return j.openReadOnly(o, cache, holds(names, ".sst"))
}

// openReadOnly opens the store read-only, so that a refused store stays unchanged.
func (j *Journal) openReadOnly(o Config, cache *pebble.Cache, tables bool) error {
	looks := o
	looks.ReadOnly = true
	db, err := pebbleguard.Open(j.dir, j.options(&looks, cache))
	if err != nil {
		return openError(j.dir, o.ReadOnly, err)
	}
	looking := Journal{dir: j.dir, db: db}
	found, err := looking.version()
	if err == nil && found == 0 && tables {
		err = errors.New("its MANIFEST is truncated and lists none of its tables; nothing was changed: restore a backup of the directory")
	}
	return errors.Join(looking.withDir(err), db.Close())
}

// holds reports whether any of the files has the extension.
func holds(names []string, extension string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return filepath.Ext(name) == extension })
}

// withDir adds the journal's directory to an error.
func (j *Journal) withDir(err error) error {
	if err != nil {
		err = fmt.Errorf("journal in %s: %w", j.dir, damaged(err))
	}
	return err
}
