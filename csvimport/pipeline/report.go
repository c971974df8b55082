package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stepback/csvimport/aggregate"
	"stepback/csvimport/database"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/retry"
	"stepback/retrymetrics"
	"stepback/retrypatterns"
	"stepback/statemachine"
)

// Report is what an import came to.
type Report struct {
	retried   map[string]int64 // rows that were tried again, by error, as AggregateResults tells
	recovered int64            // of those, applied

	Execution string `json:"execution"`
	Name      string `json:"name"`
	// Status is that of the execution: SUCCEEDED, FAILED, TIMED_OUT or ABORTED. Earlier says that it ended before this
	// call.
	Status  string `json:"status"`
	Earlier bool   `json:"earlier,omitempty"`
	Error   string `json:"error,omitempty"`
	Cause   string `json:"cause,omitempty"`
	// State is the state that failed the execution, if it was a task.
	State string `json:"state,omitempty"`
	// Rows is nil when the file was refused before any row was read.
	Rows    *Rows   `json:"rows,omitempty"`
	Retries []Retry `json:"retries"`
	// Waited is the sum of all delays before retries, on the run's own clock; rows that wait at the same time each
	// count in full. Elapsed is real time.
	Waited  Seconds `json:"waitedSeconds"`
	Elapsed Seconds `json:"elapsedSeconds"`
	// Attempts = Succeeded + Failed + Unfinished, of which the last were under way when their execution ended.
	Attempts   int64            `json:"attempts"`
	Succeeded  int64            `json:"succeededAttempts"`
	Failed     int64            `json:"failedAttempts"`
	Unfinished int64            `json:"unfinishedAttempts"`
	Injected   map[string]int   `json:"injectedFaults,omitempty"` // by STATE:ERROR
	Errors     map[string]int64 `json:"errors,omitempty"`         // rejected and dead-lettered rows by error name
	Outputs    Outputs          `json:"outputs"`
	// DeadLetter is the first of the dead letters, an example to look at; nil when there are none.
	DeadLetter *DeadLetter `json:"firstDeadLetter,omitempty"`
}

// Rows counts the file's rows by outcome. The four outcomes add up to Total.
type Rows struct {
	Total          int64   `json:"total"`
	Applied        int64   `json:"applied"`
	AlreadyApplied int64   `json:"alreadyApplied"`
	Rejected       int64   `json:"rejected"`
	DeadLettered   int64   `json:"deadLettered"`
	FailedPercent  float64 `json:"failedPercentage"`
}

// Retry is what happened to one state under one error; docs/metrics.md defines each figure.
//
//	Failures = Retries + NotRetried + Exhausted + Interrupted
//	Retries  = Recovered + FailedAgain + Unfinished
type Retry struct {
	State string `json:"state"`
	Error string `json:"error"`
	// Pattern is the retry pattern, or the row of the state's table, that handles the error; empty when it is not
	// retried.
	Pattern  string `json:"pattern"`
	Failures int64  `json:"failures"`
	Retries  int64  `json:"retries"`
	// NotRetried is failures that were given up because the error is not retried, or at a task's first attempt,
	// Exhausted those given up after all retries, Interrupted those after which the execution ended.
	NotRetried  int64 `json:"notRetried"`
	Exhausted   int64 `json:"exhausted"`
	Interrupted int64 `json:"interrupted"`
	// Recovered is retries that succeeded, FailedAgain those that failed with whatever error, Unfinished those that the
	// execution's end cut off.
	Recovered   int64   `json:"recovered"`
	FailedAgain int64   `json:"failedAgain"`
	Unfinished  int64   `json:"unfinished"`
	Waited      Seconds `json:"waitedSeconds"`
}

// Outputs says where things are.
type Outputs struct {
	Summary       string `json:"summary,omitempty"`
	DeadLetters   string `json:"deadLetters,omitempty"`
	Corrections   string `json:"corrections,omitempty"`
	Notifications string `json:"notifications"`
	Database      string `json:"database"`
}

// Seconds is a duration that is written as seconds with three decimals.
type Seconds time.Duration

// MarshalJSON implements json.Marshaler.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%.3f", time.Duration(s).Seconds()), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Seconds) UnmarshalJSON(b []byte) error {
	var f float64
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	*s = Seconds(math.Round(f * float64(time.Second)))
	return nil
}

// report builds the report of an execution that has ended.
func (p *Pipeline) report(ctx context.Context, x *journal.Execution, retries *retrymetrics.Counter) *Report {
	r := &Report{
		Execution: x.ARN, Name: x.Name, Status: string(x.Status), Retries: []Retry{},
		Outputs: Outputs{Notifications: filepath.Join(p.cfg.Dir, "notifications.jsonl"),
			Database: database.Mask(strings.TrimSuffix(p.cfg.Database, unsynced))},
	}
	if x.Status != history.Succeeded {
		r.Error, r.Cause = x.Failure.Name, causeOf(x.Failure.Name, x.Failure.Cause)
		if events, err := p.journal.History(ctx, x.ARN); err == nil && r.Error != statemachine.ToleranceExceeded {
			r.State = failedState(events)
		}
	}
	p.addRows(ctx, r)
	for _, t := range retries.Tallies() {
		r.Retries = append(r.Retries, retryOf(t))
		r.Waited += Seconds(t.Waited)
	}
	all := retries.Attempts()
	r.Attempts, r.Succeeded, r.Failed, r.Unfinished = all.Started, all.Succeeded, all.Failed, all.Unfinished
	return r
}

