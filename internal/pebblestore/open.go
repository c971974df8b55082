package pebblestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/atomicfs"

	"stepback/internal/pebbleguard"
)

// Config configures a store. Dir, FS and Options are required.
type Config struct {
	Dir string
	// FS is the file system on which damage is looked for, and on which the anchor is written.
	FS vfs.FS
	// Options returns the options for opening Pebble's store, which may use another FS. It is called for each opening;
	// Open sets ReadOnly and the EventListener.
	Options func(readOnly bool) *pebble.Options
	// ReadOnly opens an existing store for reading and changes nothing.
	ReadOnly bool
	// Inspect, if not nil, is called with the store opened for reading, before it is opened for writing; an error
	// refuses the store. tables is true if the directory has tables.
	Inspect func(db *pebble.DB, tables bool) error
}

// Store is an open store.
type Store struct {
	*pebble.DB
	fs     vfs.FS
	dir    string
	anchor *anchor // nil if the store is read-only
	lost   []*LostTail
}

// Open opens or creates a store. A damaged store is refused and left unchanged; the error names the file. A store that
// has lost the end of its log is opened: see LostTails.
//
//nolint:contextcheck,nolintlint // what opens a store is not cancelled half-way
func Open(c Config) (*Store, error) {
	found, err := inspect(c)
	if err != nil {
		return nil, err
	}
	if !found.exists {
		return open(c, found)
	}
	looks := c
	looks.ReadOnly = true
	reading, err := open(looks, found)
	if err != nil {
		return nil, err
	}
	err = found.compare(reading.DB)
	if err == nil && c.Inspect != nil {
		err = c.Inspect(reading.DB, found.tables)
	}
	if c.ReadOnly && err == nil {
		return reading, nil
	}
	if err == nil { // before Pebble flushes and compacts
		err = verifyTables(context.Background(), c.FS, c.Dir, reading.DB, verifiedBytes,
			func(err error) error { return err })
	}
	if err = errors.Join(err, closeRead(reading.DB)); err != nil {
		return nil, err
	}
	return open(c, found)
}

// closeRead closes a store that was only read. Damage in it has been reported already.
func closeRead(db *pebble.DB) error {
	if err := db.Close(); err != nil && !pebble.IsCorruptionError(err) {
		return err
	}
	return nil
}

// state is the state of a directory before it is opened.
type state struct {
	exists    bool // Pebble finds a store in it
	tables    bool // it has files of tables
	names     []string
	recovered uint64 // number of the newest change
	anchored  bool   // it has an anchor
	newest    slot
	problem   error // why the anchor cannot be read
	losses    []*LostTail
	lost      *LostTail // a loss that is not among losses yet
}

// inspect reads a directory without opening the store. It refuses one that Pebble would take for a new or an empty
// store, removing the files in it: one without the marker of its manifest, or one whose manifest no longer lists the
// tables.
func inspect(c Config) (s state, err error) {
	if s.names, err = c.FS.List(c.Dir); err != nil {
		return s, nil //nolint:nilerr // a directory that does not exist yet, or one that Pebble says more about
	}
	s.tables = holds(s.names, ".sst")
	there, err := pebble.Peek(c.Dir, c.FS)
	switch {
	case err != nil:
		return s, firstLine(err)
	case !there.Exists && (s.tables || holds(s.names, ".log")):
		return s, errors.New("there are tables or logs, but the marker.manifest file that names their MANIFEST is missing;" +
			" restore a backup of the directory")
	case !there.Exists && slices.Contains(s.names, AnchorFile):
		return s, errors.New("there is an anchor, but no tables, logs or marker.manifest: the store's files were removed;" +
			" restore a backup of the directory")
	case !there.Exists:
		return s, nil
	}
	s.exists = true
	if s.recovered, err = recovered(c.FS, c.Dir, there.ManifestFilename); err != nil {
		return s, err
	}
	s.newest, s.anchored, err = readAnchor(c.FS, c.Dir)
	if errors.Is(err, errAnchor) {
		s.problem, err = err, nil
	}
	if err == nil {
		s.losses, err = readLosses(c.FS, c.Dir)
	}
	if s.recovered < s.newest.change {
		s.lost = &LostTail{Seen: time.Now(), Changes: s.newest.change - s.recovered}
	}
	return s, err
}

