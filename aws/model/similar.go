package model

import (
	"slices"
	"strings"

	"stepback/internal/spelling"
)

// maxSimilar is the maximum number of names in a suggestion.
const maxSimilar = 3

// nearest lists the names that a misspelt name may stand for, the most likely first. These are the names that
// differ from it in at most a third of its letters, those that it begins with, and those that contain it.
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
		if d := spelling.Edits(wanted, lower, limit); d <= limit {
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
