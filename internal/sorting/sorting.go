// Package sorting sorts slices of structs that are short or are sorted for display. The sort in package slices is
// compiled once for each element type, some 13 kB every time, which added a megabyte to the command. This one is
// compiled once. It calls its comparison and its swap through an interface, which takes about half as long again, so
// code that sorts for each row or event uses package slices. It never copies an element.
package sorting

import (
	"iter"
	"slices"
	"sort"
)

// Func sorts xs like slices.SortFunc: cmp returns a negative number if a comes before b, and 0 if either may be
// first.
func Func[S ~[]E, E any](xs S, cmp func(a, b E) int) { sort.Sort(&by[E]{xs, cmp}) }

// Stable sorts xs like slices.SortStableFunc: elements that compare as equal keep their order.
func Stable[S ~[]E, E any](xs S, cmp func(a, b E) int) { sort.Stable(&by[E]{xs, cmp}) }

// Collect returns the elements of a sequence in order, like slices.SortedFunc.
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
