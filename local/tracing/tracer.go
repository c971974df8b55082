package tracing

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"stepback/aws"
	"stepback/engine"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/local/services/lambda/runner"
	"stepback/local/services/xray"
)

// Tracer stores segments in X-Ray. It is safe for concurrent use. Close stops it.
type Tracer struct {
	xray  *xray.Service
	scope aws.Scope // scope of UDP segments whose trace is unknown
	log   *slog.Logger
	now   func() time.Time

	daemon    net.PacketConn // nil if there is none
	last      string         // the text of the last datagram
	datagrams atomic.Int64   // received so far
	received  chan struct{}  // closed once the daemon receives nothing more
	ended     sync.WaitGroup

	mu      sync.Mutex
	queue   chan sent // nil after Close
	dropped int
	scopes  map[string]aws.Scope // scopes by trace ID, for recently started traces
	calls   map[string][]call    // tasks that have propagated their traces, by execution
}

// sent is a set of documents for one scope.
type sent struct {
	scope     aws.Scope
	documents [][]byte
}

// call is a task's call that propagated the trace.
type call struct {
	state   string
	attempt int64
	segment string
}

// waiting is the maximum number of document sets that wait to be stored. remembered is the maximum number of
// traces, and of executions, that the tracer remembers.
const (
	waiting    = 4096
	remembered = 4096
)

// New starts a tracer. scope is the account and region of segments that functions send for unknown traces.
func New(ctx context.Context, x *xray.Service, scope aws.Scope, now func() time.Time, log *slog.Logger) *Tracer {
	t := &Tracer{xray: x, scope: scope, log: log, now: now, queue: make(chan sent, waiting), last: aws.NewID(),
		scopes: map[string]aws.Scope{}, calls: map[string][]call{}}
	queue := t.queue
	t.ended.Go(func() { t.write(queue) })
	var err error
	if t.daemon, err = (&net.ListenConfig{}).ListenPacket(ctx, "udp", "127.0.0.1:0"); err != nil {
		log.Warn("functions cannot send segments of their own to X-Ray", "error", err)
		return t
	}
	t.received = make(chan struct{})
	t.ended.Go(func() {
		defer close(t.received)
		t.receive()
	})
	return t
}

// lastOrders receives everything that was sent to the daemon before, and closes the daemon. It sends the daemon a
// datagram that marks the end, and again in case it was lost, and gives up if nothing arrives any more. A limit in time
// would also pass while the process does not run.
func (t *Tracer) lastOrders() error {
	const most, pause = 20, 100 * time.Millisecond
	again := time.NewTicker(pause)
	defer again.Stop()
	seen := t.datagrams.Load()
	for times := 0; times < most; times++ {
		if _, err := t.daemon.WriteTo([]byte(t.last), t.daemon.LocalAddr()); err != nil {
			break
		}
		select {
		case <-t.received:
			return t.daemon.Close()
		case <-again.C:
		}
		if n := t.datagrams.Load(); n > seen {
			times, seen = 0, n
		}
	}
	return t.daemon.Close()
}

// Address returns the address to which functions send segments, for AWS_XRAY_DAEMON_ADDRESS; empty if there is no
// daemon.
func (t *Tracer) Address() string {
	if t.daemon == nil {
		return ""
	}
	return t.daemon.LocalAddr().String()
}

// Close stores everything that is pending and stops the tracer.
func (t *Tracer) Close() error {
	var err error
	if t.daemon != nil {
		err = t.lastOrders()
	}
	t.mu.Lock()
	if t.queue != nil {
		close(t.queue)
		t.queue = nil
	}
	dropped := t.dropped
	t.mu.Unlock()
	t.ended.Wait()
	if dropped > 0 {
		t.log.Warn("segments were dropped because they arrived faster than they could be stored", "segments", dropped)
	}
	return err
}

// send queues documents for storing, unless too many are waiting.
func (t *Tracer) send(scope aws.Scope, documents [][]byte) {
	if len(documents) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case t.queue <- sent{scope, documents}:
	default: // also after Close, when the queue is nil
		t.dropped += len(documents)
	}
}

// write stores documents, together with all others that are waiting.
func (t *Tracer) write(queue <-chan sent) {
	for first := range queue {
		all := map[aws.Scope][][]byte{first.scope: first.documents}
		for n := len(queue); n > 0; n-- {
			next := <-queue
			all[next.scope] = append(all[next.scope], next.documents...)
		}
		for scope, documents := range all {
			if err := t.xray.Put(scope, documents); err != nil {
				t.log.Warn("segments cannot be stored", "segments", len(documents), "error", err)
			}
		}
	}
}

