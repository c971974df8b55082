package aws_test

import (
	"testing"

	"stepback/aws"
)

func TestMatches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{{"*", "anything", true}, {"a*c", "abbc", true}, {"a*c", "abb", false}, {"a?c", "abc", true}, {"", "", true}, {"*x*y", "axbxy", true}} {
		if got := aws.Matches(c.pattern, c.text); got != c.want {
			t.Errorf("Matches(%q, %q) = %v", c.pattern, c.text, got)
		}
	}
}
