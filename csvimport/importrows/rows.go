package importrows

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"stepback/csvimport"
	"stepback/internal/objectevent"
	"stepback/outbox/deadletters"
)

// Rows implements deadletters.Source.
type Rows struct {
	Objects csvimport.Objects
	// Bucket is where imports write their summaries, under output/NAME.
	Bucket string
	// Executions returns the outcome of imports that left no summary. If it is nil, their outcome is unknown.
	Executions Executions
	// ARN returns the ARN of an execution by its name; if it is nil, names are used unchanged.
	ARN func(name string) string

	mu      sync.Mutex
	listed  time.Time
	current *index
	imports map[string]*imported // by the summary's key
}

// Executions describes executions of the import.
type Executions interface {
	// Describe returns the state of the execution with this name, or deadletters.ErrNotFound.
	Describe(ctx context.Context, name string) (Execution, error)
}

// Execution is the state of an execution.
type Execution struct {
	Running      bool
	Error, Cause string
	Stopped      time.Time
}

// Reasons of letters, in addition to those in dead-letters.jsonl.
const (
	ReasonRejected     = "Rejected"     // the record violates a business rule
	ReasonImportFailed = "ImportFailed" // the import that should have redriven the row failed as a whole
)

const prefix = "row:"

// redriven is the prefix of the files that redrive rows, in the bucket that the rows came from.
const redriven = "redriven/"

// Kind implements deadletters.Source.
func (r *Rows) Kind() deadletters.Kind { return deadletters.KindRow }

// Owns implements deadletters.Source.
func (r *Rows) Owns(id string) bool { return strings.HasPrefix(id, prefix) }

// idOf returns the ID of the letter for a line of a file.
func idOf(file csvimport.Source, line int64) string {
	return prefix + objectevent.ExecutionName(file.Key, file.ETag) + ":" + strconv.FormatInt(line, 10)
}

// lineOf returns the file and the line in a letter's ID.
func lineOf(id string) (file string, line int64, err error) {
	at := strings.LastIndexByte(id, ':')
	if at <= len(prefix) {
		return "", 0, deadletters.ErrNotFound
	}
	if line, err = strconv.ParseInt(id[at+1:], 10, 64); err != nil {
		return "", 0, deadletters.ErrNotFound
	}
	return id[len(prefix):at], line, nil
}

// Each implements deadletters.Source.
func (r *Rows) Each(ctx context.Context, visit func(deadletters.Letter) error) error {
	x, err := r.index(ctx, true)
	if err != nil {
		return err
	}
	for _, im := range x.files {
		letters, err := r.letters(ctx, im)
		if err != nil {
			return err
		}
		for _, l := range letters {
			if err := visit(l); err != nil {
				return err
			}
		}
	}
	return nil
}

// Find implements deadletters.Source.
func (r *Rows) Find(ctx context.Context, id string) (deadletters.Letter, error) {
	file, line, err := lineOf(id)
	if err != nil {
		return deadletters.Letter{}, err
	}
	x, err := r.index(ctx, false)
	if err != nil {
		return deadletters.Letter{}, err
	}
	im := x.files[file]
	if im == nil {
		return deadletters.Letter{}, deadletters.ErrNotFound
	}
	letters, err := r.letters(ctx, im)
	if err != nil {
		return deadletters.Letter{}, err
	}
	l, ok := letters[line]
	if !ok {
		return l, deadletters.ErrNotFound
	}
	return l, nil
}

// CheckEdit implements deadletters.Source: the payload must be a record that the import would apply.
func (r *Rows) CheckEdit(_ *deadletters.Letter, payload []byte) error {
	record, err := readRecord(payload)
	if err == nil {
		_, err = record.Increment()
	}
	if err != nil {
		return &deadletters.BadActError{Why: "the edited record would be rejected: " + messageOf(err) +
			"; nothing was changed"}
	}
	return nil
}

