// Package sorting puts slices of structs in order where their number is small or their order is for people. The sort of
// package slices is compiled once for each kind of element, some 13 kB every time: what was sorted here and there was a
// megabyte of the command. This one is compiled once. It calls its comparison and its swap through an interface, which
// takes about half as long again: what sorts for each row or event uses package slices. It never copies an element.
package sorting

import (
	"iter"
	"slices"
	"sort"
)

// Func sorts xs as slices.SortFunc does: cmp is negative where a comes before b, 0 where either may be first.
func Func[S ~[]E, E any](xs S, cmp func(a, b E) int) { sort.Sort(&by[E]{xs, cmp}) }

// Stable sorts xs and leaves elements that compare as equal in the order they have, as slices.SortStableFunc does.
func Stable[S ~[]E, E any](xs S, cmp func(a, b E) int) { sort.Stable(&by[E]{xs, cmp}) }

// Collect returns the elements of a sequence in order, as slices.SortedFunc does.
func Collect[E any](seq iter.Seq[E], cmp func(a, b E) int) []E {
	xs := slices.Collect(seq)
	Func(xs, cmp)
	return xs
}

type by[E any] struct {
	xs  []E
	cmp func(a, b E) int
}

// Len implements sort.Interface.
func (s *by[E]) Len() int { return len(s.xs) }

// Less implements sort.Interface.
func (s *by[E]) Less(i, j int) bool { return s.cmp(s.xs[i], s.xs[j]) < 0 }

// Swap implements sort.Interface.
func (s *by[E]) Swap(i, j int) { s.xs[i], s.xs[j] = s.xs[j], s.xs[i] }
