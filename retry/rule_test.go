package retry_test

import (
	"testing"

	"stepback/retry"
)

func TestRuleCoversAsStepFunctionsDoes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		errors []string
		name   string
		want   bool
	}{
		{nil, "A", true}, {nil, "", true}, {[]string{}, "A", false},
		{[]string{"A", "B"}, "B", true}, {[]string{"A", "B"}, "C", false},
		{[]string{"States.ALL"}, "A", true}, {[]string{"States.ALL"}, "TimeoutError", true},
		{[]string{"States.TaskFailed"}, "A", true}, {[]string{"States.TaskFailed"}, "TimeoutError", false},
		{[]string{"States.Timeout"}, "TimeoutError", true}, {[]string{"States.Timeout"}, "A", false},
	}
	for _, tt := range tests {
		if got := (retry.Rule{Errors: tt.errors}).Covers(tt.name); got != tt.want {
			t.Errorf("%v covers %q: %v, want %v", tt.errors, tt.name, got, tt.want)
		}
	}
}