func messageOf(err error) string { return csvimport.AsFailure(err).Message }

// Deliver implements deadletters.Source. The items become one file in each bucket that they come from. Repeating a
// delivery writes the same files, which the import recognises as repeats.
func (r *Rows) Deliver(ctx context.Context, d *deadletters.Delivery) []error {
	errs := make([]error, len(d.Items))
	done := map[string]error{}
	for i := range d.Items {
		bucket := bucketOf(&d.Items[i])
		err, ok := done[bucket]
		if !ok {
			text, _ := fileOf(d, bucket)
			at := csvimport.Location{Bucket: bucket, Key: redriven + d.ID + ".csv"}
			err = r.Objects.Put(ctx, at, strings.NewReader(text), int64(len(text)), "text/csv; charset=utf-8")
			done[bucket] = err
		}
		errs[i] = err
	}
	return errs
}

// Became implements deadletters.Source.
func (r *Rows) Became(ctx context.Context, d *deadletters.Delivery, i int) (deadletters.Letter, error) {
	bucket := bucketOf(&d.Items[i])
	key := redriven + d.ID + ".csv"
	l, found, err := r.afterImport(ctx, d, i, false)
	if found || err != nil {
		return l, err
	}
	name, execution, err := r.describe(ctx, csvimport.Location{Bucket: bucket, Key: key})
	if err != nil {
		return l, err
	}
	l = deadletters.Letter(d.Items[i].Found)
	l.State, l.Attempts, l.Execution = deadletters.Underway, 0, r.arn(name)
	if execution == nil || execution.Running {
		return l, nil
	}
	// The import has ended since the summaries were listed, or it left no summary.
	if l, found, err := r.afterImport(ctx, d, i, true); found || err != nil {
		return l, err
	}
	l.State, l.Reason, l.Error, l.Cause = deadletters.Dead, ReasonImportFailed, execution.Error, execution.Cause
	l.DeadAt, l.LastAttemptAt = execution.Stopped, execution.Stopped
	return l, nil
}

// describe returns the execution that imports a file; x is nil if there is none or it is unknown.
func (r *Rows) describe(ctx context.Context, at csvimport.Location) (name string, x *Execution, err error) {
	object, err := r.Objects.Get(ctx, at, "")
	if err != nil {
		return "", nil, nil // not written yet, or access is denied
	}
	defer object.Body.Close()
	name = objectevent.ExecutionName(at.Key, object.ETag)
	if r.Executions == nil {
		return name, nil, nil
	}
	found, err := r.Executions.Describe(ctx, name)
	switch {
	case err == nil:
		return name, &found, nil
	case errors.Is(err, deadletters.ErrNotFound):
		return name, nil, nil
	}
	return name, nil, fmt.Errorf("the import of %s: %w", at, err)
}

// afterImport returns the outcome of an item according to the summary of the import that redrove it.
func (r *Rows) afterImport(
	ctx context.Context, d *deadletters.Delivery, i int, fresh bool,
) (l deadletters.Letter, found bool, err error) {
	x, err := r.index(ctx, fresh)
	if err != nil {
		return l, false, err
	}
	bucket := bucketOf(&d.Items[i])
	im := x.deliveries[csvimport.Location{Bucket: bucket, Key: redriven + d.ID + ".csv"}]
	if im == nil {
		return l, false, nil
	}
	letters, err := r.letters(ctx, im)
	if err != nil {
		return l, false, err
	}
	_, lines := fileOf(d, bucket)
	if l, again := letters[lines[i]]; again {
		return l, true, nil
	}
	l = deadletters.Letter(d.Items[i].Found)
	l.State, l.Execution = deadletters.Delivered, r.arn(im.out.Execution)
	l.LastAttemptAt, l.DeadAt = im.out.EndTime, time.Time{}
	return l, true, nil
}

func (r *Rows) arn(name string) string {
	if r.ARN == nil || name == "" {
		return name
	}
	return r.ARN(name)
}
