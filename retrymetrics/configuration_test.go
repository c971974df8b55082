package retrymetrics_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"stepback/retrymetrics"
	"stepback/statemachine"
)

func TestConfigurations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ definition, want string }{
		"none":       {`{"States":{"A":{"Type":"Task"}}}`, "[]"},
		"defaults":   {`{"States":{"A":{"Retry":[{"ErrorEquals":["E"]}]}}}`, "[{A 3 7s}]"}, // 1 + 2 + 4
		"never":      {`{"States":{"A":{"Retry":[{"ErrorEquals":["E"],"MaxAttempts":0}]}}}`, "[{A 0 0s}]"},
		"adds up":    {`{"States":{"A":{"Retry":[{"MaxAttempts":1},{"MaxAttempts":2,"IntervalSeconds":10,"MaxDelaySeconds":15}]}}}`, "[{A 3 26s}]"},
		"nested":     {`{"States":{"M":{"ItemProcessor":{"States":{"A":{"Retry":[{"MaxAttempts":1}]}}}},"P":{"Branches":[{"States":{"B":{"Retry":[{"MaxAttempts":1}]}}}]}}}`, "[{A 1 1s} {B 1 1s}]"},
		"for ever":   {`{"States":{"A":{"Retry":[{"MaxAttempts":99999999,"IntervalSeconds":99999999,"BackoffRate":9}]}}}`, "[{A 99999999 8784h0m0s}]"},
		"null state": {`{"States":{"A":{"Branches":[null],"Iterator":null}}}`, "[]"},
	} {
		got, err := retrymetrics.Configurations([]byte(c.definition))
		slices.SortFunc(got, func(a, b retrymetrics.Configuration) int { return strings.Compare(a.State, b.State) })
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v %v, want %s", name, got, err, c.want)
		}
	}
	if _, err := retrymetrics.Configurations([]byte(`[`)); err == nil || !strings.HasPrefix(err.Error(),
		"state machine definition: ") {
		t.Errorf("%v", err)
	}
}

// The definition generated from the table has the table's configuration in every state.
func TestTheWrittenDefinitionIsTheBase(t *testing.T) {
	t.Parallel()
	o := statemachine.Substitutions()
	definition, err := statemachine.Definition(statemachine.DefaultTable(), o)
	if err != nil {
		t.Fatal(err)
	}
	all, err := retrymetrics.Configurations(definition)
	if err != nil || len(all) != len(statemachine.DefaultTable().States) {
		t.Fatalf("%v %v", all, err)
	}
	for _, c := range all {
		if base, ok := retrymetrics.BaseConfiguration(c.State); !ok || c != base {
			t.Errorf("%+v, base %+v", c, base)
		}
	}
	if _, ok := retrymetrics.BaseConfiguration("Nowhere"); ok {
		t.Error("a state that the table does not have has a base")
	}
}

func TestAddConfiguration(t *testing.T) {
	t.Parallel()
	var c retrymetrics.Collector
	c.AddConfiguration("m", time.Unix(90, 0), []retrymetrics.Configuration{{State: "Work", Retries: 4,
		Wait: 90 * time.Second}})
	for metric, want := range map[*retrymetrics.Metric]float64{retrymetrics.ConfiguredRetries: 4,
		retrymetrics.ConfiguredWait: 90} {
		got, err := retrymetrics.Statistic(c.Points(), metric.In(retrymetrics.ByState, "m", "Work"),
			retrymetrics.Maximum, time.Minute)
		if err != nil || len(got) != 1 || got[0].Value != want {
			t.Errorf("%s: %v %v, want %v", metric.Name(), got, err, want)
		}
	}
}
