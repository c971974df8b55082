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

	"stepback/csvimport"
	"stepback/csvimport/aggregate"
	"stepback/csvimport/database"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/retry"
	"stepback/retrymetrics"
	"stepback/retrypatterns"
	"stepback/statemachine"
)

// Report is the result of an import.
type Report struct {
	retried   map[string]int64 // retried rows by error, as AggregateResults reports them
	recovered int64            // of those, the applied ones

	Execution string `json:"execution"`
	Name      string `json:"name"`
	// Status is the status of the execution: SUCCEEDED, FAILED, TIMED_OUT or ABORTED. Earlier is true if it ended
	// before this call.
	Status  string `json:"status"`
	Earlier bool   `json:"earlier,omitempty"`
	Error   string `json:"error,omitempty"`
	Cause   string `json:"cause,omitempty"`
	// State is the state that failed the execution, if that was a task state.
	State string `json:"state,omitempty"`
	// File says how the file was read; nil if it was refused.
	File *File `json:"file,omitempty"`
	// Rows is nil if the file was refused before any row was read.
	Rows    *Rows   `json:"rows,omitempty"`
	Retries []Retry `json:"retries"`
	// Waited is the sum of all delays before retries, on the run's own clock. If several rows wait at the same
	// time, each of their delays counts in full. Elapsed is in real time.
	Waited  Seconds `json:"waitedSeconds"`
	Elapsed Seconds `json:"elapsedSeconds"`
	// Attempts = Succeeded + Failed + Unfinished. Unfinished attempts were running when their execution ended.
	Attempts   int64            `json:"attempts"`
	Succeeded  int64            `json:"succeededAttempts"`
	Failed     int64            `json:"failedAttempts"`
	Unfinished int64            `json:"unfinishedAttempts"`
	Injected   map[string]int   `json:"injectedFaults,omitempty"` // by STATE:ERROR
	Errors     map[string]int64 `json:"errors,omitempty"`         // rejected and dead-lettered rows by error name
	Outputs    Outputs          `json:"outputs"`
	// DeadLetter is the first dead letter, as an example; nil if there are none.
	DeadLetter *DeadLetter `json:"firstDeadLetter,omitempty"`
	// LeftOut are the rows of a corrections file that were not imported, because they had been redriven, discarded or
	// imported before; nil if there are none. Rows does not count them.
	LeftOut *csvimport.LeftOut `json:"leftOut,omitempty"`
}

// File is the form of an imported file, as ValidateCSVFile determined it.
type File struct {
	// Encoding is UTF-8, "UTF-8 with BOM" or Shift_JIS; Delimiter is comma, tab or semicolon.
	Encoding  string `json:"encoding"`
	Delimiter string `json:"delimiter"`
}

// Rows counts the file's rows by outcome. The four outcomes and NotStarted add up to Total.
type Rows struct {
	Total          int64 `json:"total"`
	Applied        int64 `json:"applied"`
	AlreadyApplied int64 `json:"alreadyApplied"`
	Rejected       int64 `json:"rejected"`
	DeadLettered   int64 `json:"deadLettered"`
	// NotStarted counts the rows of parts of the file that were not applied, because the Map failed before them.
	NotStarted    int64   `json:"notStarted,omitempty"`
	FailedPercent float64 `json:"failedPercentage"`
}

// Retry counts the failures of one state with one error, and their retries; docs/metrics.md defines each figure.
//
//	Failures = Retries + NotRetried + Exhausted + Interrupted
//	Retries  = Recovered + FailedAgain + Unfinished
type Retry struct {
	State string `json:"state"`
	Error string `json:"error"`
	// Pattern is the retry pattern, or the row of the state's table, that handles the error; empty if the error is
	// not retried.
	Pattern  string `json:"pattern"`
	Failures int64  `json:"failures"`
	Retries  int64  `json:"retries"`
	// NotRetried counts failures after which the task was given up because the error is not retried, or at the
	// first attempt. Exhausted counts failures after which it was given up after all retries. Interrupted counts
	// failures after which the execution ended.
	NotRetried  int64 `json:"notRetried"`
	Exhausted   int64 `json:"exhausted"`
	Interrupted int64 `json:"interrupted"`
	// Recovered counts retries that succeeded. FailedAgain counts retries that failed with any error. Unfinished
	// counts retries cut off by the end of the execution.
	Recovered   int64   `json:"recovered"`
	FailedAgain int64   `json:"failedAgain"`
	Unfinished  int64   `json:"unfinished"`
	Waited      Seconds `json:"waitedSeconds"`
}

