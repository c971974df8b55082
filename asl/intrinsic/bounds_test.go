package intrinsic

import "testing"

func TestCanonicalNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0": "0", "-0.0": "0", "0e5": "0", "1": "1e1", "1.0": "1e1", "10e-1": "1e1", "100": "1e3", "0.01": "1e-1",
		"-12.50": "-125e2", "12345678901234567890": "1234567890123456789e20", "12345678901234567891": "12345678901234567891e20",
	} {
		if got := canonicalNumber(text); got != want {
			t.Errorf("canonicalNumber(%s) is %s, want %s", text, got, want)
		}
	}
}
