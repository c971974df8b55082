package engine

import "testing"

func TestAccountOfARole(t *testing.T) {
	t.Parallel()
	for role, want := range map[string]string{
		"arn:aws:iam::222222222222:role/other": "222222222222",
		"arn:aws:iam::222222222222":            "",
		"role":                                 "",
		"":                                     "",
		"a:b:c:d:e:f":                          "",
	} {
		if got := accountOf(role); got != want {
			t.Errorf("%q: got %q, want %q", role, got, want)
		}
	}
}
