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

// Version is that of the format.
const Version = 1

// Configuration is what the functions of one state machine are told.
type Configuration struct {
	// Version is the format's; Machine is the state machine's name.
	Version int    `json:"version"`
	Machine string `json:"machine"`
	// At is when it was measured; nobody goes by it from Until on.
	At    time.Time `json:"at"`
	Until time.Time `json:"until"`
	// Value is what a task that succeeds is worth, in USD.
	Value float64 `json:"value"`
	// States are the Task states with a Retry array, by name.
	States map[string]State `json:"states"`
	// Model estimates the chance of a retry where it knows all features of it; nil for none.
	Model *predict.Model `json:"model,omitempty"`
}

// State is one Task state: its retries by the error name before them, as retriers name errors. The first is the first
// retry of the error, and there are as many as the retrier allows.
type State map[string][]Retry

// Retry is what is known of one retry.
type Retry struct {
	// Started retries and how many Succeeded; effective numbers, with the retries of one outage counted once.
	Started   float64 `json:"started"`
	Succeeded float64 `json:"succeeded"`
	// Cost of the retry in USD: its transition, its invocation, and its delay.
	Cost float64 `json:"cost"`
}

// Validate reports everything that makes a configuration unusable, joined.
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

// Decode reads the JSON of a configuration. One of another version, or with numbers that cannot be, is an error.
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

// sufficient is the effective number of retries from which they are judged.
const sufficient = 20

// Attempt is an attempt that has failed.
type Attempt struct {
	// State is the state's name, Error the name of the error.
	State, Error string
	// Retries is how many retries there have been: 0 after the first attempt.
	Retries int
	// Began is when the state was entered, Failed when the attempt failed; zero when they are not known.
	Began, Failed time.Time
	// Bytes is the size of the input.
	Bytes int
	// FailureRate is the callee's of late, Load its load against its limit, both 0 to 1; nil when not known.
	FailureRate, Load *float64
}

// Decide says whether another attempt is worth its cost. The chance is the model's where there is one that knows all
// features of the attempt, and else the upper 95 % bound of what was measured, so that only what even an optimist loses
// by is given up. It is false when nothing is known; then the attempt is to be retried as the definition says.
func (c *Configuration) Decide(a Attempt) (worth.Decision, bool) {
	retries, ok := c.retries(a)
	if !ok || a.Retries < 0 || a.Retries >= len(retries) {
		return worth.Decision{Retry: true}, false
	}
	r := retries[a.Retries]
	cost := worth.Cost{Transition: r.Cost}
	if c.Model != nil {
		if p, complete := c.Model.Predict(a.example()); complete {
			return worth.Decide(p, c.Value, cost), true
		}
	}
	if r.Started < sufficient {
		return worth.Decision{Retry: true}, false
	}
	return worth.Decide(decide.Share{Of: r.Started, Have: r.Succeeded}.High(), c.Value, cost), true
}

// retries are those of an attempt's state and error: by its name, or by the names that stand for many.
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

// example is what a model looks at.
func (a Attempt) example() predict.Example {
	bytes := float64(a.Bytes)
	e := predict.Example{
		At: a.Failed, Error: a.Error, Attempt: a.Retries + 1, FailureRate: a.FailureRate, Load: a.Load, Bytes: &bytes,
	}
	if !a.Began.IsZero() && a.Failed.After(a.Began) {
		e.SinceFirst = a.Failed.Sub(a.Began).Seconds()
	}
	return e
}
