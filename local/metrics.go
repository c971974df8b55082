package local

import (
	"cmp"
	"context"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/local/services/inventory"
	"stepback/retrymetrics"
	"stepback/retrymetrics/metricsfile"
)

// metrics counts the retries of all executions, at each event, and stores the metric data in the data directory.
//
// The file says before which time its values are complete. What the process counted from that time on may be in the
// file or not when the process dies. The next process therefore removes from the file everything from that time on
// that came from events, and counts those events again from the journal. See docs/decisions/052-live-counts.md.
type metrics struct {
	retrymetrics.Collector

	dir     string
	files   *inventory.Files
	damaged bool // the file cannot be read
	now     func() time.Time
	recount bool  // the journal outlives the process
	from    int64 // events from this time on, of executions from an earlier process, are counted again; nanoseconds
	// tracked returns the time before which the engines have passed on every event; all is true if they have passed on
	// every event at all. ok is false if executions of an earlier process may not have been found yet.
	tracked func() (before time.Time, all, ok bool)

	mu      sync.Mutex
	found   map[string]bool // unfinished executions that were counted again, while engines recover; then nil
	mapRuns map[string]bool // those of them that have started Map Runs

	keeping sync.Mutex
	counted time.Time // the time before which the file is complete
}

// keepEvery is the interval at which metric data are written to the data directory.
const keepEvery = time.Minute

// openMetrics starts counting. It counts again what an earlier process counted but may not have stored, and writes the
// metric data to the data directory every minute and when the platform closes.
func (p *Platform) openMetrics(ctx context.Context) error {
	m := &p.metrics
	m.Period, m.OwnErrors, m.dir, m.now = p.cfg.MetricPeriod, retrymetrics.OwnErrors, p.Dir, p.Clock.Now
	m.tracked = func() (time.Time, bool, bool) { return time.Time{}, false, false }
	m.files = p.files
	_, _, err := metricsfile.ReadCounted(p.Dir)
	if err := cmp.Or(m.files.Verify(filepath.Join(p.Dir, metricsfile.Name)), err); err != nil {
		p.cfg.Log.Warn("metric data are damaged", "error", err)
		m.files, m.damaged = nil, true // the entry stays until a repair
	}
	m.from = math.MaxInt64
	if ends, ok := p.Journal.(journal.Ends); ok && !m.damaged {
		m.recount = true
		if err := m.restart(ctx, p.Journal, ends); err != nil {
			return err
		}
	}
	p.onClose(func() error { return m.keep(true) })
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(keepEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if err := m.keep(false); err != nil {
					p.cfg.Log.Warn("metric data could not be stored; they are kept until they can be", "error", err)
				}
			case <-stop:
				return
			}
		}
	}()
	p.onClose(func() error {
		close(stop)
		<-done
		return nil
	})
	return nil
}

// restart prepares the file for this process, and counts the executions again that ended after the file was complete.
// Those that have not ended are counted when the engines find them; see track.
func (m *metrics) restart(ctx context.Context, j journal.Journal, ends journal.Ends) error {
	_, counted, err := metricsfile.ReadCounted(m.dir)
	if err != nil {
		return err
	}
	from := m.aligned(m.now())
	if counted.IsZero() { // the earlier process closed in order, or there was none
		m.counted = from
		return m.replace(func() error { return metricsfile.Add(m.dir, nil, from) })
	}
	if counted.Before(from) { // otherwise the clock has been set back
		from = counted
	}
	if err := m.replace(func() error { return metricsfile.Recount(m.dir, from) }); err != nil {
		return err
	}
	m.counted, m.from = from, from.UnixNano()
	for x, err := range ends.EndedSince(ctx, from) {
		if err != nil {
			return err
		}
		if err := m.countAgain(ctx, j, x); err != nil {
			return err
		}
	}
	return nil
}

// replace runs change, which changes the file, and notes the new content in the inventory.
func (m *metrics) replace(change func() error) error {
	return m.files.Replace(filepath.Join(m.dir, metricsfile.Name), change)
}

