package pebble

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"stepback/engine/durable"
	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/journal"
)

// Checked counts what Check has read.
type Checked struct {
	Executions, Ended, Events, MapRuns, Definitions int
}

// Check reads everything in the store and calls problem for each defect: values that do not decode; histories whose
// IDs are not contiguous, that do not end with a terminal event, that have another terminal event not followed by a
// redrive, or that end differently from the description; steps of ended executions; and dangling references. It
// returns an error only if the store cannot be read at all.
func (j *Journal) Check(ctx context.Context, problem func(error)) (Checked, error) {
	c := &checker{j: j, ctx: ctx, tell: problem}
	for _, lost := range j.LostTails() {
		problem(lost)
	}
	if _, err := j.db.VerifyTables(ctx, problem); err != nil {
		return c.found, err
	}
	for it, err := range j.scan(ctx, "") {
		if err != nil {
			return c.found, err
		}
		if err := c.entry(string(it.Key()), it.Value()); err != nil {
			c.tell(err)
		}
	}
	return c.found, nil
}

type checker struct {
	j     *Journal
	ctx   context.Context //nolint:containedctx // of one call of Check
	tell  func(error)
	found Checked
	steps int64 // of the execution whose steps are being checked
	of    string
}

// documents is the prefix of the keys that belong to other components.
const documents = "d"

// entry checks one key and its value.
func (c *checker) entry(key string, value []byte) error {
	prefix, name := key, ""
	if len(key) >= len(executionPrefix) {
		prefix, name = key[:len(executionPrefix)], key[len(executionPrefix):]
	}
	switch prefix {
	case executionPrefix:
		return c.execution(name, value)
	case textsPrefix:
		return c.texts(key, name, value)
	case historyPrefix, eventsPrefix:
		return c.end(prefix, name, value)
	case stepPrefix:
		return c.step(name, value)
	case definitionPrefix:
		c.found.Definitions++
		d, err := unpack(value, key, func(raw []byte) (*journal.Definition, error) {
			return journal.DecodeDefinition(name, raw)
		})
		if err == nil && journal.NewDefinition(d.MachineName, d.RoleARN, d.Text, d.Express).ID != name {
			err = fmt.Errorf("the content of definition %s does not match its ID", name)
		}
		return err
	case mapRunPrefix:
		c.found.MapRuns++
		m, err := unpack(value, key, journal.DecodeMapRun)
		if err == nil {
			_, err = c.j.Execution(c.ctx, m.Execution)
		}
		return wrap(key, err)
	case ofPrefix:
		_, arn, _ := strings.Cut(name, "\x00")
		_, err := c.j.MapRun(c.ctx, arn)
		return wrap(key, err)
	case endPrefix:
		return c.stop(key)
	case indexPrefix:
		return c.listed(key)
	}
	if key != versionKey && key != indexedKey && key != groupsKey && !strings.HasPrefix(key, documents) {
		return fmt.Errorf("the key %q is not a key of stepback", key)
	}
	return nil
}

func wrap(what string, err error) error {
	if err != nil {
		err = fmt.Errorf("%q: %w", what, err)
	}
	return err
}

// execution checks a description and, if it has ended, its history.
func (c *checker) execution(arn string, value []byte) error {
	c.found.Executions++
	x, err := unpack(value, arn, c.j.executionOf(arn))
	if err != nil {
		return err
	}
	if x.ARN != arn {
		return fmt.Errorf("%s is kept as %s", x.ARN, arn)
	}
	if x.Definition != "" {
		if _, err := c.j.Definition(c.ctx, x.Definition); err != nil {
			c.tell(fmt.Errorf("%s: its definition: %w", arn, err))
		}
	}
	if !x.Ended() {
		return c.open(arn)
	}
	c.found.Ended++
	events, err := c.j.History(c.ctx, arn)
	if err != nil {
		return fmt.Errorf("%s: its history: %w", arn, err)
	}
	c.found.Events += len(events)
	return errors.Join(wrap(arn, wellFormed(x, events)), c.inLists(x))
}

// inLists checks that an ended execution is in the index.
func (c *checker) inLists(x *journal.Execution) error {
	if !c.j.indexed {
		return nil
	}
	for _, list := range journal.ListsOf(x) {
		key := appendIndex(nil, journal.ListID(list), statusBytes[x.Status], x.Start.UnixNano(), x.ARN)
		_, closer, err := c.j.db.Get(key)
		if err != nil {
			return fmt.Errorf("%s is not in the list of %s: %w", x.ARN, list, damaged(err))
		}
		if err := closer.Close(); err != nil {
			return err
		}
	}
	return nil
}

// listed checks an entry of the index.
func (c *checker) listed(key string) error {
	if len(key) < arnFrom {
		return fmt.Errorf("the key %q is not one of the index", key)
	}
	x, err := c.j.Execution(c.ctx, key[arnFrom:])
	if err != nil {
		return fmt.Errorf("the index has %s: %w", key[arnFrom:], err)
	}
	if statusBytes[x.Status] != key[listEnd] || x.Start.UnixNano() != startOf([]byte(key)) {
		return fmt.Errorf("the index has %s with a different status or start than its description", x.ARN)
	}
	return nil
}

