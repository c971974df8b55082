package apierror

import (
	"errors"
	"fmt"
	"testing"
)

func TestIsMissing(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		NoMachine("m"): true, NoActivity("a"): true, fmt.Errorf("reading: %w", NoMachine("m")): true,
		NoExecution("x"): false, ResourceNotFound("r"): false, errors.New("StateMachineDoesNotExist"): false, nil: false,
	} {
		if got := IsMissing(err); got != want {
			t.Errorf("%v: %t", err, got)
		}
	}
}
