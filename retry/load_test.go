package retry_test

import (
	"testing"

	"stepback/retry"
)

func TestLoadErrors(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]bool{ // load error, overload
		"States.Timeout": {true, true}, "Lambda.TooManyRequestsException": {true, true}, "S3.SlowDown": {true, true},
		"DatabaseConnectionError": {true, false}, "Lambda.ServiceException": {true, false},
		"DeadlockException": {false, false}, "ValidationError": {false, false}, "CircuitOpen": {false, false},
		"RetryBudgetExhausted": {false, false}, "LimitReached": {false, false}, "": {false, false},
	} {
		if got := [2]bool{retry.IsLoadError(name), retry.IsOverload(name)}; got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}
