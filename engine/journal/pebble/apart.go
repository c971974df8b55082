package pebble

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"stepback/engine/history"
	"stepback/engine/journal"
)

// textsApart returns the texts of an execution that are stored apart. The record of its first step writes them, and
// they stay until the execution is removed. Its description, first step and history refer to them, so that its input
// is compressed and written once, and not in each of these. EXPRESS executions are written only once anyway.
func textsApart(r *journal.Record) []string {
	switch x := r.Execution; {
	case x.Express:
		return nil
	case r.Begin:
		return x.LongTexts(r.History)
	case r.Past != nil:
		return x.LongTexts(r.Past.History)
	case r.End:
		return x.LongTexts(r.All)
	}
	return nil // a step in the middle rarely repeats a text of the first one
}

// apart returns the texts of an execution that are stored apart.
func (v view) apart(arn string) history.Apart {
	t := &texts{from: v, arn: arn}
	return t.text
}

// texts holds the texts of an execution that are stored apart. They are read when the first of them is needed.
type texts struct {
	from view
	arn  string
	all  []string
}

func (t *texts) text(number int) (string, error) {
	if t.all == nil {
		all, err := read(t.from, textsPrefix, t.arn, journal.DecodeTexts)
		if errors.Is(err, journal.ErrNotFound) {
			err = t.missing()
		}
		if err != nil {
			return "", fmt.Errorf("the texts stored apart: %w", err)
		}
		t.all = all
	}
	if number >= len(t.all) {
		return "", errTruncated
	}
	return t.all[number], nil
}

// missing returns the error for texts that are not stored: the execution has been removed since its description was
// read, or its texts are lost.
func (t *texts) missing() error {
	_, closer, err := t.from.from.Get([]byte(executionPrefix + t.arn))
	switch {
	case errors.Is(err, pebble.ErrNotFound):
		return fmt.Errorf("%w: %s", journal.ErrNotFound, t.arn)
	case err != nil:
		return damaged(err)
	}
	return errors.Join(fmt.Errorf("%w: those of %s are missing", journal.ErrDamaged, t.arn), closer.Close())
}
