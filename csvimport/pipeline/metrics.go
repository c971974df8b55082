package pipeline

import (
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/retrymetrics"
)

// StateMachine is the name of the state machine and Region its region, which identify its metrics.
const (
	StateMachine = machineName
	Region       = region
)

// observe adds the retries of an ended execution to the counts for the report.
func (p *Pipeline) observe(_ *journal.Execution, events []history.Event) { p.retries.Add(events) }

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
