package retrymetrics

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"stepback/retry"
	"stepback/retrypatterns"
	"stepback/statemachine"
)

// The defaults of Step Functions for the fields of a retrier.
const (
	defaultMaxAttempts     = 3
	defaultIntervalSeconds = 1
	defaultBackoffRate     = 2.0
)

// maxWait bounds the reported waits, in seconds: no execution lasts longer than a year.
const maxWait = 366 * 24 * 3600

// Configuration summarises the Retry array of one state. It assumes that errors alternate: since each retrier
// counts its own retries, the retries and waits of all retriers add up.
type Configuration struct {
	State   string
	Retries int
	Wait    time.Duration // sum of all waits, each the longest that jitter permits
}

// Configurations extracts the Retry arrays of a definition in the Amazon States Language, including those inside
// Map and Parallel states. States without a Retry array are left out. The definition is not validated; it returns
// an error only for invalid JSON.
func Configurations(definition []byte) ([]Configuration, error) {
	var m graph
	if err := json.Unmarshal(definition, &m); err != nil {
		return nil, fmt.Errorf("state machine definition: %w", err)
	}
	return m.configurations(nil), nil
}

// BaseConfiguration returns the configuration of a state according to the default retry table. It returns false if
// the table does not contain the state.
func BaseConfiguration(state string) (Configuration, bool) {
	e, err := statemachine.DefaultTable().Explain(state)
	return Configuration{State: state, Retries: e.Retries, Wait: e.Wait.Max}, err == nil
}

// AddConfiguration counts the retry configurations of a state machine's states.
func (c *Collector) AddConfiguration(machine string, at time.Time, all []Configuration) {
	t := c.teller(machine)
	for _, s := range all {
		t.add(ConfiguredRetries, t.labels(s.State), at.UnixNano(), float64(s.Retries))
		t.add(ConfiguredWait, t.labels(s.State), at.UnixNano(), s.Wait.Seconds())
	}
	t.flush()
}

// graph is a definition, an ItemProcessor or a branch.
type graph struct {
	States map[string]struct {
		Retry         []retrier
		ItemProcessor *graph
		Iterator      *graph
		Branches      []*graph
	}
}

// retrier distinguishes a missing MaxAttempts from 0, which means no retries.
type retrier struct {
	retrypatterns.Retrier
	MaxAttempts *int
}

func (r retrier) policy() retry.Policy {
	full := r.Retrier
	full.IntervalSeconds = cmp.Or(full.IntervalSeconds, defaultIntervalSeconds)
	full.BackoffRate = cmp.Or(full.BackoffRate, defaultBackoffRate)
	full.MaxAttempts = defaultMaxAttempts
	if r.MaxAttempts != nil {
		full.MaxAttempts = *r.MaxAttempts
	}
	return full.Policy()
}

func (g *graph) configurations(out []Configuration) []Configuration {
	if g == nil {
		return out
	}
	for name, s := range g.States {
		if len(s.Retry) > 0 {
			c := Configuration{State: name}
			var wait float64 // in seconds, so that it does not overflow
			for _, r := range s.Retry {
				schedule := r.policy().Schedule()
				c.Retries += schedule.Retries
				wait += schedule.Total.Max.Seconds()
			}
			c.Wait = time.Duration(math.Round(min(wait, maxWait) * float64(time.Second)))
			out = append(out, c)
		}
		out = s.Iterator.configurations(s.ItemProcessor.configurations(out))
		for _, b := range s.Branches {
			out = b.configurations(out)
		}
	}
	return out
}
