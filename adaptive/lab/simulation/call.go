package simulation

import (
	"math"
	"time"

	"stepback/adaptive/lab/draw"
	"stepback/retry"
)

// begin starts an invocation for a record: its first one or a retry. It calls the service unless the policy refuses
// the call.
func (r *run) begin(slot uint32) {
	x := &r.records[slot]
	w := &r.workloads[x.workload]
	r.measure.transition(x)
	if w.policy.Oracle {
		if s := r.pool(w.Call.Service, x.workload, x.index); !r.free(s) {
			s.held.push(slot)
			return
		}
	}
	x.asked++
	if refusal := w.gates.admit(r, x); refusal != admitted {
		r.refuse(slot, w, refusal)
		return
	}
	r.call(slot)
}

// refuse handles a record whose call was refused: it is deferred, or dead-lettered if the policy has no deferral.
func (r *run) refuse(slot uint32, w *workload, by refusal) {
	x := &r.records[slot]
	p := w.policy.Brief
	brief := p != nil && by == crowded && x.retries() < p.MaxAttempts
	if r.Refused != nil {
		r.Refused(Refusal{Workload: int(x.workload), Item: int(x.index), At: time.Duration(r.now),
			Open: by == circuitOpen, Brief: brief})
	}
	r.measure.refused(x, w.MemoryMB())
	if brief {
		x.briefs++
		r.stream = draw.Of(r.Seed, forBrief, uint64(x.workload)<<32|uint64(x.index), uint64(x.briefs))
		r.heap.push(r.later(p.Delay(int(x.briefs), &r.stream)), retryDue, slot)
		return
	}
	r.wait(slot, w)
}

// wait defers a record by the policy's deferral. The deferral has its own retry counter.
func (r *run) wait(slot uint32, w *workload) {
	x := &r.records[slot]
	d := w.policy.Deferral
	if d == nil || int(x.deferrals) >= d.MaxAttempts {
		r.close(slot, w, false)
		return
	}
	x.deferrals++
	r.stream = draw.Of(r.Seed, forDeferral, uint64(x.workload)<<32|uint64(x.index), uint64(x.deferrals))
	r.heap.push(r.later(d.Delay(int(x.deferrals), &r.stream)), retryDue, slot)
}

// MemoryMB returns the memory of the calling function.
func (w *workload) MemoryMB() int { return w.Call.MemoryMB }

// later returns now plus a wait, without overflow.
func (r *run) later(d time.Duration) int64 {
	if int64(d) > math.MaxInt64-r.now {
		return math.MaxInt64
	}
	return r.now + int64(d)
}

// call makes one call of a record.
func (r *run) call(slot uint32) {
	x := &r.records[slot]
	w := &r.workloads[x.workload]
	x.calls++
	x.began = r.now
	r.calls++
	s := r.pool(w.Call.Service, x.workload, x.index)
	r.measure.called(r.now, x, s)
	if r.control != nil {
		r.control.called(x)
	}
	id := r.newRequest()
	q := &r.requests[id]
	q.record, q.workload, q.index, q.attempt = slot, x.workload, x.index, x.before+x.calls
	x.request = id
	r.enter(id, s, &w.caller)
}

// enter sends a request to a pool.
func (r *run) enter(id uint32, s *service, c *caller) {
	q := &r.requests[id]
	q.service = uint16(s.pool)
	r.entered(q, s)
	if f := r.outage(s, q); f != nil {
		q.error, q.work = f.error, 0
		if c.timeout > 0 && f.after >= c.timeout {
			r.setTimeout(c, id)
		}
		r.heap.push(r.now+f.after, fastFailure, id)
		return
	}
	if s.quota != nil && !s.quota.take(r.now) {
		s.throttled++
		q.error, q.refused = s.quota.error, true
		r.answered(id)
		return
	}
	if s.ramp != nil && s.busy < s.servers && !s.isWarm(r.now) && !s.ramp.take(r.now) {
		s.throttled++
		q.error, q.refused = s.ramp.error, true
		r.answered(id)
		return
	}
	r.drawError(s, q)
	s.arrived++
	switch {
	case s.busy < s.servers && s.speed > 0:
		r.serve(s, id)
		if c.timeout > 0 && (s.Calls != nil || q.began+q.work > r.now+c.timeout) {
			r.setTimeout(c, id)
		}
	case s.queue.size < s.capacity:
		q.queued, q.waits = r.now, true
		s.queue.push(id)
		r.setTimeout(c, id)
	default:
		s.rejected++
		q.error, q.refused = s.rejection, true
		r.answered(id)
	}
}

// setTimeout sets the timeout of a request that starts now. All timeouts of one caller have the same length, so their
// ring is sorted.
func (r *run) setTimeout(c *caller, id uint32) {
	if c.timeout > 0 {
		c.timeouts.push(deadline{r.now + c.timeout, id, r.requests[id].use})
	}
}

