package spelling

import (
	"strings"
	"unicode/utf8"
)

// Nearest returns the candidate with the fewest edits (insertions, deletions, replacements, swaps of neighbours) from
// word, ignoring case. It returns "" if even that needs more edits than a third of the word's letters.
func Nearest(word string, candidates []string) string {
	best, limit := "", utf8.RuneCountInString(word)/3
	for _, c := range candidates {
		if n := Edits(strings.ToLower(word), strings.ToLower(c), limit); n <= limit && (n < limit || best == "") {
			best, limit = c, n
		}
	}
	return best
}

// Edits returns the minimum number of edits that turn one word into the other, case-sensitively: the optimal string
// alignment distance. More than limit edits are reported as limit+1.
func Edits(a, b string, limit int) int {
	s, t := []rune(a), []rune(b)
	if len(s)-len(t) > limit || len(t)-len(s) > limit {
		return limit + 1
	}
	older, old, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range old {
		old[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row[0] = i
		for j := 1; j <= len(t); j++ {
			replace := old[j-1]
			if s[i-1] != t[j-1] {
				replace++
			}
			row[j] = min(replace, old[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
		older, old, row = old, row, older
	}
	return old[len(t)]
}
