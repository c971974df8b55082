package local

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/internal/ctxerr"
	"stepback/local/services/inventory"
	"stepback/retrymetrics"
	"stepback/retrymetrics/metricsfile"
)

// metrics counts the retries of all executions, at each event, and stores the metric data in the data directory.
//
// The file says before which time its values are complete. What the process counted from that time on may be in the
// file or not when the process dies. The next process therefore removes from the file everything from that time on
// that came from events, and counts those events again from the journal, in the background: until that has ended, the
// time stays in the file. See docs/decisions/052-live-counts.md and 097-recount-in-the-background.md.
type metrics struct {
	retrymetrics.Collector

	dir     string
	files   *inventory.Files
	now     func() time.Time
	journal journal.Snapshots // nil if the journal does not outlive the process
	// from is the time, in nanoseconds, from which events of executions from an earlier process are counted again.
	from int64
	// tracked returns the time before which the engines have passed on every event; all is true if they have passed on
	// every event at all. ok is false if executions of an earlier process may not have been found yet.
	tracked func() (before time.Time, all, ok bool)

	recounted chan struct{} // closed at the end of the recount
	complete  atomic.Bool   // the recount has counted everything, or there is none
	err       error         // why the recount failed; set before recounted is closed

	mu      sync.Mutex
	past    journal.Snapshot // executions as the earlier process left them, while it is held; otherwise nil
	holders int
	mapRuns map[string]bool // unfinished executions, found while past is held, that have started Map Runs

	keeping sync.Mutex
	counted time.Time // the time before which the file is complete
}

// keepEvery is the interval at which metric data are written to the data directory.
const keepEvery = time.Minute

// openMetrics starts counting. In the background, it counts again what an earlier process counted but may not have
// stored, and writes the metric data to the data directory every minute. Close ends both and writes the rest.
func (p *Platform) openMetrics(context.Context) error { //nolint:contextcheck // it lives as long as the platform
	m := &p.metrics
	m.Period, m.OwnErrors, m.dir, m.now = p.cfg.MetricPeriod, retrymetrics.OwnErrors, p.Dir, p.Clock.Now
	m.tracked = func() (time.Time, bool, bool) { return time.Time{}, false, false }
	m.files = p.files
	damaged := false
	points, counted, err := metricsfile.ReadCounted(p.Dir)
	if err := cmp.Or(m.files.Verify(filepath.Join(p.Dir, metricsfile.Name)), err); err != nil {
		p.cfg.Log.Warn("metric data are damaged", "error", err)
		m.files, damaged = nil, true // the entry stays until a repair
	}
	m.from, m.recounted = math.MaxInt64, make(chan struct{})
	if j, ok := p.Journal.(journal.Snapshots); ok && !damaged {
		if err := m.restart(j, points, counted); err != nil {
			return err
		}
	}
	p.onClose(func() error { return m.keep(true) })
	ctx, stop := context.WithCancel(context.Background())
	var ends sync.WaitGroup
	ends.Go(func() {
		tick := time.NewTicker(keepEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if err := m.keep(false); err != nil {
					p.cfg.Log.Warn("metric data could not be stored; they are kept until they can be", "error", err)
				}
			case <-ctx.Done():
				return
			}
		}
	})
	m.hold() // before anything changes the journal
	ends.Go(func() {
		defer close(m.recounted)
		m.err = m.recount(ctx)
		m.release()
		if m.err != nil && ctx.Err() == nil && p.cfg.RecoverInBackground {
			p.reportBroken(m.err)
		}
	})
	p.onClose(func() error {
		stop()
		ends.Wait()
		return m.drop()
	})
	return nil
}

// awaitRecount waits until everything has been counted again. It returns the reason if that failed, or ctx's error.
func (m *metrics) awaitRecount(ctx context.Context) error {
	select {
	case <-m.recounted:
		return m.err
	case <-ctx.Done():
		return ctxerr.Of(ctx)
	}
}

