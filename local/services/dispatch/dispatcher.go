package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/local/services/delivery"
	"stepback/local/services/documents"
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
	// Direct reports whether the target of an ARN accepts letters immediately and durably. Such letters are not
	// stored first.
	Direct func(arn string) bool
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

	ctx     context.Context
	stop    context.CancelFunc
	work    sync.WaitGroup
	slots   chan struct{} // one slot per letter in flight
	mu      sync.Mutex
	waiting map[string]*clock.Timer
	closed  bool
}

// atOnce is the maximum number of letters in flight.
const atOnce = 128

// patience is the maximum time for which a letter in flight holds virtual time.
const patience = 10 * time.Second

// Open returns a dispatcher of the stored letters. It continues with them when Resume is called.
func Open(o Options) *Dispatcher {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	d := &Dispatcher{o: o, table: o.Store.Table(o.Table), slots: make(chan struct{}, atOnce),
		waiting: map[string]*clock.Timer{}}
	d.ctx, d.stop = context.WithCancel(context.Background())
	return d
}

// Resume continues with the letters of an earlier process. Call it once, when their targets are available.
func (d *Dispatcher) Resume() error {
	return d.table.Scan("", func(id string, text []byte) error {
		var l Letter
		if err := json.Unmarshal(text, &l); err != nil {
			return err
		}
		d.at(id, time.UnixMilli(l.Next))
		return nil
	})
}

// Close ends the running deliveries and waits for them. Undelivered letters are kept for the next process.
func (d *Dispatcher) Close() {
	d.mu.Lock()
	d.closed = true
	for _, t := range d.waiting {
		t.Stop()
	}
	d.mu.Unlock()
	d.stop()
	d.work.Wait()
}

// Pending returns the number of letters that wait for another attempt.
func (d *Dispatcher) Pending() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.waiting)
}

// Accept accepts letters. When it returns nil, they will be delivered at least once, and direct targets have had
// their first attempt. also adds further changes to the batch, which are then stored too; it may be nil.
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
	failed := d.firstAttempts(ctx, direct)
	if err := d.keep(append(failed, kept...), also); err != nil {
		return err
	}
	for _, l := range failed {
		d.at(l.ID, time.UnixMilli(l.Next)) //nolint:contextcheck // it outlives the request
	}
	for _, l := range kept {
		d.launch(l.ID, l) //nolint:contextcheck // it outlives the request
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

// keep stores letters and further changes, and waits for the disk.
func (d *Dispatcher) keep(letters []*Letter, also func(*documents.Batch)) error {
	if len(letters) == 0 && also == nil {
		return nil
	}
	b, err := d.o.Store.Begin()
	if err != nil {
		return err
	}
	for _, l := range letters {
		if err := d.put(b, l); err != nil {
			return err
		}
	}
	if also != nil {
		also(b)
	}
	return b.Apply()()
}

func (d *Dispatcher) put(b *documents.Batch, l *Letter) error {
	text, err := json.Marshal(l)
	if err == nil {
		l.kept = true
		b.Put(d.table, l.ID, text)
	}
	return err
}

// launch starts an attempt to deliver a letter. l is nil if the letter is only in the store.
func (d *Dispatcher) launch(id string, l *Letter) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.waiting, id)
	if d.closed {
		return
	}
	d.o.Clock.Hold()
	d.work.Go(func() {
		ctx, work := d.o.Clock.Begin(d.ctx, patience)
		d.o.Clock.Release()
		defer work.End()
		select {
		case d.slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		defer func() { <-d.slots }()
		if err := d.carry(ctx, id, l); err != nil && ctx.Err() == nil {
			d.o.Log.Error("a letter is kept and not delivered", "letter", id, "error", err.Error())
		}
	})
}

// carry makes an attempt to deliver a letter, and stores the result.
func (d *Dispatcher) carry(ctx context.Context, id string, l *Letter) error {
	if l == nil {
		text, found, err := d.table.Get(id)
		if err != nil || !found {
			return err
		}
		l = &Letter{kept: true}
		if err := json.Unmarshal(text, l); err != nil {
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
	if done {
		b.Delete(d.table, id)
	} else if err := d.put(b, l); err != nil {
		return err
	}
	if err := b.Apply()(); err != nil {
		return err
	}
	if !done {
		d.at(id, time.UnixMilli(l.Next)) //nolint:contextcheck // it outlives the attempt
	}
	return nil
}

// at schedules an attempt to deliver a letter.
func (d *Dispatcher) at(id string, when time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	d.waiting[id] = d.o.Clock.Schedule(when, clock.AlarmFunc(func() { d.launch(id, nil) }))
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
