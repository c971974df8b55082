package terminal

import (
	"testing"
	"time"
)

func TestAge(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"90d": 2160 * time.Hour, "36h": 36 * time.Hour, "0d": 0} {
		var a Age
		if err := a.UnmarshalText([]byte(text)); err != nil || time.Duration(a) != want {
			t.Errorf("%s: %v, %v", text, time.Duration(a), err)
		}
	}
	for _, text := range []string{"", "d", "-1d", "1.5d", "9999999999d", "90"} {
		if err := new(Age).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