// aligned returns the latest time up to t that is the start of a period of the metric data and of a minute. Data that
// are three hours old are kept by the minute.
func (m *metrics) aligned(t time.Time) time.Time {
	step := time.Minute
	for m.Period > 0 && step%m.Period != 0 && step < 24*time.Hour {
		step += time.Minute
	}
	return t.UTC().Truncate(step)
}

// countAgain counts the events of an execution that an earlier process may have counted without storing the counts,
// if it has ended, and those of the child executions of its Map Runs.
func (m *metrics) countAgain(ctx context.Context, j journal.Journal, x *journal.Execution) error {
	if x.Ended() && x.Stop.UnixNano() >= m.from && !m.counts(x.ARN) {
		events, err := j.History(ctx, x.ARN)
		if err != nil {
			return err
		}
		m.countSince(x.ARN, events)
	}
	for run, err := range j.MapRuns(ctx, x.ARN+"\x00") {
		if err != nil {
			return err
		}
		for child, err := range j.Executions(ctx, run.Children) {
			if err != nil {
				return err
			}
			if err := m.countAgain(ctx, j, child); err != nil {
				return err
			}
		}
	}
	return nil
}

// countSince counts the events of an execution from the time m.from on.
func (m *metrics) countSince(arn string, events []history.Event) {
	again := retrymetrics.NewLive(arn, &m.Collector)
	again.CountSince(events, m.from)
	again.Close()
}

// recovered counts an unfinished execution of an earlier process again.
func (m *metrics) recovered(arn string, past []history.Event) {
	if m.from == math.MaxInt64 {
		return
	}
	m.mu.Lock()
	if m.found == nil {
		m.found, m.mapRuns = map[string]bool{}, map[string]bool{}
	}
	m.found[arn] = true
	if slices.ContainsFunc(past, func(e history.Event) bool { return e.Type == history.MapRunStarted }) {
		m.mapRuns[arn] = true
	}
	m.mu.Unlock()
	m.countSince(arn, past)
}

// hadMapRuns reports whether an execution that recovered has counted has started Map Runs, whose child executions are
// to be counted.
func (m *metrics) hadMapRuns(arn string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mapRuns[arn]
}

// forget notes that the executions of an earlier process have been found.
func (m *metrics) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.found, m.mapRuns = nil, nil
}

// counts reports whether recovered has counted an execution.
func (m *metrics) counts(arn string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.found[arn]
}

// opened notes that all engines are open. tracked reports their progress from now on; see metrics.
func (m *metrics) opened(tracked func() (before time.Time, all, ok bool)) {
	m.keeping.Lock()
	m.tracked = tracked
	m.keeping.Unlock()
}

// Metrics returns the collector of retry metrics; callers can add to it.
func (p *Platform) Metrics() *retrymetrics.Collector { return &p.metrics.Collector }

// KeepMetrics writes the metric data counted so far to the data directory, which also happens every minute and at
// Close.
func (p *Platform) KeepMetrics() error { return p.metrics.keep(false) }

// keep writes the metric data counted so far to the file. If closing is true, nothing is counted afterwards.
func (m *metrics) keep(closing bool) error {
	m.keeping.Lock()
	defer m.keeping.Unlock()
	counted := m.completeBefore(closing) // first: what happened before it must be among the points
	points := m.Take()
	if len(points) == 0 && !closing {
		return nil
	}
	if err := m.replace(func() error { return metricsfile.Add(m.dir, points, counted) }); err != nil {
		m.Put(points)
		return err
	}
	m.counted = counted
	return nil
}

// completeBefore returns the time before which every event has been counted; zero if every event has been counted, and
// no more will be.
func (m *metrics) completeBefore(closing bool) time.Time {
	if !m.recount {
		return time.Time{}
	}
	before, all, ok := m.tracked()
	switch {
	case !ok:
		return m.counted
	case closing && all:
		return time.Time{}
	default:
		return m.aligned(before)
	}
}
