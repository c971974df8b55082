package pebble

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"stepback/engine/journal"
	"stepback/internal/ownerfs"
	"stepback/internal/pebblestore"
)

// Repaired reports what Repair has saved and what it has not.
type Repaired struct {
	// Records is the number of records read and kept. Executions counts the executions that are complete.
	Records, Executions int
	// Dropped counts executions and Map Runs of which a part could not be read. Unreadable counts the places where
	// the store could not be read.
	Dropped, Unreadable int
	// Aside is the new path of the damaged directory.
	Aside string
}

// Repair builds a new store from the intact data of the store in dir, which no other process may have open, and
// replaces the old one with it; the damaged store is moved aside unchanged. It calls tell for each thing that it
// cannot save. A store of an earlier or a newer format, or of another program, is not repaired: Repair returns an error
// and changes nothing.
func Repair(ctx context.Context, dir string, tell func(error)) (found Repaired, err error) {
	o := Config{FS: ownerfs.System, Retention: -1}
	cache := pebble.NewCache(cacheBytes)
	defer cache.Unref()
	j := &Journal{dir: dir, space: spaceOf(&o)}
	r := &repair{tell: tell, found: &found}
	keep := func(key []byte) bool { return !derived(key) }
	saved, err := pebblestore.Repair(ctx, j.storeConfig(&o, cache), keep, func(fresh *pebblestore.Store) error {
		r.fresh = &Journal{view: view{fresh}, db: fresh, dir: dir}
		return r.complete(ctx)
	}, tell)
	found.Records, found.Unreadable, found.Aside = saved.Records-r.formats, saved.Unreadable, saved.Aside
	if err != nil {
		err = openError(dir, false, err)
	}
	return found, err
}

// Salvage calls use with a read-only journal that has the intact data of the store in dir, which no other process may
// have open, and tell for each thing that cannot be read. Nothing in dir is changed. If there is no store, use is not
// called.
func Salvage(ctx context.Context, dir string, use func(*Journal) error, tell func(error)) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	temp, err := os.MkdirTemp("", "stepback-salvage-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	o := Config{FS: ownerfs.System, Retention: -1}
	cache := pebble.NewCache(cacheBytes)
	defer cache.Unref()
	from, to := &Journal{dir: dir, space: spaceOf(&o)}, &Journal{dir: filepath.Join(temp, "journal"), space: spaceOf(&o)}
	config := to.storeConfig(&o, cache)
	config.Inspect = nil
	db, err := pebblestore.Open(config)
	if err != nil {
		return err
	}
	_, err = pebblestore.CopyReadable(ctx, from.storeConfig(&o, cache), db,
		func(key []byte) bool { return !derived(key) }, tell)
	if err == nil {
		to.db = db
		err = (&repair{fresh: to, tell: tell, found: &Repaired{}}).complete(ctx)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	j, err := Open(to.dir, Config{ReadOnly: true, MustExist: true})
	if err != nil {
		return err
	}
	return errors.Join(use(j), j.Close())
}

type repair struct {
	fresh *Journal
	tell  func(error)
	found *Repaired
	// formats is the number of records with a format version, which are none of the user's.
	formats int
}

// complete completes the new store, which has all readable records.
func (r *repair) complete(ctx context.Context) error {
	v, err := r.fresh.version()
	if err != nil && !r.fresh.hasExecutions() {
		return err // not a journal; in a journal, the record with the format may be unreadable
	}
	if err == nil && v < withoutIndexes && v != 0 {
		return r.fresh.withDir(fmt.Errorf("its format, %d, cannot be repaired", v))
	}
	if err == nil && v != 0 {
		r.formats = 1
	}
	if err := r.dropHalves(ctx); err != nil {
		return err
	}
	// the index and the ends are derived from the rest; the resulting store has the current format
	return errors.Join(r.fresh.rebuildIndex(), r.fresh.rebuildEnds())
}

// hasExecutions reports whether the store has executions or documents.
func (j *Journal) hasExecutions() bool {
	for _, prefix := range [...]string{executionPrefix, documentPrefix} {
		for it, err := range j.walk(prefix) {
			return it != nil && err == nil
		}
	}
	return false
}

// derived reports whether a key can be rebuilt from other stored keys.
func derived(key []byte) bool {
	return strings.HasPrefix(string(key), indexPrefix) || strings.HasPrefix(string(key), endPrefix) ||
		string(key) == indexedKey || string(key) == groupsKey
}

// dropHalves removes incomplete executions and entries that belong to none.
func (r *repair) dropHalves(ctx context.Context) error {
	b := r.fresh.db.NewBatch()
	defer b.Close()
	whole := map[string]bool{}
	c := &checker{j: r.fresh, ctx: ctx, tell: r.tell}
	for it, err := range r.fresh.scan(ctx, executionPrefix) {
		if err != nil {
			return err
		}
		arn := string(it.Key()[len(executionPrefix):])
		if why := c.execution(arn, it.Value()); why != nil {
			r.drop(why)
			continue
		}
		r.found.Executions++
		whole[arn] = true
	}
	for it, err := range r.fresh.scan(ctx, "") {
		if err != nil {
			return err
		}
		key := string(it.Key())
		keep := true
		switch prefix, name, _ := strings.Cut(key, "/"); prefix + "/" {
		case executionPrefix, textsPrefix, historyPrefix, eventsPrefix:
			keep = whole[name]
		case stepPrefix:
			arn, ok := stepOf(it.Key())
			keep = ok && whole[arn]
		case mapRunPrefix:
			m, err := unpack(it.Value(), key, journal.DecodeMapRun)
			if keep = err == nil && whole[m.Execution]; !keep {
				r.drop(fmt.Errorf("the Map Run %s, or its execution, is damaged", name))
			}
		case definitionPrefix:
			_, err := unpack(it.Value(), key, func(raw []byte) (*journal.Definition, error) {
				return journal.DecodeDefinition(name, raw)
			})
			if keep = err == nil; !keep {
				r.drop(err)
			}
		}
		if !keep {
			if err := b.Delete(it.Key(), nil); err != nil {
				return err
			}
		}
	}
	return r.fresh.commitNow(b)
}

func (r *repair) drop(why error) {
	r.found.Dropped++
	r.tell(why)
}

// rebuildEnds rebuilds the list of ends used for retention and drops references to missing Map Runs.
func (j *Journal) rebuildEnds() error {
	b := j.db.NewBatch()
	defer b.Close()
	e := &encoder{}
	for it, err := range j.walk(executionPrefix) {
		if err != nil {
			return err
		}
		x, err := unpack(it.Value(), string(it.Key()), decodeListed)
		if err != nil {
			return err
		}
		if x.Ended() {
			e.reset()
			e.addEnd(x)
			if err := e.fill(b); err != nil {
				return err
			}
		}
	}
	for it, err := range j.walk(ofPrefix) {
		if err != nil {
			return err
		}
		_, arn, _ := strings.Cut(string(it.Key()), "\x00")
		if _, err := read(j.view, mapRunPrefix, arn, journal.DecodeMapRun); errors.Is(err, journal.ErrNotFound) {
			if err := b.Delete(it.Key(), nil); err != nil {
				return err
			}
		}
	}
	return j.commitNow(b)
}
