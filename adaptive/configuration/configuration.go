package configuration

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"stepback/adaptive/controller/decide"
	"stepback/adaptive/predict"
	"stepback/adaptive/worth"
)

// Version is the version of the format.
const Version = 1

// Configuration holds the retry statistics that the controller publishes to the functions of one state machine.
type Configuration struct {
	// Version is the format's version; Machine is the state machine's name.
	Version int    `json:"version"`
	Machine string `json:"machine"`
	// At is when the values were measured. Until is the time from which readers ignore the configuration.
	At    time.Time `json:"at"`
	Until time.Time `json:"until"`
	// Value is the worth of a task that succeeds, in USD.
	Value float64 `json:"value"`
	// States holds the Task states with a Retry array, by name.
	States map[string]State `json:"states"`
	// Model estimates a retry's chance of success if it predicts better than the base rate and knows all features of
	// the retry; nil for none.
	Model *predict.Model `json:"model,omitempty"`
}

// State holds the retries of one Task state by the name of the error that precedes them, as written in the retriers.
// The first entry of a list is the first retry after the error, and a list is as long as the retrier's MaxAttempts.
type State map[string][]Retry

// Retry holds the statistics of one retry.
type Retry struct {
	// Started is the number of retries, and Succeeded is the number of them that succeeded. Both are effective
	// numbers: the retries of one outage count once.
	Started   float64 `json:"started"`
	Succeeded float64 `json:"succeeded"`
	// Cost is the retry's cost in USD: its transition, its invocation, and its delay.
	Cost float64 `json:"cost"`
}

// Validate returns an error for each reason that makes the configuration unusable, all joined.
func (c *Configuration) Validate() error {
	var problems []error
	if c.Version != Version {
		return fmt.Errorf("configuration: it has version %d; this program reads version %d", c.Version, Version)
	}
	if c.Machine == "" {
		problems = append(problems, errors.New("configuration: it names no state machine"))
	}
	if !(c.Value >= 0) || math.IsInf(c.Value, 0) {
		problems = append(problems,
			fmt.Errorf("configuration: the value of a success is %v; it must be USD, 0 or more", c.Value))
	}
	for state, errs := range c.States {
		for name, retries := range errs {
			for i, r := range retries {
				if !(r.Started >= 0) || !(r.Succeeded >= 0) || r.Succeeded > r.Started || !(r.Cost >= 0) ||
					math.IsInf(r.Started, 0) || math.IsInf(r.Cost, 0) {
					problems = append(problems,
						fmt.Errorf("configuration: retry %d after %s in state %s is %+v", i+1, name, state, r))
				}
			}
		}
	}
	if c.Model != nil {
		problems = append(problems, c.Model.Check())
	}
	return errors.Join(problems...)
}

// Decode decodes a configuration from JSON. It returns an error if the version differs or a number is impossible.
func Decode(text []byte) (*Configuration, error) {
	var c Configuration
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("configuration: it cannot be read: %w", err)
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &c, nil
}

// sufficient is the effective number of retries from which their success rate is used.
const sufficient = 20

// Attempt describes an attempt that has failed.
type Attempt struct {
	// State is the state's name, Error the name of the error.
	State, Error string
	// Retries is the number of retries so far: 0 after the first attempt.
	Retries int
	// Began is when the state was entered, and Failed is when the attempt failed. Both are zero if unknown.
	Began, Failed time.Time
	// Bytes is the size of the input.
	Bytes int
	// FailureRate is the callee's recent failure rate. Load is its load relative to its limit. Both are 0 to 1, and
	// nil if unknown.
	FailureRate, Load *float64
	// FailingFor is the time in seconds since a call of the callee succeeded; nil if unknown.
	FailingFor *float64
}

// Decide reports whether another attempt is worth its cost. The chance of success comes from the model if there is
// one that predicts better than the base rate and knows all features of the attempt; the decision's reason then names
// the model. Otherwise it comes from the upper 95 % bound of the measurements, so that a retry is given up only if even
// an optimist would lose by it. It returns false if nothing is known; the attempt is
// then to be retried as the definition says.
func (c *Configuration) Decide(a Attempt) (worth.Decision, bool) {
	retries, ok := c.retries(a)
	if !ok || a.Retries < 0 || a.Retries >= len(retries) {
		return worth.Decision{Retry: true}, false
	}
	r := retries[a.Retries]
	cost := worth.Cost{Transition: r.Cost}
	if c.Model != nil && c.Model.BeatsBaseRate() {
		if p, complete := c.Model.Predict(a.example()); complete {
			d := worth.Decide(p, c.Value, cost)
			d.Reason += fmt.Sprintf(" (chance estimated by the model %s of %s)", c.Model.Kind,
				c.Model.To.UTC().Format(time.DateOnly))
			return d, true
		}
	}
	if r.Started < sufficient {
		return worth.Decision{Retry: true}, false
	}
	return worth.Decide(decide.Share{Of: r.Started, Have: r.Succeeded}.High(), c.Value, cost), true
}

// retries returns the retries for an attempt's state and error. The error matches by its own name, or by a
// wildcard.
func (c *Configuration) retries(a Attempt) ([]Retry, bool) {
	for _, name := range []string{a.Error, "States.TaskFailed", "States.ALL"} {
		if name == "States.TaskFailed" && a.Error == "States.Timeout" {
			continue
		}
		if retries, ok := c.States[a.State][name]; ok {
			return retries, true
		}
	}
	return nil, false
}

// example returns the features of the attempt for a model.
func (a Attempt) example() predict.Example {
	bytes := float64(a.Bytes)
	e := predict.Example{
		At: a.Failed, Error: a.Error, Attempt: a.Retries + 1, FailureRate: a.FailureRate, Load: a.Load,
		FailingFor: a.FailingFor, Bytes: &bytes,
	}
	if !a.Began.IsZero() && a.Failed.After(a.Began) {
		e.SinceFirst = a.Failed.Sub(a.Began).Seconds()
	}
	return e
}
