package simulation

import (
	"math"

	"stepback/adaptive/lab/draw"
	"stepback/adaptive/lab/scenario"
)

// pool returns the pool of servers that serves an item of a workload: the service's only one, or one of its partitions.
func (r *run) pool(logical int, workload uint16, index uint32) *service {
	first := r.first[logical]
	n := r.first[logical+1] - first
	if n == 1 {
		return &r.services[first]
	}
	u := draw.Float(r.Seed, forPartition, uint64(workload)<<32|uint64(index), uint64(logical))
	hot := r.Scenario.Services[logical].Hot
	if u < hot {
		return &r.services[first]
	}
	return &r.services[first+1+min(int((u-hot)/(1-hot)*float64(n-1)), n-2)]
}

// pools returns all pools of a service.
func (r *run) pools(logical int) []service { return r.services[r.first[logical]:r.first[logical+1]] }

// bucket is the state of a quota.
type bucket struct {
	*scenario.Quota
	error  uint16
	tokens float64
	at     int64
}

// take takes a token, and reports whether there was one.
func (b *bucket) take(now int64) bool {
	b.tokens = math.Min(b.Burst, b.tokens+float64(now-b.at)/1e9*b.Rate)
	b.at = now
	if b.tokens < 1-1e-9 {
		return false
	}
	b.tokens--
	return true
}

// scaling is a change of the number of servers that takes effect later.
type scaling struct{ servers int }

// measureLoad ends a period of an autoscaler.
func (r *run) measureLoad(s *service) {
	a := s.Autoscale
	s.occupy(r.now, 0)
	busy := (s.area - s.scaledArea) / float64(a.Every) / float64(s.provisioned)
	s.scaledArea = s.area
	wanted := int(math.Ceil(float64(s.provisioned)*busy/a.Target - 1e-9))
	wanted = min(max(wanted, s.Servers), a.Max)
	if wanted != s.provisioned {
		s.scalings.push(scaling{wanted})
		r.heap.push(r.later(a.Delay), scaled, uint32(s.pool))
	}
	if at := r.later(a.Every); at <= r.end {
		r.heap.push(at, loadMeasured, uint32(s.pool))
	}
}

// scale applies the oldest change of the number of servers that has not taken effect.
func (r *run) scale(s *service) {
	s.provisioned = s.scalings.popFront().servers
	r.setServers(s)
}

// setServers computes the number of servers from those provisioned and those that faults removed, and starts waiting
// requests on new ones.
func (r *run) setServers(s *service) {
	remaining := 1.0
	for _, i := range s.active {
		remaining *= 1 - r.faults[i].Removed
	}
	s.servers = int(math.Ceil(float64(s.provisioned)*remaining - 1e-9))
	r.dequeue(s)
	r.release(s)
}

// isWarm reports whether a server is idle and not cold.
func (s *service) isWarm(now int64) bool {
	n := len(s.warm)
	return n > 0 && now-s.warm[n-1] <= int64(s.ColdStart.Keep)
}

// warmUp returns the additional time in seconds of a request that starts on a cold server, or 0.
func (r *run) warmUp(s *service, q *request) float64 {
	if s.ColdStart == nil {
		return 0
	}
	if n := len(s.warm); n > 0 {
		idle := s.warm[n-1]
		s.warm = s.warm[:n-1]
		if r.now-idle <= int64(s.ColdStart.Keep) {
			return 0
		}
		s.warm = s.warm[:0] // the others have been idle for longer
	}
	s.cold++
	return r.sample(&s.ColdStart.Time, forColdStart, uint64(q.workload)<<32|uint64(q.index), uint64(q.attempt))
}

// key returns the cache key of a request's item.
func (r *run) key(s *service, q *request) uint32 {
	u := draw.Float(r.Seed, forCacheKey, uint64(q.workload)<<32|uint64(q.index), uint64(s.index))
	return uint32(u * float64(s.Cache.Keys))
}

// cached reports whether the service can answer a request from its cache.
func (r *run) cached(s *service, q *request) bool {
	if s.Cache == nil {
		return false
	}
	until, ok := s.keys[r.key(s, q)]
	return ok && r.now < until
}

// caller is a source of calls that time out: a workload, or a service that calls another one.
type caller struct {
	timeout  int64
	timeouts ring[deadline]
	error    uint16 // after a timeout
}

// descend makes the call of a request to the next service, when the request's own work is done.
func (r *run) descend(id uint32) {
	q := r.requests[id]
	calls := r.services[q.service].Calls
	child := r.newRequest()
	c := &r.requests[child]
	c.workload, c.index, c.record, c.parent = q.workload, q.index, none, id
	c.attempt = uint32(draw.Bits(uint64(q.attempt), forTier, uint64(calls.Service), uint64(q.inner)))
	r.requests[id].child = child
	next := r.pool(calls.Service, q.workload, q.index)
	if len(next.active) > 0 && r.now >= r.measure.warmup {
		r.measure.callsDuring++
	}
	r.enter(child, next, &r.services[q.service].tier.caller)
}

// ascend handles the end of the call that a request made: it ends the request, or retries the call.
func (r *run) ascend(id uint32, e uint16) {
	q := &r.requests[id]
	q.child = none
	s := &r.services[q.service]
	if e == noError {
		r.leave(id)
		return
	}
	retrier := s.tier.match[e]
	if retrier < 0 || int(q.inner) >= s.Calls.Retriers[retrier].Policy.MaxAttempts || s.DropsExpired && r.abandoned(q) {
		q.error = s.tier.exhausted
		r.leave(id)
		return
	}
	q.inner++
	stream := draw.Of(r.Seed, forTierJitter, uint64(q.workload)<<32|uint64(q.index),
		uint64(q.attempt)<<32|uint64(q.inner))
	d := s.Calls.Retriers[retrier].Policy.DelayAfter(int(q.inner), q.waited, &stream)
	q.waited = d
	r.heap.push(r.later(d), descends, id)
}

// abandoned reports whether the caller of a request has stopped waiting for it.
func (r *run) abandoned(q *request) bool {
	if q.parent == none {
		return q.record == none
	}
	c := r.requests[q.parent].child
	return c == none || &r.requests[c] != q
}

// tier is the state of the calls that a service makes.
type tier struct {
	caller
	match     []int16 // the index of the matching retrier for each error, or −1
	exhausted uint16
}
