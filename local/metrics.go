package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"stepback/engine/journal"
	"stepback/local/services/inventory"
	"stepback/retrymetrics"
	"stepback/retrymetrics/metricsfile"
)

// metrics counts the retries of all executions and stores the metric data in the data directory.
type metrics struct {
	retrymetrics.Collector

	dir     string
	files   *inventory.Files
	since   time.Time // executions that ended before this were counted by an earlier process
	keeping sync.Mutex
}

// keepEvery is the interval at which metric data are written to the data directory; a killed process loses at most
// this much.
const keepEvery = time.Minute

// openMetrics starts counting, and writes the metric data to the data directory every minute and when the platform
// closes.
func (p *Platform) openMetrics(context.Context) error {
	m := &p.metrics
	m.Period, m.OwnErrors, m.dir = p.cfg.MetricPeriod, retrymetrics.OwnErrors, p.Dir
	m.files = p.files
	if err := m.files.Verify(filepath.Join(p.Dir, metricsfile.Name)); err != nil {
		p.cfg.Log.Warn("metric data are damaged", "error", err)
		m.files = nil // the entry stays until a repair
	}
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
					p.cfg.Log.Warn("metric data could not be stored", "error", err)
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

// Metrics returns the collector of retry metrics; callers can add to it.
func (p *Platform) Metrics() *retrymetrics.Collector { return &p.metrics.Collector }

// KeepMetrics writes the metric data counted so far to the data directory, which also happens every minute and at
// Close.
func (p *Platform) KeepMetrics() error { return p.metrics.keep() }

func (m *metrics) keep() error {
	m.keeping.Lock()
	defer m.keeping.Unlock()
	points := m.Take()
	if len(points) == 0 {
		return nil
	}
	return m.files.Replace(filepath.Join(m.dir, metricsfile.Name), func() error { return metricsfile.Add(m.dir, points) })
}

// observeChildren counts the child executions of an execution's Map Runs that ended in a process which died before it
// stored its metric data.
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
			m.Add(x.ARN, events)
		}
	}
	return nil
}
