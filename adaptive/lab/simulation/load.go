package simulation

// Load is the load of a service after the warm-up.
type Load struct {
	// Calls is the number of calls to the service. Peak is the maximum number a second in any bin.
	Calls int64
	Peak  float64
	// PerRecord is the number of calls for every record for which a call was made, and PerCall that for every call of
	// those that call the service: the first calls for a record, and all calls to a service that calls it. Both are NaN
	// without such calls.
	PerRecord, PerCall float64
	// Refused is the share of the calls that a quota, a full queue or CoDel refused. Failed is the share that failed
	// otherwise, by an error or because the caller's time was over. Both are NaN without calls.
	Refused, Failed float64
}

// load counts the calls to one service.
type load struct {
	calls, refused, failed int64
	firsts                 int64 // first calls for a record
	bins                   []int32
}

// entered counts a call that is sent to a pool of a service.
func (r *run) entered(q *request, s *service) {
	if r.now < r.measure.warmup {
		return
	}
	q.counted = true
	l := &r.loads[s.index]
	l.calls++
	if q.parent == none && q.attempt == 1 {
		l.firsts++
	}
	i := int(r.now / int64(BinWidth))
	for i >= len(l.bins) {
		l.bins = append(l.bins, 0)
	}
	l.bins[i]++
}

// left counts the end of a call for its caller.
func (r *run) left(q *request, e uint16) {
	if !q.counted || e == noError {
		return
	}
	l := &r.loads[r.services[q.service].index]
	if q.refused {
		l.refused++
	} else {
		l.failed++
	}
}

// loadsOf returns the loads of the services.
func (r *run) loadsOf() []Load {
	services := r.Scenario.Services
	records := int64(0)
	for i := range r.loads {
		records += r.loads[i].firsts
	}
	above := make([]int64, len(services))
	for i := range services {
		above[i] += r.loads[i].firsts
		if c := services[i].Calls; c != nil {
			above[c.Service] += r.loads[i].calls
		}
	}
	all := make([]Load, 0, len(services))
	for _, i := range r.Scenario.Tiers() {
		l := &r.loads[i]
		x := Load{Calls: l.calls, PerRecord: ratio(l.calls, records), PerCall: ratio(l.calls, above[i]),
			Refused: ratio(l.refused, l.calls), Failed: ratio(l.failed, l.calls)}
		for _, n := range l.bins {
			x.Peak = max(x.Peak, float64(n)/BinWidth.Seconds())
		}
		all = append(all, x)
	}
	return all
}
