package main

import "testing"

func TestQuoted(t *testing.T) {
	t.Parallel()
	for a, want := range map[string]string{
		"x.csv": "x.csv", "my file.csv": "'my file.csv'", "it's": `'it'\''s'`, "": "''", "利用": "'利用'",
	} {
		if got := quoted(a); got != want {
			t.Errorf("%q is quoted %s, want %s", a, got, want)
		}
	}
}
