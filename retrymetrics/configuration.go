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

// Step Functions' values for what a retrier leaves out.
const (
	defaultMaxAttempts     = 3
	defaultIntervalSeconds = 1
	defaultBackoffRate     = 2.0
)

// maxWait bounds what is shown, in seconds: no execution lasts longer than a year.
const maxWait = 366 * 24 * 3600

// Configuration is what the Retry array of one state allows when errors alternate: each retrier counts its own retries,
// so that retries and waits add up.
type Configuration struct {
	State   string
	Retries int
	Wait    time.Duration // all waits, each the longest that jitter leaves
}

// Configurations reads the Retry arrays of a definition in the Amazon States Language, those inside Map and Parallel
// states too. States without a Retry array are left out. The error is that of JSON: whether the definition is a valid
// one is not looked at.
func Configurations(definition []byte) ([]Configuration, error) {
	var m graph
	if err := json.Unmarshal(definition, &m); err != nil {
		return nil, fmt.Errorf("state machine definition: %w", err)
	}
	return m.configurations(nil), nil
}

// BaseConfiguration is what a state's Retry array allows by the default retry table, and whether the table has the
// state.
func BaseConfiguration(state string) (Configuration, bool) {
	e, err := statemachine.DefaultTable().Explain(state)
	return Configuration{State: state, Retries: e.Retries, Wait: e.Wait.Max}, err == nil
}

// AddConfiguration counts how a state machine's definition retries.
func (c *Collector) AddConfiguration(machine string, at time.Time, all []Configuration) {
	t := c.teller(machine)
	for _, s := range all {
		t.add(ConfiguredRetries, t.labels(s.State), at.UnixNano(), float64(s.Retries))
		t.add(ConfiguredWait, t.labels(s.State), at.UnixNano(), s.Wait.Seconds())
	}
	c.take(&t)
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

// retrier tells an absent MaxAttempts from 0, which means never.
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
			var wait float64 // seconds, which do not overflow
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
