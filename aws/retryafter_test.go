package aws_test

import (
	"math"
	"testing"
	"time"

	"stepback/aws"
)

func TestParseRetryAfter(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]time.Duration{
		"0": 0, "1500": 1500 * time.Millisecond, "": 0, "soon": 0, "-5": 0, "1.5": 0, "+5": 0,
		"9223372036854": 9223372036854 * time.Millisecond, "9223372036855": math.MaxInt64,
		"99999999999999999999999": math.MaxInt64,
	} {
		if got := aws.ParseRetryAfter(value); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}
