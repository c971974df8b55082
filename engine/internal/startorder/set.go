// Package startorder keeps executions that are under way in lists, each in the order of their starts, the newest first:
// what a page of a list needs without looking at the others. It lives in memory and keeps nothing on a disk.
package startorder

import (
	"cmp"
	"strings"
	"sync"

	"github.com/google/btree"
)

// degree is how many children a node of the tree has at least.
const degree = 32

// Entry is an execution in one list.
type Entry[T any] struct {
	List  uint64
	Start int64 // nanoseconds since 1970
	ARN   string
	Value T
}

// Set is a set of entries, ordered by list, then from the newest start to the oldest, then by ARN. The zero value is
// empty. It is safe for concurrent use.
type Set[T any] struct {
	mu   sync.Mutex
	tree *btree.BTreeG[Entry[T]]
}

func less[T any](a, b Entry[T]) bool {
	return cmp.Or(cmp.Compare(a.List, b.List), cmp.Compare(b.Start, a.Start), strings.Compare(a.ARN, b.ARN)) < 0
}

// Put adds entries, or replaces those of the same lists, starts and ARNs.
func (s *Set[T]) Put(entries ...Entry[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tree == nil {
		s.tree = btree.NewG(degree, less[T])
	}
	for _, e := range entries {
		s.tree.ReplaceOrInsert(e)
	}
}

// Delete removes entries; their values are not looked at.
func (s *Set[T]) Delete(entries ...Entry[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tree == nil {
		return
	}
	for _, e := range entries {
		s.tree.Delete(e)
	}
}

// Len returns the number of entries of all lists.
func (s *Set[T]) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tree == nil {
		return 0
	}
	return s.tree.Len()
}

// Cursor walks over one list as it was when the cursor was made.
type Cursor[T any] struct {
	tree *btree.BTreeG[Entry[T]]
	at   Entry[T]
	buf  []Entry[T]
	end  bool
}

// chunk is how many entries a cursor looks up at a time.
const chunk = 32

// From returns a cursor at the first entry of a list that does not come before a place.
func (s *Set[T]) From(list uint64, start int64, arn string) *Cursor[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tree == nil {
		return &Cursor[T]{end: true}
	}
	return &Cursor[T]{tree: s.tree.Clone(), at: Entry[T]{List: list, Start: start, ARN: arn}}
}

// Head returns the entry that the cursor is at, and false behind the last one of the list.
func (c *Cursor[T]) Head() (*Entry[T], bool) {
	if len(c.buf) == 0 && !c.end {
		c.fill()
	}
	if len(c.buf) == 0 {
		return nil, false
	}
	return &c.buf[0], true
}

// Next moves the cursor on.
func (c *Cursor[T]) Next() {
	if _, ok := c.Head(); ok {
		c.buf = c.buf[1:]
	}
}

func (c *Cursor[T]) fill() {
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
