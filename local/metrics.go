package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/retrymetrics"
	"stepback/retrymetrics/metricsfile"
)

// metrics count the retries of all executions, and keep the metric data in the data directory.
type metrics struct {
	retrymetrics.Collector

	dir     string
	since   time.Time // what ended before has been kept by an earlier process
	keeping sync.Mutex
}

// keepEvery is how often metric data are written to the data directory, so that a process that is killed has lost no
// more.
const keepEvery = time.Minute

// openMetrics counts from here on. Data in memory are kept nowhere.
func (p *Platform) openMetrics(context.Context) error {
	m := &p.metrics
	m.Period, m.OwnErrors, m.dir = p.cfg.MetricPeriod, retrymetrics.OwnErrors, p.Dir
	info, err := os.Stat(filepath.Join(p.Dir, metricsfile.Name))
	if err == nil {
		m.since = info.ModTime()
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	p.onClose(m.keep)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(keepEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if err := m.keep(); err != nil {
					p.cfg.Log.Warn("metric data could not be kept", "error", err)
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

// Metrics returns what is counted; more can be added to it.
func (p *Platform) Metrics() *retrymetrics.Collector { return &p.metrics.Collector }

// KeepMetrics writes the metric data that have been counted to the data directory, which happens every minute and at
// Close as well.
func (p *Platform) KeepMetrics() error { return p.metrics.keep() }

func (m *metrics) keep() error {
	m.keeping.Lock()
	defer m.keeping.Unlock()
	return metricsfile.Add(m.dir, m.Take())
}

// observe counts an execution that has ended.
func (m *metrics) observe(x *journal.Execution, events []history.Event) { m.Add(x.ARN, events) }

// observeChildren counts the child executions of an execution's Map Runs that have ended in a process that did not live
// to keep its metric data.
func (m *metrics) observeChildren(ctx context.Context, j journal.Journal, execution string) error {
	for run, err := range j.MapRuns(ctx, execution) {
		if err != nil {
			return err
		}
		for x, err := range j.Executions(ctx, run.Children) {
			if err != nil {
				return err
			}
			if !x.Ended() || !x.Stop.After(m.since) {
				continue
			}
			events, err := j.History(ctx, x.ARN)
			if err != nil {
				return err
			}
			m.observe(x, events)
		}
	}
	return nil
}
