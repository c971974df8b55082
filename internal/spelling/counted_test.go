package spelling_test

import (
	"testing"

	"stepback/internal/spelling"
)

func TestCounted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n          int
		noun, want string
	}{
		{0, "item", "0 items"}, {1, "item", "1 item"}, {2, "item", "2 items"}, {-1, "item", "-1 items"},
		{1, "retry", "1 retry"}, {2, "retry", "2 retries"}, {1, "Map Run", "1 Map Run"}, {1000, "day", "1000 days"},
	} {
		if got := spelling.Counted(c.n, c.noun); got != c.want {
			t.Errorf("%d %s: %q, want %q", c.n, c.noun, got, c.want)
		}
	}
}