// Outputs are the locations of the outputs.
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

// report builds the report of an ended execution.
func (p *Pipeline) report(ctx context.Context, x *journal.Execution, retries *retrymetrics.Counter) *Report {
	r := &Report{
		Execution: x.ARN, Name: x.Name, Status: string(x.Status), Retries: []Retry{},
		Outputs: Outputs{Notifications: filepath.Join(p.cfg.Dir, "notifications.jsonl"),
			Database: database.Mask(strings.TrimSuffix(p.cfg.Database, unsynced))},
	}
	events, err := p.journal.History(ctx, x.ARN)
	if err == nil {
		r.File = fileOf(events)
	}
	if x.Status != history.Succeeded {
		r.Error, r.Cause = x.Failure.Name, causeOf(x.Failure.Name, x.Failure.Cause)
		if err == nil && r.Error != statemachine.ToleranceExceeded {
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

// fileOf returns the form of the file from the last result of ValidateCSVFile; nil if there is none. It runs more than
// once for a large file, which may prove to be in another encoding.
func fileOf(events []history.Event) (file *File) {
	for i := range events {
		if events[i].Type.Step() != history.StepSucceeded {
			continue
		}
		if out := validated(events[i].Data); out.Encoding != "" {
			file = &File{Encoding: string(out.Encoding), Delimiter: out.Delimiter}
		}
	}
	return file
}

// retryOf converts a tally to a Retry, and adds the pattern that handles the error. If a failure was given up after
// retries, the history does not show that these were retries of another error. The retry table does, because it
// does not retry this error.
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

// injected returns the number of injected faults, by STATE:ERROR.
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

// addRows adds the rows and the locations of the outputs from the summary of AggregateResults, if it wrote one.
func (p *Pipeline) addRows(ctx context.Context, r *Report) {
	s, err := p.summary(ctx, r.Name)
	if err != nil {
		return
	}
	r.Rows = &Rows{
		Total: s.Rows, Applied: s.Applied, AlreadyApplied: s.AlreadyApplied, Rejected: s.Rejected,
		DeadLettered:  s.DeadLettered,
		NotStarted:    s.NotStarted,
		FailedPercent: s.FailedPercentage,
	}
	r.Errors, r.retried, r.recovered, r.LeftOut = s.Errors, s.Retried, s.Recovered, s.LeftOut
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

// path returns the path of an object in the embedded S3, where it is a plain file.
func (p *Pipeline) path(bucket, key string) string {
	if bucket == "" {
		return ""
	}
	return filepath.Join(p.cfg.Dir, "objects", bucket, filepath.FromSlash(key))
}

// Verdict is the conclusion of a report. It says what action the import requires.
type Verdict int

// The verdicts, from good to bad.
const (
	Complete    Verdict = iota // every row was applied
	NeedsPerson                // the file was refused, or some rows were rejected or dead-lettered
	Unsuccessful
)

// Verdict returns the conclusion of the report. A refused file needs a person, and so do rejected or dead-lettered
// rows, whether they are within the tolerance or not. An import is unsuccessful if it ended without an account of
// its rows.
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

// patternOf describes how a state retries an error. If the numbers of the table row that handles the error are
// exactly those of a pattern, it returns the pattern's name. Otherwise it returns the pattern of the error with a
// note that the row has its own numbers, or the row's policy if the error has no pattern. It returns "" if the
// error is not retried.
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

// handles reports whether a row's errors match a name by Step Functions' rules.
func handles(errors []string, name string) bool {
	for _, e := range errors {
		if e == name || e == retry.StatesTaskFailed && name != retry.StatesTimeout {
			return true
		}
	}
	return false
}
