package stepfunctions

import (
	"fmt"
	"testing"
	"time"

	"stepback/engine/journal"
)

// some are executions, as many as asked for.
func some(n int) []*journal.Execution {
	found := make([]*journal.Execution, n)
	for i := range found {
		found[i] = &journal.Execution{ARN: fmt.Sprint("arn:", i), Start: time.Unix(int64(n-i), 0)}
	}
	return found
}

func TestListsAreForgotten(t *testing.T) {
	t.Parallel()
	var l lists
	for of := range uint64(maxLists + 2) {
		l.keep(of, some(3))
	}
	for of, want := range map[uint64]bool{0: false, 1: false, 2: true, maxLists + 1: true} {
		if places, ok := l.places(of); ok != want || ok && (len(places) != 3 || executionAt(places[1]) != "arn:1") {
			t.Errorf("list %d: %v, %q", of, ok, places)
		}
	}
	l.keep(3, some(2))
	if places, _ := l.places(3); len(places) != 2 || len(l.order) != maxLists {
		t.Errorf("%q of %v", places, l.order)
	}
	l.keep(9, some(maxListed-1))
	if _, ok := l.places(3); ok || len(l.order) != 1 {
		t.Errorf("%v", l.order)
	}
	l.keep(9, some(maxListed+1))
	if _, ok := l.places(9); ok || len(l.order) != 0 {
		t.Errorf("%v", l.order)
	}
}
