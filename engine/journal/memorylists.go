package journal

import (
	"context"
	"iter"

	"stepback/engine/history"
	"stepback/engine/internal/startorder"
)

// memoryLists holds the executions of a Memory in their lists, by status. They are built when a list is first
// requested, since most in-memory stores are never asked for one, and kept up to date from then on. An execution that
// an entry points to never changes.
type memoryLists map[history.Status]startorder.Set[*Execution]

// newMemoryLists returns lists of the given executions.
func newMemoryLists(executions map[string]*Execution) memoryLists {
	m := memoryLists{}
	for _, x := range executions {
		m.put(x)
	}
	return m
}

func memoryEntries(x *Execution) []startorder.Entry[*Execution] {
	lists := ListsOf(x)
	entries := make([]startorder.Entry[*Execution], len(lists))
	for i, list := range lists {
		entries[i] = startorder.Entry[*Execution]{List: ListID(list), Start: x.Start.UnixNano(), ARN: x.ARN, Value: x}
	}
	return entries
}

func (m memoryLists) put(x *Execution) {
	if m[x.Status] == nil {
		m[x.Status] = startorder.New[*Execution]()
	}
	m[x.Status].Put(memoryEntries(x)...)
}

// replace replaces was, the earlier state of an execution, with x in the lists. was is nil if the execution is new.
func (m memoryLists) replace(was, x *Execution) {
	if m == nil {
		return
	}
	if was != nil {
		m[was.Status].Delete(memoryEntries(was)...)
	}
	m.put(x)
}

// cursors returns a cursor for each status that l selects, at the first entry after l.First, all taken at the same
// moment.
func (m memoryLists) cursors(l *List) []startorder.Cursor[*Execution] {
	first := l.First()
	var all []startorder.Cursor[*Execution]
	for s, set := range m {
		if l.Wants(s) {
			all = append(all, set.From(ListID(l.Of), first.Start.UnixNano(), first.ARN))
		}
	}
	return all
}

// Listed implements Lists.
func (m *Memory) Listed(ctx context.Context, l *List) iter.Seq2[*Execution, error] {
	return func(yield func(*Execution, error) bool) {
		m.mu.Lock()
		if m.lists == nil {
			m.lists = newMemoryLists(m.executions)
		}
		cursors := m.lists.cursors(l)
		m.mu.Unlock()
		for {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			x := newest(cursors)
			if x == nil || x.Start.Before(l.Since) {
				return
			}
			if !l.Selects(x) {
				continue
			}
			listed := *x
			listed.dropPayloads()
			if !yield(&listed, nil) {
				return
			}
		}
	}
}

// newest returns the newest of the executions at the cursors and advances its cursor. It returns nil after the last
// execution.
func newest(cursors []startorder.Cursor[*Execution]) *Execution {
	var best startorder.Cursor[*Execution]
	var found *Execution
	for _, c := range cursors {
		if e, ok := c.Head(); ok && (found == nil || PlaceOf(e.Value).Compare(PlaceOf(found)) < 0) {
			best, found = c, e.Value
		}
	}
	if best != nil {
		best.Next()
	}
	return found
}
