package pebble

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/engine/journal"
	"stepback/internal/pebbleguard"
)

// Repaired says what Repair has saved and what not.
type Repaired struct {
	// Records were read and kept, Executions are those of them with everything that belongs to them.
	Records, Executions int
	// Dropped counts executions and Map Runs of which a part could not be read, Unreadable the places where the store
	// could not be read.
	Dropped, Unreadable int
	// Aside is where the damaged directory is now.
	Aside string
}

// Repair makes a new store of what is whole in the one in a directory, which nobody else may have open, and puts it in
// its place; the damaged one is moved aside and stays as it is. It tells of each thing that is not saved. A store whose
// manifest or format cannot be read is not repaired: the error is that of opening it, and nothing has changed.
func Repair(ctx context.Context, dir string, tell func(error)) (found Repaired, err error) {
	o := Config{FS: vfs.Default, Retention: -1}
	cache := pebble.NewCache(cacheBytes)
	defer cache.Unref()
	old := &Journal{dir: dir, space: newSpace(dir, &o)}
	reading := o
	reading.ReadOnly = true
	if old.db, err = openStore(dir, old.options(&reading, cache)); err != nil {
		return found, openError(dir, true, err)
	}
	defer func() { err = errors.Join(err, old.closeRead()) }()
	if v, err := old.version(); err != nil || v < withoutIndexes {
		return found, errors.Join(err, old.named(fmt.Errorf("its format, %d, cannot be repaired", v)))
	}
	fresh := dir + ".repaired"
	if err := os.RemoveAll(fresh); err != nil {
		return found, err
	}
	r := &repair{old: old, tell: tell, found: &found}
	if err := r.into(ctx, fresh, o, cache); err != nil {
		return found, errors.Join(err, os.RemoveAll(fresh))
	}
	found.Aside = dir + time.Now().UTC().Format(".damaged-20060102T150405.000000Z")
	if err := os.Rename(dir, found.Aside); err != nil {
		return found, err
	}
	return found, os.Rename(fresh, dir)
}

// closeRead closes a store that was only read; what is damaged in it has been told.
func (j *Journal) closeRead() error {
	if err := j.db.Close(); err != nil && !pebble.IsCorruptionError(err) {
		return err
	}
	return nil
}

type repair struct {
	old   *Journal
	fresh *Journal
	tell  func(error)
	found *Repaired
	arns  []string // of executions of which something was read, in order
}

// into writes what is whole into a new store and makes it complete.
func (r *repair) into(ctx context.Context, dir string, o Config, cache *pebble.Cache) error {
	r.fresh = &Journal{dir: dir, space: newSpace(dir, &o)}
	db, err := openStore(dir, r.fresh.options(&o, cache))
	if err != nil {
		return openError(dir, false, err)
	}
	r.fresh.db = db
	if err := r.copyAll(ctx); err != nil {
		return errors.Join(err, db.Close())
	}
	if err := r.dropHalves(ctx); err != nil {
		return errors.Join(err, db.Close())
	}
	// the index and the ends follow from the rest, and the store that is made so is one of this format
	return errors.Join(r.fresh.rebuildIndex(), r.fresh.rebuildEnds(), db.Flush(), db.Close())
}

// derived reports whether a key follows from others, which are kept.
func derived(key []byte) bool {
	for _, prefix := range [...]string{indexPrefix, endPrefix} {
		if bytes.HasPrefix(key, []byte(prefix)) {
			return true
		}
	}
	return string(key) == indexedKey || string(key) == groupsKey || string(key) == versionKey
}

// copyAll copies every key that can be read.
func (r *repair) copyAll(ctx context.Context) error {
	b := r.fresh.db.NewBatch()
	defer func() { _ = b.Close() }()
	keep := func(key, value []byte) error {
		if derived(key) {
			return ctx.Err()
		}
		r.found.Records++
		if name, ok := bytes.CutPrefix(key, []byte(historyPrefix)); ok {
			r.arns = append(r.arns, string(name))
		}
		if err := b.Set(key, value, nil); err != nil {
			return err
		}
		if b.Len() < groupBytes {
			return nil
		}
		if err := b.Commit(pebble.NoSync); err != nil {
			return err
		}
		b.Reset()
		return ctx.Err()
	}
	var last []byte
	for {
		bad, err := r.readFrom(&last, keep)
		if err != nil {
			return err
		}
		if bad == nil {
			return b.Commit(pebble.Sync)
		}
		r.found.Unreadable++
		r.tell(fmt.Errorf("what is kept behind the key %q cannot be read: %w", last, firstLine(bad)))
		if !r.skip(&last, keep) {
			return b.Commit(pebble.Sync)
		}
	}
}