// open checks that an execution which has not ended has steps.
func (c *checker) open(arn string) error {
	steps, err := c.j.steps(arn)
	if err != nil {
		return err
	}
	var all []history.Event
	for _, s := range steps {
		all = append(all, s.History...)
	}
	c.found.Events += len(all)
	if len(steps) == 0 {
		return fmt.Errorf("%s has not ended and has no steps", arn)
	}
	return wrap(arn, contiguous(all))
}

// end checks the entries that only ended executions have.
func (c *checker) end(prefix, arn string, value []byte) error {
	x, err := c.j.Execution(c.ctx, arn)
	if err != nil {
		return wrap(prefix+arn, err)
	}
	if !x.Ended() {
		return fmt.Errorf("%s has not ended and has more than its steps", arn)
	}
	if prefix == historyPrefix {
		return nil // checked with the description
	}
	_, err = unpack(value, arn, func(raw []byte) ([]history.Signal, error) {
		events, _, err := interpreter.DecodeSignals(raw)
		return events, err
	})
	return err
}

// step checks one step. Steps arrive in order.
func (c *checker) step(name string, value []byte) error {
	arn, number, _ := strings.Cut(name, "\x00")
	if arn != c.of {
		c.of, c.steps = arn, 0
		x, err := c.j.Execution(c.ctx, arn)
		if err != nil {
			c.tell(fmt.Errorf("steps of %s: %w", arn, err))
		} else if x.Ended() {
			c.tell(fmt.Errorf("%s has ended but still has steps", arn))
		}
	}
	if want := binary.BigEndian.AppendUint64(nil, uint64(c.steps)); !bytes.Equal([]byte(number), want) {
		c.tell(fmt.Errorf("%s: step %d is missing", arn, c.steps))
	}
	c.steps++
	_, err := unpack(value, arn, func(raw []byte) (journal.Step, error) {
		return journal.DecodeStep(raw, c.j.apart(arn))
	})
	return err
}

// texts checks the texts of an execution that are stored apart.
func (c *checker) texts(key, arn string, value []byte) error {
	if _, err := unpack(value, key, journal.DecodeTexts); err != nil {
		return err
	}
	x, err := read(c.j.view, executionPrefix, arn, decodeListed)
	if err == nil && x.FirstStep == 0 {
		err = errors.New("the execution does not refer to them")
	}
	if err != nil {
		err = fmt.Errorf("the texts stored apart of %s: %w", arn, err)
	}
	return err
}

// stop checks an entry of the list of execution ends.
func (c *checker) stop(key string) error {
	stamp := key[len(endPrefix):]
	if len(stamp) < 8 {
		return fmt.Errorf("the key %q is not the key of an end record", key)
	}
	x, err := c.j.Execution(c.ctx, stamp[8:])
	if err != nil {
		return fmt.Errorf("the end of %s: %w", stamp[8:], err)
	}
	if at := int64(binary.BigEndian.Uint64([]byte(stamp))); at != x.Stop.UnixNano() {
		return fmt.Errorf("%s ended at a different time than listed", x.ARN)
	}
	return nil
}

// wellFormed checks the history of an ended execution against its description.
func wellFormed(x *journal.Execution, events []history.Event) error {
	if err := contiguous(events); err != nil {
		return err
	}
	if n := int64(len(events)); n != x.HistorySize || n == 0 {
		return fmt.Errorf("its history has %d events, its description says %d", n, x.HistorySize)
	}
	for i := range events[:len(events)-1] {
		if events[i].Type.Terminal() && events[i+1].Type != history.ExecutionRedriven {
			return fmt.Errorf("event %d of %d is terminal: %s", i+1, len(events), events[i].Type)
		}
	}
	last := &events[len(events)-1]
	if want := terminal[x.Status]; last.Type != want {
		return fmt.Errorf("its history ends with %s, its description says %s", last.Type, x.Status)
	}
	output := last.Data
	if durable.IsARN(x.ARN) {
		d, err := durable.DetailsOf(last)
		if err != nil {
			return err
		}
		output = ""
		if d.Payload != nil {
			output = *d.Payload
		}
	}
	if x.Status == history.Succeeded && output != x.Output {
		return errors.New("the output in its history differs from that in its description")
	}
	if x.Stop.Before(x.Start) {
		return fmt.Errorf("it stopped at %s, before it started at %s", x.Stop, x.Start)
	}
	return nil
}

// terminal maps each status to the event that ends its history.
var terminal = map[history.Status]history.Type{
	history.Succeeded: history.ExecutionSucceeded, history.Failed: history.ExecutionFailed,
	history.TimedOut: history.ExecutionTimedOut, history.Aborted: history.ExecutionAborted,
}

// contiguous checks that IDs count from 1, that each event's previous event has a smaller ID, and that time does not
// go back.
func contiguous(events []history.Event) error {
	for i := range events {
		e := &events[i]
		switch {
		case e.ID != int64(i)+1:
			return fmt.Errorf("event number %d has the ID %d", i+1, e.ID)
		case e.Previous < 0 || e.Previous >= e.ID:
			return fmt.Errorf("event %d follows event %d", e.ID, e.Previous)
		case i > 0 && e.Time < events[i-1].Time:
			return fmt.Errorf("event %d is earlier than the one before", e.ID)
		}
	}
	return nil
}
