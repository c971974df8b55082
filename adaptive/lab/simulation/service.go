package simulation

import (
	"math"

	"stepback/adaptive/lab/draw"
	"stepback/adaptive/lab/scenario"
)

// service is the state of a service during a run.
type service struct {
	*scenario.Service
	index     int // of the service
	pool      int // index in run.services
	servers   int
	capacity  int // of the queue
	rejection uint16
	mixes     []mix

	busy  int
	queue ring[uint32]
	speed float64 // 1 without faults
	// active holds the indexes of the faults whose window is open.
	active []int
	drifts bool // speed changes with time

	codel codel
	held  ring[uint32]

	quota *bucket // shared by the pools of a service
	ramp  *bucket // of cold servers, shared likewise
	// provisioned is the number of servers without faults. scalings are the changes of it to come. scaledArea is area
	// at the end of the autoscaler's last period.
	provisioned int
	scalings    ring[scaling]
	scaledArea  float64
	warm        []int64 // times at which idle servers became so, ascending
	keys        map[uint32]int64
	tier        tier

	// These counts are for checking the simulation: the numbers of requests that arrived at the service and that
	// were rejected, dropped or started; their total waits in seconds; the server-seconds of the requests that
	// ended; and the integral of busy over time.
	arrived, rejected, dropped, begun int64
	throttled, cold, hits             int64
	waited                            float64
	waits                             int64 // the requests started after the warm-up, over which waited is summed
	worked                            float64
	area                              float64 // server-nanoseconds
	since                             int64   // when busy last changed
}

// mix is an error that is drawn per attempt or per item.
type mix struct {
	error  uint16
	p      float64
	after  int64
	byItem bool
}

// drawError draws the error that an attempt will end with if it is served, or none. The draw does not depend on
// whether the attempt is served.
func (r *run) drawError(s *service, q *request) {
	if len(s.mixes) == 0 {
		return
	}
	item := uint64(q.workload)<<32 | uint64(q.index)
	u := draw.Float(r.Seed, forErrors, item, uint64(q.attempt))
	sum := 0.0
	for i := range s.mixes {
		m := &s.mixes[i]
		if m.byItem {
			if draw.Float(r.Seed, forItemErrors, item, uint64(s.index)<<32|uint64(i)) < m.p {
				q.error, q.after = m.error, m.after
				return
			}
			continue
		}
		sum += m.p
		if u < sum {
			q.error, q.after = m.error, m.after
			return
		}
	}
}

// serve starts a request on a free server.
func (r *run) serve(s *service, id uint32) {
	q := &r.requests[id]
	seconds := float64(q.after) / 1e9
	if q.after < 0 {
		if q.hit = r.cached(s, q); q.hit {
			s.hits++
			seconds = s.Cache.Time.Seconds()
		} else {
			seconds = r.serviceTime(s, q)
		}
	}
	seconds += r.warmUp(s, q)
	if s.drifts {
		s.speed = r.speed(s)
	}
	s.occupy(r.now, 1)
	s.begun++
	if r.now >= r.measure.warmup {
		s.waits++
		if q.waits {
			s.waited += float64(r.now-q.queued) / 1e9
		}
	}
	work := seconds/s.speed + s.LoadSlowdown.Seconds()*float64(s.busy)
	q.began = r.now
	q.work = int64(math.Min(math.Round(work*1e9), 1e17))
	r.heap.push(r.now+q.work, serviceEnd, id)
}

// occupy changes the number of busy servers.
func (s *service) occupy(now int64, change int) {
	s.area += float64(s.busy) * float64(now-s.since)
	s.busy += change
	s.since = now
}

// serviceTime draws the service time of an attempt in seconds; for a batch it is the sum over its records.
func (r *run) serviceTime(s *service, q *request) float64 {
	w := &r.workloads[q.workload]
	size := w.size(q.index)
	if size == 1 {
		return r.sample(&s.Time, forServiceTime, uint64(q.workload)<<32|uint64(q.index), uint64(q.attempt))
	}
	total := 0.0
	for i := range size {
		item := uint64(q.workload)<<32 | uint64(int(q.index)*w.Map.Batch+i)
		total += r.sample(&s.Time, forServiceTime, item, uint64(q.attempt))
	}
	return total
}

