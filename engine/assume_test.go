package engine_test

import (
	"context"
	"testing"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/interpreter"
	"stepback/engine/journal"
)

// TestCredentials has tasks that act for the accounts of roles.
func TestCredentials(t *testing.T) {
	t.Parallel()
	answers := func(account string) map[string]engine.Integration {
		return map[string]engine.Integration{"test:call": invoke(func(context.Context, *engine.Task) (string, error) {
			return `"` + account + `"`, nil
		})}
	}
	c := clock.Virtual(epoch)
	asked := map[string]int{}
	e, err := engine.New(engine.Config{
		Clock: c, Journal: journal.NewMemory(), Account: "111111111111", Integrations: answers("own"), Workers: 1,
		Assume: func(account string) map[string]engine.Integration {
			asked[account]++
			return answers(account)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		e.Close()
		c.Close()
	})
	m, err := e.CreateStateMachine("m", `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:states:::test:call",
		"Credentials":{"RoleArn.$":"$"},"End":true}}}`, "arn:aws:iam::111111111111:role/r", false)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ role, want string }{
		"another": {"arn:aws:iam::222222222222:role/r", `"222222222222"`},
		"again":   {"arn:aws:iam::222222222222:role/s", `"222222222222"`},
		"own":     {"arn:aws:iam::111111111111:role/r", `"own"`},
		"plain":   {"r", `"own"`},
		"short":   {"arn:aws:iam", `"own"`},
	} {
		arn, err := e.StartExecution(t.Context(), m.ARN, "e-"+name[:2], `"`+c.role+`"`)
		if err != nil {
			t.Fatal(err)
		}
		x, err := e.Wait(t.Context(), arn)
		if err != nil {
			t.Fatal(err)
		}
		if x.Status != interpreter.Succeeded || x.Output != c.want {
			t.Errorf("%s: %s %s, want %s", name, x.Status, x.Output, c.want)
		}
	}
	if len(asked) != 1 || asked["222222222222"] != 1 {
		t.Errorf("accounts were asked for: %v", asked)
	}
}
