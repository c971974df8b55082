package importrows

import (
	"context"
	"encoding/json"
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

	mu        sync.Mutex
	listed    time.Time
	current   *index
	imports   map[string]*imported // by the summary's key
	described map[string]described // by the name that this version gives the file's first execution
}

// Executions describes executions of the import.
type Executions interface {
	// Describe returns the state of the execution with this name, or deadletters.ErrNotFound.
	Describe(ctx context.Context, name string) (Execution, error)
	// Start starts an execution with the same input as another one. It has no effect if the name is in use.
	Start(ctx context.Context, of, name string) error
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

const prefix = csvimport.LetterPrefix

// redriven is the prefix of the files that redrive rows, in the bucket that the rows came from.
const redriven = "redriven/"

// Kind implements deadletters.Source.
func (r *Rows) Kind() deadletters.Kind { return deadletters.KindRow }

// Owns implements deadletters.Source.
func (r *Rows) Owns(id string) bool { return strings.HasPrefix(id, prefix) }

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
		letters, _, err := r.letters(ctx, im)
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
	letters, _, err := r.letters(ctx, im)
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
			text := fileOf(d, bucket)
			at := csvimport.Location{Bucket: bucket, Key: redriven + d.ID + ".csv"}
			err = r.Objects.Put(ctx, at, strings.NewReader(text), int64(len(text)), "text/csv; charset=utf-8")
			done[bucket] = err
		}
		errs[i] = err
	}
	return errs
}

// carrierOf returns the file that carries a delivery of Enlist; ok is false for a delivery of a redrive.
func carrierOf(d *deadletters.Delivery) (file csvimport.Source, ok bool) {
	if d.Carrier == "" {
		return file, false
	}
	return file, json.Unmarshal([]byte(d.Carrier), &file) == nil
}

// Became implements deadletters.Source.
func (r *Rows) Became(ctx context.Context, d *deadletters.Delivery, i int) (deadletters.Letter, error) {
	l, found, err := r.afterImport(ctx, d, i, false)
	if found || err != nil {
		return l, err
	}
	x, err := r.describe(ctx, d, bucketOf(&d.Items[i]))
	if err != nil {
		return l, err
	}
	l = deadletters.Letter(d.Items[i].Found)
	l.State, l.Attempts, l.Execution = deadletters.Underway, 0, r.arn(x.name)
	if !x.known || x.Running {
		return l, nil
	}
	// The import has ended since the summaries were listed, or it left no summary.
	if l, found, err := r.afterImport(ctx, d, i, true); found || err != nil {
		return l, err
	}
	l.State, l.Reason, l.Error, l.Cause = deadletters.Dead, ReasonImportFailed, x.Error, x.Cause
	l.DeadAt, l.LastAttemptAt, l.Undecided = x.Stopped, x.Stopped, true
	return l, nil
}

// Resume implements deadletters.Resumer: it starts another execution for the same files, which applies no row twice.
func (r *Rows) Resume(ctx context.Context, d *deadletters.Delivery) error {
	done := map[string]bool{}
	for i := range d.Items {
		bucket := bucketOf(&d.Items[i])
		if done[bucket] {
			continue
		}
		done[bucket] = true
		_, found, err := r.afterImport(ctx, d, i, true)
		if err != nil {
			return err
		}
		x, err := r.describe(ctx, d, bucket)
		if err != nil {
			return err
		}
		if found || !x.known || x.Running {
			continue
		}
		if err := r.Executions.Start(ctx, x.name, objectevent.Numbered(x.first, x.n+1)); err != nil {
			return fmt.Errorf("the import of %s cannot be started again: %w", x.file, err)
		}
		r.mu.Lock()
		delete(r.described, x.cached)
		r.mu.Unlock()
	}
	return nil
}

// described is the last execution that imports a file.
type described struct {
	Execution
	file        csvimport.Location
	first, name string // the names of the file's first and last executions
	cached      string // the key of the entry in Rows.described
	n           int    // number of the last one, from 1
	known       bool   // false if there is none, or it is not known
	at          time.Time
}

// describe returns the last execution that imports the file of a delivery.
func (r *Rows) describe(ctx context.Context, d *deadletters.Delivery, bucket string) (described, error) {
	x := described{file: csvimport.Location{Bucket: bucket, Key: redriven + d.ID + ".csv"}}
	file, ok := carrierOf(d)
	if ok {
		x.file = csvimport.Location{Bucket: file.Bucket, Key: file.Key}
	} else {
		object, err := r.Objects.Get(ctx, x.file, "")
		if err != nil {
			return x, nil
		}
		_ = object.Body.Close()
		file = csvimport.Source{Bucket: x.file.Bucket, Key: x.file.Key, ETag: object.ETag}
	}
	x.first = objectevent.ExecutionName(file.Bucket, file.Key, file.ETag)
	x.name, x.cached = x.first, x.first
	if r.Executions == nil {
		return x, nil
	}
	r.mu.Lock()
	before, ok := r.described[x.cached]
	r.mu.Unlock()
	if ok && time.Since(before.at) < staleness {
		return before, nil
	}
	x.at = time.Now()
	for _, first := range []string{x.first, objectevent.EarlierExecutionName(file.Key, file.ETag)} {
		for {
			name := objectevent.Numbered(first, x.n+1)
			found, err := r.Executions.Describe(ctx, name)
			if errors.Is(err, deadletters.ErrNotFound) {
				break
			}
			if err != nil {
				return x, fmt.Errorf("the import of %s: %w", x.file, err)
			}
			x.Execution, x.first, x.name, x.known = found, first, name, true
			x.n++
		}
		if x.known {
			break
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.described == nil {
		r.described = map[string]described{}
	}
	r.described[x.cached] = x
	return x, nil
}

// afterImport returns the outcome of an item according to the summary of the import that carried it.
func (r *Rows) afterImport(
	ctx context.Context, d *deadletters.Delivery, i int, fresh bool,
) (l deadletters.Letter, found bool, err error) {
	x, err := r.index(ctx, fresh)
	if err != nil {
		return l, false, err
	}
	it := &d.Items[i]
	bucket := bucketOf(it)
	im := x.deliveries[csvimport.Location{Bucket: bucket, Key: redriven + d.ID + ".csv"}]
	carrier, carried := carrierOf(d)
	if carried {
		im = x.versions[carrier.Normal()]
	}
	if im == nil {
		return l, false, nil
	}
	own, failed, err := r.letters(ctx, im)
	if err != nil {
		return l, false, err
	}
	l, again := failed[it.ID]
	if !again && !carried { // the file of an earlier version has no letters
		l, again = own[linesOf(d, bucket)[i]]
	}
	switch {
	case again && carried:
		before, _ := readRecord(it.Found.Payload)
		after, _ := readRecord(l.Payload)
		if after != before {
			l.Edited = l.Payload
		}
		return l, true, nil
	case again:
		return l, true, nil
	}
	l = deadletters.Letter(it.Found)
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