// restart prepares the file for this process. points are its values, which are complete before the time counted.
func (m *metrics) restart(j journal.Snapshots, points []retrymetrics.Point, counted time.Time) error {
	m.journal = j
	from := m.aligned(m.now())
	if !counted.IsZero() { // otherwise the earlier process closed in order, or there was none
		if counted.Before(from) { // otherwise the clock has been set back
			from = counted
		}
		points = metricsfile.BeforeRecount(points, from)
		m.from = from.UnixNano()
	}
	m.counted = from
	return m.replace(func() error { return metricsfile.Write(m.dir, points, from) })
}

// recount counts the executions again that ended after the file was complete, and before this process. Those that have
// not ended are counted when the engines find them; see track. Executions of this process, and redrives, are not in the
// snapshot: track counts their events.
func (m *metrics) recount(ctx context.Context) error {
	if m.from != math.MaxInt64 {
		for x, err := range m.past.EndedSince(ctx, time.Unix(0, m.from)) {
			if err == nil {
				err = m.countAgain(ctx, x)
			}
			if err != nil {
				return fmt.Errorf("counting the retries of the last minutes again: %w", err)
			}
		}
	}
	m.complete.Store(true)
	return nil
}

// hold takes a snapshot of the journal, unless there is one, and keeps it until release. The executions that an engine
// recovers are not known to this process when the engine opens, so a later snapshot has them as they were left.
func (m *metrics) hold() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.holders++; m.holders == 1 && m.from != math.MaxInt64 {
		m.past = m.journal.Snapshot()
	}
}

// release gives up what hold has taken.
func (m *metrics) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.holders--; m.holders > 0 {
		return
	}
	m.mapRuns = nil
	if m.past != nil {
		_ = m.past.Close() // it was only read
		m.past = nil
	}
}

// drop closes the snapshot at the end of the platform. Engines that close while they recover do not release it.
func (m *metrics) drop() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	past := m.past
	if m.past = nil; past == nil {
		return nil
	}
	return past.Close()
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
// if it had ended, and those of the child executions of its Map Runs.
func (m *metrics) countAgain(ctx context.Context, x *journal.Execution) error {
	if x.Ended() && x.Stop.UnixNano() >= m.from {
		events, err := m.past.History(ctx, x.ARN)
		if err != nil {
			return err
		}
		m.countSince(x.ARN, events)
	}
	for run, err := range m.past.MapRuns(ctx, x.ARN+"\x00") {
		if err != nil {
			return err
		}
		for child, err := range m.past.Executions(ctx, run.Children) {
			if err != nil {
				return err
			}
			if err := m.countAgain(ctx, child); err != nil {
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
	if slices.ContainsFunc(past, func(e history.Event) bool { return e.Type == history.MapRunStarted }) {
		m.mu.Lock()
		if m.mapRuns == nil {
			m.mapRuns = map[string]bool{}
		}
		m.mapRuns[arn] = true
		m.mu.Unlock()
	}
	m.countSince(arn, past)
}

// countChildren counts the ended child executions of an unfinished execution again that recovered has counted.
func (m *metrics) countChildren(ctx context.Context, arn string) error {
	m.mu.Lock()
	has := m.mapRuns[arn]
	m.mu.Unlock()
	if !has {
		return nil
	}
	x, err := m.past.Execution(ctx, arn)
	if err != nil || x.MapRunARN != "" { // a child execution is counted with its parent
		return err
	}
	return m.countAgain(ctx, x)
}

// opened notes that all engines are open. tracked reports their progress from now on; see metrics.
func (m *metrics) opened(tracked func() (before time.Time, all, ok bool)) {
	m.keeping.Lock()
	m.tracked = tracked
	m.keeping.Unlock()
}

// Metrics returns the collector of retry metrics; callers can add to it. After a kill, with Config.RecoverInBackground,
// it may lack some of the values that are counted again.
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
	if m.journal == nil {
		return time.Time{}
	}
	before, all, ok := m.tracked()
	switch {
	case !ok || !m.complete.Load():
		return m.counted
	case closing && all:
		return time.Time{}
	default:
		return m.aligned(before)
	}
}