// expire handles a caller's oldest timeout: it ends the call if its caller is still waiting.
func (r *run) expire(c *caller) {
	d := c.timeouts.popFront()
	q := &r.requests[d.request]
	switch {
	case q.use != d.use || r.abandoned(q):
	case q.parent != none:
		r.left(q, c.error)
		r.ascend(q.parent, c.error)
	default:
		r.left(q, c.error)
		slot := q.record
		q.record = none
		r.fail(slot, c.error)
	}
}

// answered ends a request that never occupied a server.
func (r *run) answered(id uint32) {
	q := r.requests[id]
	abandoned := r.abandoned(&r.requests[id])
	r.freeRequests(id)
	if !abandoned {
		r.respond(q)
	}
}

// respond reports the end of a request to its caller.
func (r *run) respond(q request) {
	r.left(&q, q.error)
	switch {
	case q.parent != none:
		r.ascend(q.parent, q.error)
	case q.error == noError:
		r.succeed(q.record)
	default:
		r.fail(q.record, q.error)
	}
}

// fail handles the failure of a record's call with error e.
func (r *run) fail(slot uint32, e uint16) {
	x := &r.records[slot]
	w := &r.workloads[x.workload]
	kind := &r.errors[e]
	x.request = none
	r.measure.answered(x, w.MemoryMB(), r.now-x.began)
	if r.Trace != nil {
		r.trace(x, kind.name)
	}
	w.gates.ended(r, x, kind)
	if r.control != nil {
		r.control.failed(x, kind)
	}
	if w.policy.Poison && kind.load && w.gates.futile(r, x) {
		r.close(slot, w, false)
		return
	}
	if w.policy.DefersFailures && kind.load && w.gates.away(x) {
		r.wait(slot, w)
		return
	}
	retrier := w.match[e]
	if retrier < 0 {
		r.close(slot, w, false)
		return
	}
	p := &w.versions[x.version][retrier]
	if w.policy.Poison && kind.load && x.retries() >= p.MaxAttempts && w.gates.blameless(x) {
		r.wait(slot, w)
		return
	}
	counter := &r.counters[int(slot)*r.retriers+int(retrier)]
	sdk := w.policy.SDK
	most, client := w.policy.ClientAttempts()
	if !client && int(counter.count) >= p.MaxAttempts || client && (p.MaxAttempts == 0 || int(x.calls) >= most) {
		r.close(slot, w, false)
		return
	}
	if !w.gates.pay(r, x, kind) {
		r.wait(slot, w)
		return
	}
	counter.count++
	item := uint64(x.workload)<<32 | uint64(x.index)
	nth := uint64(retrier)<<32 | uint64(x.redrives)<<24 | uint64(counter.count)
	r.stream = draw.Of(r.Seed, forJitter, item, nth)
	rnd := r.Jitter
	if rnd == nil {
		rnd = &r.stream
	}
	var d time.Duration
	switch {
	case r.delay != nil:
		d = r.delay(&r.stream)
	case sdk != nil:
		if d = sdk.Delay(int(x.calls), kind.cause, rnd); kind.cause == retry.CauseThrottle {
			d = sdk.After(d, w.policy.RetryAfter)
		}
	case w.policy.Durable != nil:
		d = w.policy.Durable.Delay(int(x.calls), rnd)
	default:
		d = p.DelayAfter(int(counter.count), time.Duration(counter.previous), rnd)
	}
	counter.previous = int64(d)
	r.heap.push(r.later(d), retryDue, slot)
}

// succeed handles the success of a record's call.
func (r *run) succeed(slot uint32) {
	x := &r.records[slot]
	w := &r.workloads[x.workload]
	x.request = none
	r.measure.answered(x, w.MemoryMB(), r.now-x.began)
	if r.Trace != nil {
		r.trace(x, "")
	}
	w.gates.ended(r, x, nil)
	if r.control != nil {
		r.control.succeeded(x)
	}
	r.close(slot, w, true)
}

func (r *run) trace(x *record, name string) {
	r.Trace(Attempt{
		Workload: int(x.workload), Item: int(x.index), Number: int(x.calls),
		Start: time.Duration(x.began), End: time.Duration(r.now), Error: name,
	})
}

func (r *run) newRequest() uint32 {
	if n := len(r.freeRequest); n > 0 {
		id := r.freeRequest[n-1]
		r.freeRequest = r.freeRequest[:n-1]
		q := &r.requests[id]
		*q = request{use: q.use + 1, error: noError, after: -1, parent: none, child: none}
		return id
	}
	r.requests = append(r.requests, request{error: noError, after: -1, parent: none, child: none})
	return uint32(len(r.requests) - 1)
}

func (r *run) freeRequests(id uint32) {
	r.requests[id].use++
	r.freeRequest = append(r.freeRequest, id)
}
