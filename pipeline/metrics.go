package pipeline

import (
	"context"
	"time"

	"stepback/retrymetrics"
	"stepback/retrymetrics/metricsfile"
)

// StateMachine is the name of the state machine and Region its region: what its metrics are found by.
const (
	StateMachine = machineName
	Region       = region
)

// openMetrics lets the metric data be kept in the data directory when everything else has ended. A run is short: its
// metrics have CloudWatch's high resolution.
func (p *Pipeline) openMetrics(context.Context) error {
	p.metrics.Period = time.Second
	p.onClose(func() error { return metricsfile.Add(p.cfg.Dir, p.metrics.Take()) })
	return nil
}

// countImport counts the rows of a report that has just been made, as AggregateResults publishes them on AWS, and how
// the state machine retries.
func (p *Pipeline) countImport(r *Report) error {
	if r.Rows != nil {
		p.metrics.AddRows(machineName, p.clock.Now(), retrymetrics.Rows{
			Applied: r.Rows.Applied, AlreadyApplied: r.Rows.AlreadyApplied, Rejected: r.Rows.Rejected,
			DeadLettered: r.Rows.DeadLettered,
		})
	}
	all, err := retrymetrics.Configurations([]byte(p.machine.Definition))
	p.metrics.AddConfiguration(machineName, p.clock.Now(), all)
	return err
}
