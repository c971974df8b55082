package model

import (
	"slices"
	"strings"
)

// maxSimilar is how many names a suggestion has.
const maxSimilar = 3

// nearest lists the names that a misspelt one was perhaps meant to be, the most likely first: those that a third of its
// letters make of it, and those that begin with it or hold it.
func nearest(name string, names []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	found := make([]candidate, 0, len(names))
	wanted := strings.ToLower(name)
	const share, shortest = 3, 3
	limit := max(1, len(wanted)/share)
	for _, n := range names {
		lower := strings.ToLower(n)
		begins := len(lower) >= shortest && strings.HasPrefix(wanted, lower)
		holds := len(wanted) >= shortest && strings.Contains(lower, wanted)
		if d := distance(wanted, lower); d <= limit {
			found = append(found, candidate{n, d})
		} else if begins || holds {
			found = append(found, candidate{n, limit + 1})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.distance - b.distance })
	similar := make([]string, 0, maxSimilar)
	for _, c := range found[:min(len(found), maxSimilar)] {
		similar = append(similar, c.name)
	}
	return similar
}

// distance is how many letters must be added, removed or changed to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := before
			if a[i] != b[j] {
				changed++
			}
			before = row[j+1]
			row[j+1] = min(changed, row[j]+1, before+1)
		}
	}
	return row[len(b)]
}
