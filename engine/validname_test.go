package engine_test

import (
	"testing"

	"stepback/engine"
)

func TestValidName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"a-B_3.é": true, "日本": true, "a b": false, "a:b": false, "a\x00": false, "a\u0085": false, "a|b": false,
		"a`b": false, "\xff": false,
	} {
		if got := engine.ValidName(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
