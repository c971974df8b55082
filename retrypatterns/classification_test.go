package retrypatterns_test

import (
	"testing"

	"stepback/retry"
	rp "stepback/retrypatterns"
)

// Whatever package retry classifies an error as, the map knows how to retry it, unless it is permanent.
func TestEveryClassificationHasAPatternOrIsPermanent(t *testing.T) {
	t.Parallel()
	rows := 0
	for _, kind := range retry.Classifiers() {
		for _, row := range kind.Rows {
			rows++
			if _, ok := rp.PatternFor(row.Error); ok == (row.Class == retry.Permanent) {
				t.Errorf("%s %s: %s is %s, and has a pattern: %v", kind.Title, row.Identity, row.Error, row.Class, ok)
			}
		}
	}
	if rows < 100 {
		t.Errorf("only %d rows", rows)
	}
}

func TestRulesByErrorHoldTheMap(t *testing.T) {
	t.Parallel()
	rules := rp.Rules()
	for _, row := range rp.ErrorPatterns() {
		if row.Error[:min(7, len(row.Error))] == "States." {
			continue
		}
		found := 0
		for i, rule := range rules {
			if rule.Covers(row.Error) {
				found++
				if rp.Patterns()[i].Name != row.Pattern || rule.Policy != rp.PolicyFor(row.Error) {
					t.Errorf("%s is retried by %v", row.Error, rule.Policy)
				}
			}
		}
		if found != 1 {
			t.Errorf("%d rules cover %s", found, row.Error)
		}
	}
	if unknown := rp.PolicyFor("NobodyKnows"); unknown != rp.PolicyFor(retry.StatesTaskFailed) || unknown.MaxAttempts != 2 {
		t.Errorf("an unknown error is retried by %v", unknown)
	}
}

func TestStateRules(t *testing.T) {
	t.Parallel()
	rows := []rp.Row{{Errors: []string{"A"}}, {Errors: []string{"B", "C"}, Policy: retry.Policy{MaxAttempts: 2}}}
	rules := rp.StateRetries{Rows: rows}.Rules()
	rows[1].Errors[0] = "changed"
	if len(rules) != 2 || !rules[0].Covers("A") || !rules[1].Covers("B") || rules[1].Policy.MaxAttempts != 2 {
		t.Errorf("%v", rules)
	}
}
