package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/local/services/delivery"
	"stepback/local/services/documents"
	"stepback/local/services/lanes"
)

// Options are the settings of a Dispatcher. Store, Table, Clock and Send are required.
type Options struct {
	// Store stores the letters, in the table named Table.
	Store *documents.Store
	Table string
	Clock *clock.Clock
	// Send delivers a letter to its target, and returns when the target has durably accepted it. The error is an
	// *aws.Error, a *Later, or ctx's.
	Send func(ctx context.Context, l *Letter) error
	// Letterbox delivers dead letters.
	Letterbox func(ctx context.Context, queue string, m *delivery.Message) error
	// BuriesInRole makes deliveries to dead-letter queues use the role of the letter, instead of being made by the
	// service itself.
	BuriesInRole bool
	// DeadAttributes returns attributes for the dead-letter queue, which replace those of EventBridge; nil means none.
	DeadAttributes func(l *Letter) map[string]delivery.Attribute
	// Direct reports whether the target of an ARN accepts letters immediately and durably. Such letters are not
	// stored first.
	Direct func(arn string) bool
	// Lane returns the lane of a letter: the letters of a lane never delay those of another one. nil means a lane for
	// each target.
	Lane func(l *Letter) string
	// PerTarget and Total bound the stored letters of one lane and of all; the defaults are those of package lanes.
	PerTarget, Total lanes.Bound
	// Died is called for a letter that its target did not accept, once there are no more attempts. buried reports
	// whether the letter is in its dead-letter queue. Died may be nil.
	Died func(l *Letter, buried bool)
	// Log receives letters that are dropped; nil discards them.
	Log *slog.Logger
}

// Dispatcher delivers letters. It is safe for concurrent use.
type Dispatcher struct {
	o     Options
	table *documents.Table
	lanes lanes.Lanes[turn]
}

// turn is a letter whose turn it is. letter is nil if it has to be read from the store.
type turn struct {
	id     string
	letter *Letter
}

// patience is the maximum time for which a letter in flight holds virtual time.
const patience = 10 * time.Second

// Open returns a dispatcher of the stored letters. It continues with them when Resume is called.
func Open(o Options) *Dispatcher {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Lane == nil {
		o.Lane = func(l *Letter) string { return l.To }
	}
	d := &Dispatcher{o: o, table: o.Store.Table(o.Table)}
	d.lanes = lanes.New(lanes.Options[turn]{Clock: o.Clock, Run: d.run, Patience: patience, PerLane: o.PerTarget,
		Total: o.Total, Waiting: func(t turn) turn { return turn{id: t.id} }})
	return d
}

// Resume continues with the letters of an earlier process. Call it once, when their targets are available.
func (d *Dispatcher) Resume() error {
	return d.table.Scan("", func(id string, text []byte) error {
		l, err := decode(text)
		if err != nil {
			return err
		}
		d.lanes.Restore(d.o.Lane(l), l.size)
		d.at(l)
		return nil
	})
}

// Close ends the running deliveries and waits for them. Undelivered letters are kept for the next process.
func (d *Dispatcher) Close() { d.lanes.Close() }

// Pending returns the number of letters that wait for another attempt.
func (d *Dispatcher) Pending() int { return d.lanes.Delayed() }

// Accept accepts letters. When it returns nil, they will be delivered at least once, and direct targets have had
// their first attempt. also adds further changes to the batch, which are then stored too; it may be nil. If it returns
// a *FullError, nothing has been accepted.
//
// Direct targets get their letters before anything is stored: what also adds may say that the letters are accepted (the
// time at which a schedule last ran, the position of a replay), so the effect must not be missing from the disk when
// that is on it. A process that is killed in between sends the letters again.
func (d *Dispatcher) Accept(ctx context.Context, letters []*Letter, also func(*documents.Batch)) error {
	var direct, kept []*Letter
	now := d.o.Clock.Now().UnixMilli()
	for _, l := range letters {
		l.ID, l.Born = aws.NewID(), now
		if d.o.Direct != nil && d.o.Direct(l.To) {
			direct = append(direct, l)
		} else {
			kept = append(kept, l)
		}
	}
	texts, err := d.reserve(kept)
	if err != nil {
		return err
	}
	failed := d.firstAttempts(ctx, direct)
	for _, l := range failed {
		text, err := l.encode()
		if err != nil {
			d.forget(kept)
			return err
		}
		texts = append(texts, text)
	}
	if err := d.keep(slices.Concat(kept, failed), texts, also); err != nil {
		d.forget(kept)
		return err
	}
	for _, l := range failed {
		d.lanes.Restore(d.o.Lane(l), l.size)
		d.at(l)
	}
	for _, l := range kept {
		d.lanes.Ready(d.o.Lane(l), turn{l.ID, l})
	}
	return nil
}

