package stepfunctions

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"stepback/engine/journal"
)

// Limits of what is remembered of lists of executions.
const (
	maxLists  = 4
	maxListed = 1_000_000 // of all lists together
)

// listedAt is the place of an execution in a list of those of one machine. It is all that is kept of an execution until
// a page shows it, since a machine may have a million of them, with any payloads.
type listedAt struct {
	start int64 // nanoseconds since 1970
	name  string
}

func placeOf(x *journal.Execution, prefix string) listedAt {
	return listedAt{x.Start.UnixNano(), strings.Clone(strings.TrimPrefix(x.ARN, prefix))}
}

// sortNewestFirst sorts places as ListExecutions answers.
func sortNewestFirst(places []listedAt) {
	slices.SortFunc(places, func(a, b listedAt) int {
		return cmp.Or(cmp.Compare(b.start, a.start), strings.Compare(a.name, b.name))
	})
}

// text is the place in a token; prefix is what the ARNs of the machine's executions begin with.
func (p listedAt) text(prefix string) string {
	return newestFirst(time.Unix(0, p.start), prefix+p.name)
}

// lists remembers the places of the executions in lists that clients are paging through, so that a page does not take
// reading all executions again. A list that was forgotten is made anew.
type lists struct {
	mu    sync.Mutex
	order []uint64 // of the lists, the oldest first
	lists map[uint64][]listedAt
}

// keep remembers a list, and forgets older ones that leave no room for it.
func (l *lists) keep(of uint64, places []listedAt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(of)
	if len(places) > maxListed {
		return
	}
	size := len(places)
	for _, kept := range l.lists {
		size += len(kept)
	}
	for len(l.order) > 0 && (len(l.order) >= maxLists || size > maxListed) {
		size -= len(l.lists[l.order[0]])
		l.drop(l.order[0])
	}
	if l.lists == nil {
		l.lists = map[uint64][]listedAt{}
	}
	l.lists[of], l.order = places, append(l.order, of)
}

// forget forgets a list, which nobody pages through any more.
func (l *lists) forget(of uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(of)
}

func (l *lists) drop(of uint64) {
	if _, ok := l.lists[of]; !ok {
		return
	}
	delete(l.lists, of)
	for i := range l.order {
		if l.order[i] == of {
			l.order = append(l.order[:i], l.order[i+1:]...)
			return
		}
	}
}

// places returns the places of a list.
func (l *lists) places(of uint64) ([]listedAt, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	places, ok := l.lists[of]
	return places, ok
}
