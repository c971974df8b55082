package decide

import (
	"errors"
	"fmt"
	"time"

	"stepback/retrypatterns"
)

// Subject describes one Task state of a state machine, as the controller may change it.
type Subject struct {
	// State is the state's name.
	State string
	// Base is the state's deployed Retry array.
	Base []retrypatterns.Retrier
	// Timeout is the state's timeout, and MachineTimeout the state machine's. 0 means none.
	Timeout, MachineTimeout time.Duration
	// Closed is true if the state runs inside a distributed Map, whose callers wait for their turn. Its retries are
	// never cut for load, because a waiting record frees capacity for another.
	Closed bool
}

// Validate returns an error for each reason that makes the subject unusable, all joined.
func (s Subject) Validate() error {
	var problems []error
	if s.State == "" {
		problems = append(problems, errors.New("decide: a subject has no state"))
	}
	for i, r := range s.Base {
		if len(r.ErrorEquals) == 0 || r.MaxAttempts < 0 || r.IntervalSeconds < 0 || r.MaxDelaySeconds < 0 {
			problems = append(problems,
				fmt.Errorf("decide: state %s, retrier %d: it has no error names or negative numbers", s.State, i+1))
		}
	}
	return errors.Join(problems...)
}

// Rules selects the rules that change the Retry arrays.
type Rules string

// The sets of rules.
const (
	// Standard selects R-cap, R-pay and R-stretch.
	Standard Rules = "standard"
	// SourceRules selects the rules of section 5.1 of the source design, see [StepsFor].
	SourceRules Rules = "source"
)

// Parameters are the constants of the rules. [Defaults] returns the values established in the laboratory.
type Parameters struct {
	Rules Rules
	// Overload is the share of attempts with evidence of overload (lower bound) from which R-cap acts.
	Overload float64
	// MapFailing is the share of load failures (lower bound) from which R-map halves the concurrency.
	MapFailing float64
	// Stretch is the share of load failures (lower bound) from which R-stretch acts; the source's 0.5.
	Stretch float64
	// Calm is the share of load failures (upper bound) below which a window is calm.
	Calm float64
	// CutDwell is the minimum time between any change and a cut. RestoreDwell is the minimum time between any
	// change and a restore. ReversalDwell is the minimum time between two reversals of direction.
	CutDwell, RestoreDwell, ReversalDwell time.Duration
	// ChangesAnHour bounds the changes of one state within any hour.
	ChangesAnHour int
	// WatchFor is the time during which the effect of a change is judged; Pause is the time without changes after a
	// roll-back.
	WatchFor, Pause time.Duration
	// PayFor is the time for which a retry that did not pay stays dropped before it is tried again.
	PayFor time.Duration
	// Hours is the load factor by hour of day that the source's rules use if the load is not measured; nil for none.
	Hours *Hours
}

// Defaults returns the parameters of the standard rules.
func Defaults() Parameters {
	return Parameters{
		Rules: Standard, Overload: 0.2, MapFailing: 0.3, Stretch: 0.5, Calm: 0.05,
		CutDwell: 7 * time.Minute, RestoreDwell: 30 * time.Minute, ReversalDwell: time.Hour, ChangesAnHour: 2,
		WatchFor: 30 * time.Minute, Pause: 24 * time.Hour, PayFor: 7 * 24 * time.Hour,
	}
}

// Validate returns an error for each parameter that is out of range, all joined. No parameters can weaken the
// guards below one window: a decision never uses measurements from before the last change.
func (p Parameters) Validate() error {
	var problems []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf("decide: "+format, args...))
		}
	}
	check(p.Rules == Standard || p.Rules == SourceRules, "Rules is %q; there are %q and %q", p.Rules, Standard,
		SourceRules)
	for _, f := range []struct {
		name string
		is   float64
	}{{"Overload", p.Overload}, {"MapFailing", p.MapFailing}, {"Stretch", p.Stretch}, {"Calm", p.Calm}} {
		check(f.is > 0 && f.is < 1, "%s is %v; it must be between 0 and 1", f.name, f.is)
	}
	check(p.Calm < p.Overload && p.Calm < p.MapFailing && p.Calm < p.Stretch,
		"Calm is %v; it must be below the shares that trigger a change", p.Calm)
	least := WindowSize*Minute + Age
	check(p.CutDwell >= least, "CutDwell is %v; it must be at least %v, a window and its age", p.CutDwell, least)
	check(p.RestoreDwell >= p.CutDwell, "RestoreDwell is %v; it must be at least CutDwell", p.RestoreDwell)
	check(p.ReversalDwell >= p.RestoreDwell, "ReversalDwell is %v; it must be at least RestoreDwell", p.ReversalDwell)
	check(p.ChangesAnHour >= 1 && p.ChangesAnHour <= 2, "ChangesAnHour is %d; it must be 1 or 2", p.ChangesAnHour)
	check(p.WatchFor >= 0 && p.Pause >= 0 && p.PayFor > 0, "WatchFor and Pause must be 0 or more, and PayFor above 0")
	return errors.Join(problems...)
}