// firstAttempts tries letters that are not stored yet, all at the same time, and returns those that have to be retried.
func (d *Dispatcher) firstAttempts(ctx context.Context, letters []*Letter) (failed []*Letter) {
	ctx = context.WithoutCancel(ctx)
	done := make([]bool, len(letters))
	var attempts sync.WaitGroup
	for i, l := range letters {
		if i == len(letters)-1 {
			done[i] = d.attempt(ctx, l)
		} else {
			attempts.Go(func() { done[i] = d.attempt(ctx, l) })
		}
	}
	attempts.Wait()
	for i, l := range letters {
		if !done[i] {
			failed = append(failed, l)
		}
	}
	return failed
}

// reserve encodes letters and counts them towards the limits.
func (d *Dispatcher) reserve(letters []*Letter) ([][]byte, error) {
	texts := make([][]byte, len(letters))
	for i, l := range letters {
		var err error
		if texts[i], err = l.encode(); err == nil {
			err = d.lanes.Reserve(d.o.Lane(l), l.size)
		}
		if err != nil {
			d.forget(letters[:i])
			if full, ok := errors.AsType[*lanes.FullError](err); ok {
				err = &FullError{full}
			}
			return nil, err
		}
	}
	return texts, nil
}

// forget ends the reservations of letters.
func (d *Dispatcher) forget(letters []*Letter) {
	for _, l := range letters {
		d.lanes.Forget(d.o.Lane(l), l.size)
	}
}

// keep stores letters and further changes, and waits for the disk.
func (d *Dispatcher) keep(letters []*Letter, texts [][]byte, also func(*documents.Batch)) error {
	if len(letters) == 0 && also == nil {
		return nil
	}
	b, err := d.o.Store.Begin()
	if err != nil {
		return err
	}
	for i, l := range letters {
		b.Put(d.table, l.ID, texts[i])
	}
	if also != nil {
		also(b)
	}
	return b.Apply()()
}

// run makes an attempt to deliver a letter in its turn.
func (d *Dispatcher) run(ctx context.Context, t turn) {
	if err := d.carry(ctx, t.id, t.letter); err != nil && ctx.Err() == nil {
		d.o.Log.Error("a letter is kept and not delivered", "letter", t.id, "error", err.Error())
	}
}

// carry makes an attempt to deliver a letter, and stores the result.
func (d *Dispatcher) carry(ctx context.Context, id string, l *Letter) error {
	if l == nil {
		text, found, err := d.table.Get(id)
		if err != nil || !found {
			return err
		}
		if l, err = decode(text); err != nil {
			return err
		}
	}
	done := d.attempt(ctx, l)
	if ctx.Err() != nil && !done {
		return ctx.Err() // the next process retries
	}
	b, err := d.o.Store.Begin()
	if err != nil {
		return err
	}
	reserved := l.size
	if done {
		b.Delete(d.table, id)
	} else {
		text, err := l.encode()
		if err != nil {
			return err
		}
		b.Put(d.table, id, text)
	}
	if err := b.Apply()(); err != nil {
		return err
	}
	if done {
		d.lanes.Forget(d.o.Lane(l), reserved)
		return nil
	}
	d.lanes.Resize(d.o.Lane(l), reserved, l.size)
	d.at(l)
	return nil
}

// at schedules the next attempt to deliver a letter: to its target, or to its dead-letter queue.
func (d *Dispatcher) at(l *Letter) {
	lane := d.o.Lane(l)
	if l.Dead != nil {
		lane = l.DeadLetters
	}
	d.lanes.At(lane, time.UnixMilli(l.Next), turn{id: l.ID})
}

