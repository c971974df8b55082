// Package startorder holds running executions in lists, each ordered by start time, newest first, so that a page of a
// list is found without looking at other executions. It works in memory and stores nothing on disk.
package startorder

import (
	"sync"

	"github.com/google/btree"
)

// degree is the minimum number of children of a tree node.
const degree = 32

// Entry is an execution in one list.
type Entry[T any] struct {
	List  uint64
	Start int64 // nanoseconds since 1970
	ARN   string
	Value T
}

// Set is a set of entries, ordered by list, then from the newest start to the oldest, then by ARN. It is safe for
// concurrent use.
//
// It is an interface, as Cursor is, because the compiler compiles the methods of every generic type that it reaches
// through the fields of a type, in each package that uses that type. Through an engine and a journal it would reach the
// tree.
type Set[T any] interface {
	// Put adds entries, or replaces those with the same list, start and ARN.
	Put(entries ...Entry[T])
	// Delete removes entries; their values are ignored.
	Delete(entries ...Entry[T])
	// Len returns the number of entries of all lists.
	Len() int
	// From returns a cursor at the first entry of a list that is not before the given start and ARN.
	From(list uint64, start int64, arn string) Cursor[T]
}

// Cursor iterates over one list as it was when the cursor was created.
type Cursor[T any] interface {
	// Head returns the cursor's current entry, or false after the last one of the list.
	Head() (*Entry[T], bool)
	// Next advances the cursor.
	Next()
}

// New returns an empty set.
func New[T any]() Set[T] { return &set[T]{tree: btree.NewG(degree, less[T])} }

type set[T any] struct {
	mu   sync.Mutex
	tree *btree.BTreeG[Entry[T]]
}

func less[T any](a, b Entry[T]) bool {
	if a.List != b.List {
		return a.List < b.List
	}
	if a.Start != b.Start {
		return a.Start > b.Start
	}
	return a.ARN < b.ARN
}

func (s *set[T]) Put(entries ...Entry[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range entries {
		s.tree.ReplaceOrInsert(e)
	}
}

func (s *set[T]) Delete(entries ...Entry[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range entries {
		s.tree.Delete(e)
	}
}

func (s *set[T]) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tree.Len()
}

type cursor[T any] struct {
	tree *btree.BTreeG[Entry[T]]
	at   Entry[T]
	buf  []Entry[T]
	end  bool
}

// chunk is the number of entries that a cursor fetches at a time.
const chunk = 32

func (s *set[T]) From(list uint64, start int64, arn string) Cursor[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &cursor[T]{tree: s.tree.Clone(), at: Entry[T]{List: list, Start: start, ARN: arn}}
}

func (c *cursor[T]) Head() (*Entry[T], bool) {
	if len(c.buf) == 0 && !c.end {
		c.fill()
	}
	if len(c.buf) == 0 {
		return nil, false
	}
	return &c.buf[0], true
}

func (c *cursor[T]) Next() {
	if _, ok := c.Head(); ok {
		c.buf = c.buf[1:]
	}
}

func (c *cursor[T]) fill() {
	list := c.at.List
	c.buf = make([]Entry[T], 0, chunk)
	c.end = true
	c.tree.AscendGreaterOrEqual(c.at, func(e Entry[T]) bool {
		if e.List != list {
			return false
		}
		if len(c.buf) == chunk {
			c.at, c.end = e, false
			return false
		}
		c.buf = append(c.buf, e)
		return true
	})
}
