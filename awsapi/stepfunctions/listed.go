package stepfunctions

import (
	"strings"
	"sync"

	"stepback/engine/journal"
)

// Limits of what is remembered of lists of executions.
const (
	maxLists  = 4
	maxListed = 250_000 // of all lists together
)

// lists remembers the places of the executions in lists that clients are paging through, so that a page does not take reading all
// executions again. A list that was forgotten is made anew.
type lists struct {
	mu    sync.Mutex
	order []uint64 // of the lists, the oldest first
	lists map[uint64][]string
}

// keep remembers a list, and forgets older ones that leave no room for it.
func (l *lists) keep(of uint64, found []*journal.Execution) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(of)
	if len(found) > maxListed {
		return
	}
	size := len(found)
	for _, places := range l.lists {
		size += len(places)
	}
	for len(l.order) > 0 && (len(l.order) >= maxLists || size > maxListed) {
		size -= len(l.lists[l.order[0]])
		l.forget(l.order[0])
	}
	places := make([]string, len(found))
	for i, x := range found {
		places[i] = newestFirst(x.Start, x.ARN)
	}
	if l.lists == nil {
		l.lists = map[uint64][]string{}
	}
	l.lists[of], l.order = places, append(l.order, of)
}

func (l *lists) forget(of uint64) {
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
func (l *lists) places(of uint64) ([]string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	places, ok := l.lists[of]
	return places, ok
}

// executionAt is the ARN in a place.
func executionAt(place string) string {
	_, arn, _ := strings.Cut(place, " ")
	return arn
}