// compare refuses a store whose MANIFEST has lost entries: one that has lost changes while the directory has tables
// that the MANIFEST does not list, and one without an anchor that has tables and no data.
func (s *state) compare(db *pebble.DB) error {
	if !s.tables || s.anchored && s.lost == nil {
		return nil
	}
	listed, err := tableNames(db)
	if err != nil {
		return err
	}
	if !s.anchored && len(listed) > 0 {
		return nil
	}
	for _, name := range s.names {
		if filepath.Ext(name) != ".sst" || slices.Contains(listed, name) {
			continue
		}
		if s.lost != nil {
			return fmt.Errorf("its MANIFEST is truncated or older than its tables: it does not list %s; nothing was changed: "+
				"restore a backup of the directory; %w", name, s.lost)
		}
		if s.recovered <= firstSequence {
			return fmt.Errorf("its MANIFEST is truncated and lists none of its tables, such as %s; nothing was changed:"+
				" restore a backup of the directory", name)
		}
	}
	return nil
}

// holds reports whether any of the files has the extension.
func holds(names []string, extension string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return filepath.Ext(name) == extension })
}

// open opens an inspected store.
func open(c Config, found state) (*Store, error) {
	o := c.Options(c.ReadOnly)
	if !found.exists && !c.ReadOnly && !o.ErrorIfNotExists {
		if err := prepare(c.Dir, o); err != nil {
			return nil, firstLine(err)
		}
	}
	db, err := openPebble(c.Dir, o, c.ReadOnly)
	if err != nil {
		return nil, err
	}
	s := &Store{DB: db, fs: c.FS, dir: c.Dir, lost: found.losses}
	if found.problem != nil { // it is written anew
		s.lost = append(s.lost, &LostTail{Seen: time.Now(), Anchor: true})
	}
	if found.lost != nil {
		s.lost = append(s.lost, found.lost)
	}
	if c.ReadOnly {
		return s, nil
	}
	if len(s.lost) > len(found.losses) {
		err = writeLosses(c.FS, c.Dir, s.lost)
	}
	if err == nil {
		s.anchor, err = openAnchor(c.FS, c.Dir, found.newest, found.recovered)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// prepare marks a new store with the format that it will have. Otherwise Pebble creates it in its oldest format and
// upgrades it in ten steps, each of which creates a marker and waits for the disk.
func prepare(dir string, o *pebble.Options) error {
	if err := createDir(o.FS, dir); err != nil {
		return err
	}
	m, value, err := atomicfs.LocateMarker(o.FS, dir, "format-version")
	if err != nil {
		return err
	}
	if value == "" {
		err = pebbleguard.Call(func() error { return m.Move(o.FormatMajorVersion.String()) })
	}
	return errors.Join(err, m.Close())
}

// createDir creates a directory with its missing parents, and waits until their entries are on the disk.
func createDir(system vfs.FS, dir string) error {
	if _, err := system.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := system.PathDir(dir)
	if err := createDir(system, parent); err != nil {
		return err
	}
	if err := system.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return syncDir(system, parent)
}

// openPebble opens Pebble's store.
func openPebble(dir string, o *pebble.Options, readOnly bool) (*pebble.DB, error) {
	o.ReadOnly = readOnly
	if readOnly {
		o.FS = readOnlyFS{o.FS}
	}
	db, err := pebbleguard.Open(dir, o)
	return db, firstLine(err)
}

// Synced notes that a committed batch is on the disk. Call it after the batch was synced and before its changes are
// acknowledged.
func (s *Store) Synced(b *pebble.Batch) {
	if s.anchor != nil && b.SeqNum() > 0 {
		s.anchor.reached(uint64(b.SeqNum()) + uint64(b.Count()) - 1)
	}
}

// LostTails returns the losses at the end of the log that the anchor has revealed, oldest first. They are reported
// until Acknowledge.
func (s *Store) LostTails() []*LostTail { return s.lost }

// AddLosses adds losses that were found in another way to the list. A read-only store has them until it is closed.
func (s *Store) AddLosses(found ...*LostTail) error {
	if len(found) == 0 {
		return nil
	}
	s.lost = append(s.lost, found...)
	if s.anchor == nil {
		return nil
	}
	return writeLosses(s.fs, s.dir, s.lost)
}

// Close closes the store.
func (s *Store) Close() error {
	err := pebbleguard.Call(s.DB.Close)
	if s.anchor != nil {
		err = errors.Join(err, s.anchor.file.Close())
	}
	return err
}