// readFrom reads the keys behind the last one, and returns why it could not go on.
func (r *repair) readFrom(last *[]byte, keep func(key, value []byte) error) (bad, err error) {
	it, err := r.old.db.NewIter(&pebble.IterOptions{LowerBound: append(slices.Clone(*last), 0)})
	if err != nil {
		return err, nil
	}
	defer it.Close()
	for it.First(); it.Valid(); it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return err, nil
		}
		if err := keep(it.Key(), value); err != nil {
			return nil, err
		}
		*last = append((*last)[:0], it.Key()...)
	}
	return it.Error(), nil
}

// skip goes on behind a part that cannot be read: at the nearest key that can be found, and back from there as far as
// can be read. It reports false when there is nothing more.
func (r *repair) skip(last *[]byte, keep func(key, value []byte) error) bool {
	for next := range r.candidates(*last) {
		it, err := r.old.db.NewIter(nil)
		if err != nil {
			return false
		}
		if !it.SeekGE(next) {
			ended := it.Error() == nil
			_ = it.Close() // told already
			if ended {
				return false
			}
			continue
		}
		to := slices.Clone(it.Key())
		for it.Prev(); it.Valid() && bytes.Compare(it.Key(), *last) > 0; it.Prev() {
			value, err := it.ValueAndErr()
			if err != nil || keep(it.Key(), value) != nil {
				break
			}
		}
		_ = it.Close() // told already
		// the key that was found is read anew, as the first one behind this
		*last = justBefore(to)
		return true
	}
	return false
}

// candidates are keys behind the last one that was read, from which reading may go on: those that the last one counts
// up to, and those that executions have of which something else was read.
func (r *repair) candidates(last []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for n := len(last); n > 1; n-- {
			if next := after(last[:n]); next != nil && !yield(next) {
				return
			}
		}
		for _, prefix := range [...]string{
			definitionPrefix, ofPrefix, mapRunPrefix, stepPrefix, endPrefix, executionPrefix,
		} {
			if prefix > string(last) && !yield([]byte(prefix)) {
				return
			}
			for _, arn := range r.arns {
				if next := prefix + arn; next > string(last) && !yield([]byte(next)) {
					return
				}
			}
		}
	}
}

// justBefore is a key before which everything else is that comes before another.
func justBefore(key []byte) []byte {
	before := slices.Clone(key[:len(key)-1])
	if c := key[len(key)-1]; c > 0 {
		before = append(before, c-1)
		before = append(before, bytes.Repeat([]byte{0xFF}, 64)...)
	}
	return before
}

// dropHalves removes executions of which something is missing, and what belongs to none.
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
		case executionPrefix, historyPrefix, eventsPrefix:
			keep = whole[name]
		case stepPrefix:
			arn, ok := stepOf(it.Key())
			keep = ok && whole[arn]
		case mapRunPrefix:
			m, err := unpack(it.Value(), key, journal.DecodeMapRun)
			if keep = err == nil && whole[m.Execution]; !keep {
				r.drop(fmt.Errorf("the Map Run %s, or the execution that it belongs to, is not whole", name))
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
	return b.Commit(pebble.Sync)
}

func (r *repair) drop(why error) {
	r.found.Dropped++
	r.tell(why)
}

// rebuildEnds lists the ends of executions anew, for retention, and drops references to Map Runs that are gone.
func (j *Journal) rebuildEnds() error {
	b := j.db.NewBatch()
	defer b.Close()
	e := &encoder{}
	for it, err := range j.walk(executionPrefix) {
		if err != nil {
			return err
		}
		x, err := unpack(it.Value(), string(it.Key()), journal.DecodeListed)
		if err != nil {
			return err
		}
		if x.Ended() {
			e.reset()
			e.ended(x)
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
		if _, err := read(j, mapRunPrefix, arn, journal.DecodeMapRun); errors.Is(err, journal.ErrNotFound) {
			if err := b.Delete(it.Key(), nil); err != nil {
				return err
			}
		}
	}
	return pebbleguard.Call(func() error { return b.Commit(pebble.Sync) })
}
