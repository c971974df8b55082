package asl

import "stepback/internal/spelling"

// didYouMean returns a hint naming the candidate nearest to a misspelt word, or "" if none is near.
func didYouMean(word string, candidates []string) string {
	if best := spelling.Nearest(word, candidates); best != "" {
		return "did you mean '" + best + "'?"
	}
	return ""
}
