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
	// Store keeps the letters, in the table of this name.
	Store *documents.Store
	Table string
	Clock *clock.Clock
	// Send hands a letter to its target, and returns when that does not lose it any more. An error is an *aws.Error, a
	// *Later, or ctx's.
	Send func(ctx context.Context, l *Letter) error
	// Letterbox takes dead letters.
	Letterbox func(ctx context.Context, queue string, m *delivery.Message) error
	// BuriesInRole has dead letters be delivered in the role of their letters, and not by the service itself.
	BuriesInRole bool
	// Direct reports whether the target of an ARN takes letters at once and durably. They are not kept before.
	Direct func(arn string) bool
	// Died is told of letters that their targets did not take, once nothing is tried any more: whether they are in
	// their dead-letter queues. Nil means that nobody is.
	Died func(l *Letter, buried bool)
	// Log receives letters that are dropped; nil drops them.
	Log *slog.Logger
}

// Dispatcher delivers letters. It is safe for concurrent use.
type Dispatcher struct {
	o     Options
	table *documents.Table

	ctx     context.Context
	stop    context.CancelFunc
	work    sync.WaitGroup
	room    chan struct{} // of letters on their way
	mu      sync.Mutex
	waiting map[string]*clock.Timer
	closed  bool
}

// atOnce is how many letters are on their way at a time.
const atOnce = 128

// patience is how long a letter on its way holds virtual time.
const patience = 10 * time.Second

// Open opens the letters that are kept, and goes on with them once Resume is called.
func Open(o Options) *Dispatcher {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	d := &Dispatcher{o: o, table: o.Store.Table(o.Table), room: make(chan struct{}, atOnce),
		waiting: map[string]*clock.Timer{}}
	d.ctx, d.stop = context.WithCancel(context.Background())
	return d
}

// Resume goes on with the letters that an earlier process left. It is called once, when their targets are there.
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

// Close ends the deliveries under way and waits for them. What has not been delivered is kept for the next process.
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

// Pending is how many letters wait for another attempt.
func (d *Dispatcher) Pending() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.waiting)
}

// Accept takes letters. When it has returned nil they are delivered at least once, and what also puts into the batch is
// kept, which may be nil. Letters for direct targets have been delivered then, or tried.
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
	keeping, err := d.keep(kept, also)
	if err != nil {
		return err
	}
	var at sync.WaitGroup
	errs := make([]error, len(direct))
	for i, l := range direct {
		if i == len(direct)-1 {
			errs[i] = d.first(ctx, l)
		} else {
			at.Go(func() { errs[i] = d.first(ctx, l) })
		}
	}
	at.Wait()
	if err := keeping(); err != nil {
		return err
	}
	for _, l := range kept {
		d.launch(l.ID, l) //nolint:contextcheck // it outlives the request
	}
	return errors.Join(errs...)
}

// keep puts letters into the store. What it returns waits for the disk.
func (d *Dispatcher) keep(letters []*Letter, also func(*documents.Batch)) (wait func() error, err error) {
	if len(letters) == 0 && also == nil {
		return func() error { return nil }, nil
	}
	b, err := d.o.Store.Begin()
	if err != nil {
		return nil, err
	}
	for _, l := range letters {
		if err := d.put(b, l); err != nil {
			return nil, err
		}
	}
	if also != nil {
		also(b)
	}
	return b.Apply(), nil
}

func (d *Dispatcher) put(b *documents.Batch, l *Letter) error {
	text, err := json.Marshal(l)
	if err == nil {
		l.kept = true
		b.Put(d.table, l.ID, text)
	}
	return err
}

// first tries a letter that is not kept yet, and keeps it if it has to be tried again.
func (d *Dispatcher) first(ctx context.Context, l *Letter) error {
	if d.attempt(context.WithoutCancel(ctx), l) {
		return nil
	}
	wait, err := d.keep([]*Letter{l}, nil)
	if err == nil {
		err = wait()
	}
	if err == nil {
		d.at(l.ID, time.UnixMilli(l.Next)) //nolint:contextcheck // it outlives the request
	}
	return err
}

// launch has a letter tried. l is nil for one that is in the store only.
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
		case d.room <- struct{}{}:
		case <-ctx.Done():
			return
		}
		defer func() { <-d.room }()
		if err := d.carry(ctx, id, l); err != nil && ctx.Err() == nil {
			d.o.Log.Error("a letter is kept and not delivered", "letter", id, "error", err.Error())
		}
	})
}

// carry tries a letter and keeps what came of it.
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
		return ctx.Err() // the next process tries again
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

// at has a letter tried at a time.
func (d *Dispatcher) at(id string, when time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	d.waiting[id] = d.o.Clock.Schedule(when, clock.AlarmFunc(func() { d.launch(id, nil) }))
}

// attempt tries a letter. It reports whether that was the last time; otherwise Next says when it is tried again.
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

// bury sends a letter to its dead-letter queue. It reports whether there is nothing to be done any more.
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

// short keeps the error's text within what an attribute needs.
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

// backoff is how long to wait after a number of failures: from a second, doubled up to eight minutes, so that 185
// attempts take the 24 hours that AWS speaks of; between half of that and the whole at random.
func backoff(failures int) time.Duration {
	const longest = 480 * time.Second
	d := longest
	if failures < 9 {
		d = min(longest, time.Second<<failures)
	}
	return d/2 + rand.N(d/2)
}
