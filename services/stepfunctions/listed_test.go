package stepfunctions

import (
	"slices"
	"strings"
	"testing"
	"time"

	"stepback/engine/history"
	"stepback/engine/journal"
)

// some are places, as many as asked for.
func some(n int) []listedAt { return make([]listedAt, n) }

func TestListsAreForgotten(t *testing.T) {
	t.Parallel()
	var l lists
	for of := range uint64(maxLists + 2) {
		l.keep(of, some(3))
	}
	for of, want := range map[uint64]bool{0: false, 1: false, 2: true, maxLists + 1: true} {
		if places, ok := l.places(of); ok != want || ok && len(places) != 3 {
			t.Errorf("list %d: %v, %v", of, ok, places)
		}
	}
	l.keep(3, some(2))
	if places, _ := l.places(3); len(places) != 2 || len(l.order) != maxLists {
		t.Errorf("%v of %v", places, l.order)
	}
	l.keep(9, some(maxListed-1))
	if _, ok := l.places(3); ok || len(l.order) != 1 {
		t.Errorf("%v", l.order)
	}
	l.keep(9, some(maxListed+1))
	if _, ok := l.places(9); ok || len(l.order) != 0 {
		t.Errorf("%v", l.order)
	}
	l.keep(9, some(1))
	l.forget(9)
	if _, ok := l.places(9); ok || len(l.order) != 0 {
		t.Errorf("%v", l.order)
	}
}

func TestPlacesOfExecutions(t *testing.T) {
	t.Parallel()
	const prefix = "arn:aws:states:us-east-1:000000000000:execution:m:"
	var places []listedAt
	for _, x := range []struct {
		name  string
		start time.Time
	}{{"b", time.Unix(5, 0)}, {"old", time.Unix(4, 999)}, {"new", time.Unix(6, 0)}, {"a", time.Unix(5, 0)}} {
		started := &journal.Execution{Info: history.Info{ARN: prefix + x.name}, Start: x.start}
		places = append(places, placeOf(started, prefix))
	}
	sortNewestFirst(places)
	want := []listedAt{{6e9, "new"}, {5e9, "a"}, {5e9, "b"}, {4e9 + 999, "old"}}
	if !slices.Equal(places, want) {
		t.Fatalf("%v, want %v", places, want)
	}
	text := func(p listedAt) string { return p.text(prefix) }
	if !slices.IsSortedFunc(places, func(a, b listedAt) int { return strings.Compare(text(a), text(b)) }) {
		t.Error("the texts sort otherwise")
	}
}