// retryOf is a tally with the pattern that handles it. The history shows that a failure was given up after retries, but
// not that these were retries of another error; the retry table tells that this one is not retried.
func retryOf(t retrymetrics.Tally) Retry {
	r := Retry{
		State: t.State, Error: t.Error, Pattern: patternOf(t.State, t.Error), Failures: t.Failures, Retries: t.Retries,
		NotRetried: t.NotRetried, Exhausted: t.Exhausted, Interrupted: t.Interrupted, Recovered: t.Recovered,
		FailedAgain: t.FailedAgain, Unfinished: t.Unfinished, Waited: Seconds(t.Waited),
	}
	if r.Pattern == "" {
		r.NotRetried, r.Exhausted = r.NotRetried+r.Exhausted, 0
	}
	return r
}

// injected counts the faults that were injected, by STATE:ERROR.
func (p *Pipeline) injected() map[string]int {
	var by map[string]int
	for _, c := range p.platform.Faults.Counts() {
		if by == nil {
			by = map[string]int{}
		}
		by[c.State+":"+c.Error] += c.Injected
	}
	return by
}

// addRows takes the rows and the places of the outputs from the summary that AggregateResults wrote, if it did.
func (p *Pipeline) addRows(ctx context.Context, r *Report) {
	s, err := p.summary(ctx, r.Name)
	if err != nil {
		return
	}
	r.Rows = &Rows{
		Total: s.Rows, Applied: s.Applied, AlreadyApplied: s.AlreadyApplied, Rejected: s.Rejected,
		DeadLettered:  s.DeadLettered,
		FailedPercent: s.FailedPercentage,
	}
	r.Errors, r.retried, r.recovered = s.Errors, s.Retried, s.Recovered
	r.Outputs.Summary = p.path(s.Summary.Bucket, s.Summary.Key)
	r.Outputs.DeadLetters = p.path(s.DeadLetters.Bucket, s.DeadLetters.Key)
	r.Outputs.Corrections = p.path(s.Corrections.Bucket, s.Corrections.Key)
	if s.DeadLettered > 0 {
		r.DeadLetter = firstDeadLetter(r.Outputs.DeadLetters)
	}
}

// summary reads the summary object of an execution.
func (p *Pipeline) summary(_ context.Context, name string) (*aggregate.Output, error) {
	b, err := os.ReadFile(p.path(resultBucket, statemachine.OutputPrefix(name)+"/summary.json"))
	if err != nil {
		return nil, err
	}
	s := &aggregate.Output{}
	return s, json.Unmarshal(b, s)
}

// path is where the embedded S3 keeps an object, which is a plain file.
func (p *Pipeline) path(bucket, key string) string {
	if bucket == "" {
		return ""
	}
	return filepath.Join(p.cfg.Dir, "objects", bucket, filepath.FromSlash(key))
}

// Verdict is what a report means to whoever has to act on it.
type Verdict int

// The verdicts, from good to bad.
const (
	Complete    Verdict = iota // every row is applied
	NeedsPerson                // the file was refused, or some rows were rejected or dead-lettered
	Unsuccessful
)

// Verdict judges the report: a file that was refused, and rows that were rejected or dead-lettered, need a person, be
// they within the tolerance or not. An import is unsuccessful when it ended without an account of its rows.
func (r *Report) Verdict() Verdict {
	switch {
	case r.Status == string(history.Succeeded) && r.Rows != nil && r.Rows.Rejected+r.Rows.DeadLettered == 0:
		return Complete
	case r.Status == string(history.Succeeded), statemachine.IsRefusal(r.Error),
		r.Error == statemachine.ToleranceExceeded && r.Rows != nil:
		return NeedsPerson
	default:
		return Unsuccessful
	}
}

// patternOf names the pattern by which a state retries an error: that of the table's row which handles it, where the
// row has a pattern's numbers, or else the row's own numbers. It is empty when the error is not retried.
func patternOf(state, name string) string {
	s, ok := statemachine.DefaultTable().State(state)
	if !ok {
		return ""
	}
	for _, row := range s.Rows {
		if !handles(row.Errors, name) {
			continue
		}
		if row.Policy.MaxAttempts == 0 {
			return ""
		}
		for _, p := range retrypatterns.Patterns() {
			if p.Policy == row.Policy {
				return string(p.Name)
			}
		}
		if p, ok := retrypatterns.PatternFor(name); ok {
			return string(p.Name) + ", own numbers"
		}
		return row.Policy.String()
	}
	return ""
}

// handles reports whether a row's errors match a name as Step Functions matches them.
func handles(errors []string, name string) bool {
	for _, e := range errors {
		if e == name || e == retry.StatesTaskFailed && name != retry.StatesTimeout {
			return true
		}
	}
	return false
}
