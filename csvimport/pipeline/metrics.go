package pipeline

import (
	"stepback/retrymetrics"
)

// StateMachine is the name of the state machine and Region its region, which identify its metrics.
const (
	StateMachine = machineName
	Region       = region
)

// countImport records metrics for a report that has just been made. They are the rows, as AggregateResults
// publishes them on AWS, and the state machine's retry settings.
func (p *Pipeline) countImport(r *Report) error {
	if r.Rows != nil {
		p.platform.Metrics().AddRows(machineName, p.clock.Now(), retrymetrics.Rows{
			Applied: r.Rows.Applied, AlreadyApplied: r.Rows.AlreadyApplied, Rejected: r.Rows.Rejected,
			DeadLettered: r.Rows.DeadLettered, Retried: r.retried, Recovered: r.recovered,
		})
	}
	all, err := retrymetrics.Configurations([]byte(p.machine.definition))
	p.platform.Metrics().AddConfiguration(machineName, p.clock.Now(), all)
	return err
}
