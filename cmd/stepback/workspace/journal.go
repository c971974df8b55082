package workspace

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"stepback/cmd/stepback/terminal"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/journal/pebble"
)

// ReadJournal opens the journal of an existing data directory for reading, calls use, and closes the journal again.
// Nothing in the directory changes.
func ReadJournal(data string, use func(journal.Journal) error) error {
	return WithJournal(data, pebble.Config{ReadOnly: true}, func(j *pebble.Journal) error { return use(j) })
}

// WithJournal opens the journal of an existing data directory, calls use, and closes the journal again.
func WithJournal(data string, o pebble.Config, use func(*pebble.Journal) error) (err error) {
	dir := filepath.Join(data, "journal")
	if !terminal.Exists(dir) {
		return fmt.Errorf("there is no journal in %s; name the data directory of a run with --data", data)
	}
	o.MustExist = true
	j, err := pebble.Open(dir, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	return use(j)
}

// HistoryOf returns an execution's history: the complete history if it has ended, otherwise the events so far.
func HistoryOf(ctx context.Context, j journal.Journal, x *journal.Execution) ([]history.Event, error) {
	if x.Ended() {
		return j.History(ctx, x.ARN)
	}
	var events []history.Event
	for u, err := range j.Unfinished(ctx, x.ARN) {
		if err != nil {
			return nil, err
		}
		for _, s := range u.Steps {
			if u.ARN == x.ARN {
				events = append(events, s.History...)
			}
		}
	}
	return events, nil
}
