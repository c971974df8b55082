package ecma_test

import (
	"slices"
	"strings"
	"testing"
)

// The maximum payload of a workflow is 256 KiB.
func TestLongText(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ab", 128<<10)
	for _, pattern := range []string{`^(?:a|b)*$`, `^.*$`, `^(a|b)+?$`} {
		got := match(t, pattern, long, false, false)
		if len(got) < 2 || !slices.Equal(got[:2], []int{0, len(long)}) {
			t.Errorf("/%s/ = %v", pattern, got)
		}
	}
}
