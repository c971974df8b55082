package local_test

import (
	"errors"
	"testing"

	"stepback/engine"
	"stepback/local"
)

// A hold of a durable function would hold nothing, so it is refused, by name and by ARN.
func TestHoldRefusesDurableFunctions(t *testing.T) {
	t.Parallel()
	p := openDurable(t, local.Config{}, charge)
	for _, name := range []string{"F", p.Scope.ARN("lambda", "function:F"), p.Scope.ARN("lambda", "function:F:1")} {
		var refused *local.DurableHoldError
		if err := p.Hold(p.Scope, engine.Hold{Machine: name}); !errors.As(err, &refused) || refused.Function != "F" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := p.Hold(p.Scope, engine.Hold{Machine: "orders"}); err != nil {
		t.Error(err)
	}
	if held, _, err := p.Pacing(p.Scope); err != nil || len(held) != 1 || held[0].Machine != "orders" {
		t.Errorf("%v, %v", held, err)
	}
}