// receive receives segments by UDP as X-Ray's daemon does: a line of JSON that names the format, then the segment.
func (t *Tracer) receive() {
	buffer := make([]byte, 64<<10)
	for {
		n, _, err := t.daemon.ReadFrom(buffer)
		t.datagrams.Add(1)
		if errors.Is(err, net.ErrClosed) || string(buffer[:max(n, 0)]) == t.last {
			return
		}
		header, document, ok := bytes.Cut(buffer[:max(n, 0)], []byte("\n"))
		var format struct{ Format string }
		if err != nil || !ok || json.Unmarshal(header, &format) != nil || format.Format != "json" {
			continue
		}
		var of struct {
			TraceID string `json:"trace_id"`
		}
		if json.Unmarshal(document, &of) != nil {
			continue
		}
		t.mu.Lock()
		scope, known := t.scopes[of.TraceID]
		t.mu.Unlock()
		if !known {
			scope = t.scope
		}
		t.send(scope, [][]byte{slices.Clone(document)})
	}
}

// remember records the scope of a trace, so that segments of the trace that arrive by UDP can be assigned to it.
func (t *Tracer) remember(trace string, scope aws.Scope) {
	if scope == t.scope {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.scopes) >= remembered {
		clear(t.scopes)
	}
	t.scopes[trace] = scope
}

// SampleMachine decides whether an execution of a state machine is traced.
func (t *Tracer) SampleMachine(scope aws.Scope, machine string) bool {
	arn, _ := aws.ParseARN(machine)
	return t.xray.Sample(scope, xray.Traced{Name: strings.TrimPrefix(arn.Resource, "stateMachine:"), Type: MachineType,
		ARN: machine})
}

// SampleFunction decides whether an invocation of a function is traced.
func (t *Tracer) SampleFunction(scope aws.Scope, name, arn string) bool {
	return t.xray.Sample(scope, xray.Traced{Name: name, Type: FunctionType, ARN: arn})
}

// Ran sends the segments of an invocation that has ended.
func (t *Tracer) Ran(scope aws.Scope, r *runner.Ran) {
	if r.Trace.Sampled {
		t.remember(r.Trace.Root, scope)
		t.send(scope, Invocation(r, t.now()))
	}
}

// Observe sends the segments of an execution that has ended.
func (t *Tracer) Observe(x *journal.Execution, events []history.Event) {
	if x.TraceHeader == "" {
		return
	}
	t.mu.Lock()
	calls := t.calls[x.ARN]
	delete(t.calls, x.ARN)
	t.mu.Unlock()
	arn, _ := aws.ParseARN(x.ARN)
	t.send(arn.Scope(), Execution(x, events, func(state string, attempt int64) string {
		i := slices.IndexFunc(calls, func(c call) bool { return c.state == state && c.attempt == attempt })
		if i < 0 {
			return ""
		}
		id := calls[i].segment
		calls = slices.Delete(calls, i, i+1)
		return id
	}))
}

// Tasks returns an integration that adds the trace of the execution to the calls of its tasks.
func (t *Tracer) Tasks(next engine.Integration) engine.Integration {
	return engine.Around(next, t.task)
}

func (t *Tracer) task(ctx context.Context, task *engine.Task, next engine.Integration) (engine.Result, error) {
	if task.TraceHeader == "" {
		return next.Invoke(ctx, task)
	}
	trace, ok := aws.ParseTrace(task.TraceHeader)
	if !ok {
		return next.Invoke(ctx, task)
	}
	if trace.Sampled {
		trace = trace.Under(t.call(task))
	}
	return next.Invoke(aws.WithTrace(ctx, trace), task)
}

// call creates a segment ID for a task's call and remembers it.
func (t *Tracer) call(task *engine.Task) string {
	c := call{task.State, task.Attempt, aws.NewSegmentID()}
	t.mu.Lock()
	defer t.mu.Unlock()
	const most = 1024 // calls per execution; beyond this, segments are not linked
	if len(t.calls) < remembered && len(t.calls[task.Execution]) < most {
		t.calls[task.Execution] = append(t.calls[task.Execution], c)
	}
	return c.segment
}
