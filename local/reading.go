package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"stepback/aws"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/journal"
	"stepback/engine/journal/pebble"
	"stepback/local/services/cloudwatch"
	"stepback/local/services/delivery"
	"stepback/local/services/documents"
	"stepback/local/services/stepfunctions"
)

// Reading is a data directory opened read-only: executions are not resumed, and nothing can be started.
type Reading struct {
	Journal       journal.Journal
	StepFunctions *stepfunctions.Service
	// Engine is the engine of the requested scope.
	Engine *engine.Engine

	closers []func() error
}

// Read opens a data directory that no process has open, for reading. StepFunctions supports the operations that list,
// describe and get; other operations fail, since nothing can be written.
func Read(ctx context.Context, dir string, scope aws.Scope) (_ *Reading, err error) {
	path := filepath.Join(dir, "journal")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no journal in %s; name the data directory of a run with --data", dir)
	}
	r := &Reading{}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	j, err := pebble.Open(path, pebble.Config{ReadOnly: true, MustExist: true})
	if err != nil {
		return nil, err
	}
	r.Journal = j
	r.closers = append(r.closers, j.Close)
	store, err := stepfunctions.Keep(ctx, j)
	if err != nil {
		return nil, err
	}
	now := clock.Real()
	r.closers = append(r.closers, func() error { now.Close(); return nil })
	engines := map[aws.Scope]*engine.Engine{}
	open := func(scope aws.Scope) (*engine.Engine, error) {
		if e := engines[scope]; e != nil {
			return e, nil
		}
		e, err := engine.New(engine.Config{Clock: now, Journal: j, Region: scope.Region, Account: scope.Account})
		if err == nil {
			engines[scope] = e
			r.closers = append(r.closers, func() error { e.Close(); return nil })
		}
		return e, err
	}
	if r.Engine, err = open(scope); err != nil {
		return nil, err
	}
	r.StepFunctions = stepfunctions.New(stepfunctions.Config{
		Open: open, Store: store, Now: time.Now, Default: scope, Log: slog.New(slog.DiscardHandler),
	})
	return r, nil
}

// Close closes everything that Read opened.
func (r *Reading) Close() error {
	var errs []error
	for i := len(r.closers) - 1; i >= 0; i-- {
		errs = append(errs, r.closers[i]())
	}
	r.closers = nil
	return errors.Join(errs...)
}

// ReadCloudWatch opens the CloudWatch of a data directory that no process has open, and returns its API. Alarms are not
// evaluated. close must be called when the API is no longer used.
func ReadCloudWatch(dir string, scope aws.Scope) (api http.Handler, closing func() error, err error) {
	path := filepath.Join(dir, "documents")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("there are no alarms and dashboards in %s; name the data directory of stepback serve with --data", dir)
	}
	store, err := documents.Open(path, nil)
	if err != nil {
		return nil, nil, err
	}
	now := clock.Real()
	s, err := cloudwatch.Open(cloudwatch.Options{Documents: store, Clock: now, Targets: &delivery.Targets{},
		Scope: scope})
	if err != nil {
		now.Close()
		return nil, nil, errors.Join(err, store.Close())
	}
	return s.Handler(), func() error {
		err := errors.Join(s.Close(), store.Close())
		now.Close()
		return err
	}, nil
}