// attempt tries to deliver a letter. done is true if that was the last attempt; otherwise l.Next is the time of the
// next one.
func (d *Dispatcher) attempt(ctx context.Context, l *Letter) (done bool) {
	if l.Dead != nil {
		return d.bury(ctx, l)
	}
	err := d.o.Send(delivery.From(ctx, l.From), l)
	var later *Later
	switch {
	case err == nil:
		return true
	case errors.As(err, &later):
		l.Next = later.At.UnixMilli()
		return false
	case ctx.Err() != nil:
		return false
	}
	code, message, again := judge(err)
	now := d.o.Clock.Now().UnixMilli()
	next := now + backoff(l.Failed).Milliseconds()
	l.Failed++
	condition := ""
	switch {
	case !again:
	case l.Failed > l.Attempts:
		condition = byAttempts
	case next >= l.Born+1000*l.Age:
		condition = byAge
	default:
		l.Next = next
		return false
	}
	l.Dead = &Death{Code: code, Message: message, Condition: condition}
	if refused := (*aws.Error)(nil); errors.As(err, &refused) {
		l.Dead.Refusal = refused.Code
	}
	l.Next = now
	return d.bury(ctx, l)
}

// bury sends a letter to its dead-letter queue. done is true if no further attempt is needed.
func (d *Dispatcher) bury(ctx context.Context, l *Letter) (done bool) {
	if l.DeadLetters == "" {
		d.died(l, false)
		d.o.Log.Warn("a target did not take a message, which is dropped", "target", l.To, "code", l.Dead.Code,
			"error", l.Dead.Message)
		return true
	}
	m := &delivery.Message{Body: l.Message.Body, Attributes: map[string]delivery.Attribute{
		"ERROR_CODE":    {Type: "String", String: l.Dead.Code},
		"ERROR_MESSAGE": {Type: "String", String: short(l.Dead.Message)},
	}}
	if l.Original != "" {
		m.Body = l.Original
	}
	for name, value := range l.Labels {
		m.Attributes[name] = delivery.Attribute{Type: "String", String: value}
	}
	if l.Dead.Condition != "" {
		m.Attributes["EXHAUSTED_RETRY_CONDITION"] = delivery.Attribute{Type: "String", String: l.Dead.Condition}
		m.Attributes["RETRY_ATTEMPTS"] = delivery.Attribute{Type: "Number", String: strconv.Itoa(l.Failed - 1)}
	}
	if d.o.DeadAttributes != nil {
		maps.Copy(m.Attributes, d.o.DeadAttributes(l))
	}
	from := l.From
	if !d.o.BuriesInRole {
		from.Role = ""
	}
	err := d.o.Letterbox(delivery.From(ctx, from), l.DeadLetters, m)
	if err == nil {
		d.died(l, true)
		return true
	}
	if _, _, again := judge(err); again && d.o.Clock.Now().UnixMilli() < l.Born+2*1000*max(l.Age, 3600) {
		l.Next = d.o.Clock.Now().Add(backoff(8)).UnixMilli()
		return false
	}
	d.died(l, false)
	d.o.Log.Error("a dead-letter queue did not take a message, which is dropped", "queue", l.DeadLetters, "target", l.To,
		"error", err.Error())
	return true
}

func (d *Dispatcher) died(l *Letter, buried bool) {
	if d.o.Died != nil {
		d.o.Died(l, buried)
	}
}

// short limits the error's text to the length of an attribute.
func short(text string) string {
	const most = 1024
	if text == "" {
		return "-"
	}
	if len(text) > most {
		return text[:most]
	}
	return text
}

// backoff returns the wait after a number of failures. The maximum starts at a second and doubles up to eight
// minutes, so that 185 attempts take the 24 hours that AWS documents; the wait is random between half of it and the
// whole.
func backoff(failures int) time.Duration {
	const longest = 480 * time.Second
	d := longest
	if failures < 9 {
		d = min(longest, time.Second<<failures)
	}
	return d/2 + rand.N(d/2)
}
