package faults_test

import (
	"strings"
	"testing"

	"stepback/tasks/faults"
)

func TestAMistypedErrorIsRefused(t *testing.T) {
	t.Parallel()
	_, err := faults.ParseSpec("S:DatabaseConectionError:5%")
	if err == nil || !strings.Contains(err.Error(), "did you mean DatabaseConnectionError?") {
		t.Errorf("got %v", err)
	}
	for text, want := range map[string]string{
		"S:custom=DatabaseConectionError:5%": "DatabaseConectionError", "S:OutOfStock:5%": "OutOfStock",
		"S:DatabaseConnectionError:5%": "DatabaseConnectionError",
	} {
		if spec, err := faults.ParseSpec(text); err != nil || spec.Error != want {
			t.Errorf("%s: %+v, %v", text, spec, err)
		}
	}
}
