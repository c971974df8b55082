package asl

import "stepback/internal/spelling"

// didYouMean is a hint with the candidate that is nearest to a misspelt word; empty when none is near.
func didYouMean(word string, candidates []string) string {
	if best := spelling.Nearest(word, candidates); best != "" {
		return "did you mean '" + best + "'?"
	}
	return ""
}
