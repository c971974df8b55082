package pebble

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"iter"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/klauspost/compress/s2"

	"stepback/engine/history"
	"stepback/engine/internal/startorder"
	"stepback/engine/journal"
)

// Listed implements journal.Lists. A read-only store without an index is scanned completely.
func (j *Journal) Listed(ctx context.Context, l *journal.List) iter.Seq2[*journal.Execution, error] {
	if !j.indexed {
		return l.Collect(j.Executions(ctx, ""))
	}
	return func(yield func(*journal.Execution, error) bool) {
		w, err := j.listing(ctx, l)
		if err != nil {
			yield(nil, err)
			return
		}
		for err == nil {
			var x *journal.Execution
			if x, err = w.next(ctx); err == nil && (x == nil || !yield(x, nil)) {
				break
			}
		}
		if err = errors.Join(err, w.close()); err != nil {
			yield(nil, err)
		}
	}
}

// listing iterates over one list: over the running executions and over those that ended with each status.
type listing struct {
	of    *journal.List
	since int64
	open  startorder.Cursor[struct{}] // nil if running executions are not requested
	ended []*pebble.Iterator
	store *pebble.Snapshot
	raw   []byte
}

// listing starts an iteration. It looks up running executions first: one that ends meanwhile is then found as ended
// in the store.
func (j *Journal) listing(ctx context.Context, l *journal.List) (*listing, error) {
	id, first := journal.ListID(l.Of), l.First()
	start, arn := first.Start.UnixNano(), first.ARN
	if arn != "" {
		arn += "\x00" // after it
	}
	w := &listing{of: l, since: sinceNanos(l)}
	if l.Wants(history.Running) {
		if err := j.opening.await(ctx); err != nil {
			return nil, err
		}
		w.open = j.open.From(id, start, arn)
	}
	w.store = j.db.NewSnapshot()
	for _, s := range [...]history.Status{history.Succeeded, history.Failed, history.TimedOut, history.Aborted} {
		if !l.Wants(s) {
			continue
		}
		list := append(appendList(nil, id), statusBytes[s])
		it, err := w.store.NewIter(&pebble.IterOptions{
			LowerBound: appendIndex(nil, id, statusBytes[s], start, arn), UpperBound: prefixEnd(list),
		})
		if err != nil {
			return nil, errors.Join(err, w.close())
		}
		it.First()
		w.ended = append(w.ended, it)
	}
	return w, nil
}

func (w *listing) close() error {
	var errs []error
	for _, it := range w.ended {
		errs = append(errs, it.Close())
	}
	return errors.Join(append(errs, w.store.Close())...)
}

// next returns the next execution, or nil at the end.
func (w *listing) next(ctx context.Context) (*journal.Execution, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		it, err := w.newest()
		if err != nil {
			return nil, err
		}
		var x *journal.Execution
		if it == nil {
			open, ok := w.head()
			if !ok {
				return nil, nil //nolint:nilnil // the end
			}
			at := *open
			w.open.Next()
			x, err = w.underWay(&at)
		} else {
			x, err = w.endedAt(it)
			it.Next()
		}
		if err != nil || x != nil {
			return x, err
		}
	}
}

// head returns the newest running execution that the list includes.
func (w *listing) head() (*startorder.Entry[struct{}], bool) {
	if w.open == nil {
		return nil, false
	}
	e, ok := w.open.Head()
	return e, ok && e.Start >= w.since
}

// newest returns the iterator positioned at the next execution. It returns nil if the next one is a running execution
// or there is none.
func (w *listing) newest() (*pebble.Iterator, error) {
	var best *pebble.Iterator
	for _, it := range w.ended {
		if !it.Valid() {
			if err := it.Error(); err != nil {
				return nil, damaged(err)
			}
			continue
		}
		key := it.Key()
		if len(key) < arnFrom || startOf(key) < w.since {
			continue
		}
		if best == nil || bytes.Compare(key[startFrom:], best.Key()[startFrom:]) < 0 {
			best = it
		}
	}
	open, ok := w.head()
	if !ok || best == nil {
		return best, nil
	}
	key := best.Key()
	if cmp.Or(cmp.Compare(startOf(key), open.Start), cmp.Compare(open.ARN, string(key[arnFrom:]))) > 0 {
		return best, nil
	}
	return nil, nil //nolint:nilnil // one under way
}

// underWay reads an execution that was running. It returns nil if the execution has ended meanwhile, since it is then
// listed among the ended ones.
func (w *listing) underWay(e *openEntry) (*journal.Execution, error) {
	if w.of.Brief && !w.of.Redriven && !w.of.NotRedriven {
		return brief(e.ARN, history.Running, e.Start), nil
	}
	x, err := w.read(e.ARN)
	if err != nil || x == nil || x.Ended() || !w.of.Selects(x) {
		return nil, err
	}
	return x, nil
}

// endedAt reads the execution at the iterator's position. It returns nil if the list leaves it out.
func (w *listing) endedAt(it *pebble.Iterator) (*journal.Execution, error) {
	value, err := it.ValueAndErr()
	if err != nil {
		return nil, damaged(err)
	}
	name, redriven := indexedAs(value)
	if !w.of.Fits(true, string(name), redriven) {
		return nil, nil //nolint:nilnil // left out
	}
	key := it.Key()
	if w.of.Brief {
		x := brief(string(key[arnFrom:]), statuses[key[listEnd]], startOf(key))
		if len(name) > 0 {
			x.Failure.SetName(string(name))
		}
		return x, nil
	}
	x, err := w.read(string(key[arnFrom:]))
	if err != nil || x == nil || statusBytes[x.Status] != it.Key()[listEnd] || !w.of.Selects(x) {
		return nil, err
	}
	return x, nil
}

// brief returns an execution with the fields that the index holds.
func brief(arn string, s history.Status, start int64) *journal.Execution {
	x := &journal.Execution{Status: s, Start: time.Unix(0, start)}
	x.ARN = arn
	return x
}

// read reads a description. It returns nil if the description has been removed.
func (w *listing) read(arn string) (*journal.Execution, error) {
	v, closer, err := w.store.Get([]byte(executionPrefix + arn))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil //nolint:nilnil // removed
	}
	if err != nil {
		return nil, damaged(err)
	}
	defer closer.Close()
	raw, err := s2.Decode(w.raw, v)
	if err != nil {
		return nil, wrap(arn, err)
	}
	w.raw = raw[:cap(raw)]
	x, err := decodeListed(raw)
	return x, wrap(arn, err)
}