func (r *run) sample(d *scenario.Distribution, purpose draw.Purpose, item, attempt uint64) float64 {
	stream := draw.Of(r.Seed, purpose, item, attempt)
	switch d.Kind {
	case scenario.DistributionExp:
		return d.Mean * stream.Exp()
	case scenario.DistributionLognormal:
		variance := math.Log1p(d.CV * d.CV)
		return d.Mean * math.Exp(math.Sqrt(variance)*stream.Normal()-variance/2)
	case scenario.DistributionGamma:
		shape := 1 / (d.CV * d.CV)
		return d.Mean / shape * stream.Gamma(shape)
	case scenario.DistributionEmpirical:
		return d.Samples[int(stream.Float()*float64(len(d.Samples)))]
	case scenario.DistributionConstant:
	}
	return d.Mean
}

// served handles the end of a request's own work on its server.
func (r *run) served(id uint32) {
	q := &r.requests[id]
	if s := &r.services[q.service]; s.Calls != nil && q.error == noError && (!s.DropsExpired || !r.abandoned(q)) {
		r.descend(id)
		return
	}
	r.leave(id)
}

// leave ends a request and frees its server.
func (r *run) leave(id uint32) {
	q := r.requests[id]
	left := r.abandoned(&r.requests[id])
	r.freeRequests(id)
	s := &r.services[q.service]
	s.occupy(r.now, -1)
	work := float64(r.now-q.began) / 1e9
	s.worked += work
	r.measure.worked(r.now, work, left)
	if s.ColdStart != nil {
		s.warm = append(s.warm, r.now)
	}
	if s.Cache != nil && q.error == noError && !q.hit {
		s.keys[r.key(s, &q)] = r.later(s.Cache.Keep)
	}
	r.dequeue(s)
	if !left {
		r.respond(q)
	}
	r.release(s)
}

// dequeue starts waiting requests on free servers.
func (r *run) dequeue(s *service) {
	for s.queue.size > 0 && s.busy < s.servers && s.speed > 0 {
		var id uint32
		if s.Order == scenario.LIFO {
			id = s.queue.popBack()
		} else {
			id = s.queue.popFront()
		}
		q := &r.requests[id]
		if s.DropsExpired && r.abandoned(q) {
			s.dropped++
			r.freeRequests(id)
			continue
		}
		if s.Order == scenario.CoDel && s.codel.drops(s, r.now, q.queued) {
			s.dropped++
			q.error, q.refused = s.rejection, true
			r.answered(id)
			continue
		}
		r.serve(s, id)
	}
}

// release lets records that the oracle holds back call while servers are free.
func (r *run) release(s *service) {
	for s.held.size > 0 && r.free(s) {
		r.call(s.held.popFront())
	}
}

// free reports whether a call would be served immediately. Only the oracle can know this.
func (r *run) free(s *service) bool {
	if s.busy >= s.servers || s.queue.size > 0 || s.speed <= 0 {
		return false
	}
	for _, i := range s.active {
		if r.faults[i].P > 0 {
			return false
		}
	}
	return true
}

// codel implements CoDel, the controlled delay of RFC 8289.
type codel struct {
	above    int64 // time at which the wait will have been above the target for an interval; 0 if it is below
	next     int64 // time of the next drop
	count    int
	dropping bool
}

func (c *codel) drops(s *service, now, queued int64) bool {
	if now-queued < int64(s.Target) || s.queue.size == 0 {
		c.above, c.dropping = 0, false
		return false
	}
	if c.above == 0 {
		c.above = now + int64(s.Interval)
		return false
	}
	if !c.dropping {
		if now < c.above {
			return false
		}
		c.dropping = true
		if c.count > 2 && now-c.next < 8*int64(s.Interval) {
			c.count -= 2
		} else {
			c.count = 1
		}
	} else {
		if now < c.next {
			return false
		}
		c.count++
	}
	c.next = now + int64(float64(s.Interval)/math.Sqrt(float64(c.count)))
	return true
}
