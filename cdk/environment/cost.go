package environment

import (
	"stepback/adaptive/cost"
	"stepback/retrymetrics"
	"stepback/statemachine"
)

// Assumptions about a month, in addition to those of package cost.
const (
	hoursPerMonth = 730
	alarmMetrics  = 55 // metrics of alarms, at most
	pages         = 6  // composite alarms
	stateSeries   = 7
	errorSeries   = 12
	pairSeries    = 24
)

// Import returns an import of rows as the environment runs it. A share of the rows, failingRows, fails at the first
// attempt and takes one more.
func (e Environment) Import(files, rows int64, failingRows float64) cost.Import {
	return cost.Import{
		Files: files, Rows: rows, Shape: e.Shape, Express: e.Express, BatchSize: e.BatchSize, FailingRows: failingRows, Retries: 1,
		MemoryMB: e.ProcessMemory, Capacity: float64(1+e.Database.Readers) * e.Database.MaxCapacity,
		KeptDays: float64(e.ResultDays),
	}
}

// Costs returns the cost of a month of a workload in the environment, by part: the imports, the database while no
// import runs, the functions that schedules invoke, and the monitoring.
func (e Environment) Costs(w retrymetrics.Workload, p cost.Prices) []cost.Item {
	run := e.Import(w.Files, w.Files*w.RowsPerFile, w.FailedShare)
	u := run.Usage()
	instances := float64(1 + e.Database.Readers)
	busy := 0.0
	if run.Capacity > 0 {
		busy = u.CapacityHours / run.Capacity
	}
	idle := instances * max(hoursPerMonth-busy, 0) * e.Database.MinCapacity
	// Each instance of a busy function reports the outcomes of its calls to the shared breaker once a second.
	reports := busy * 3600 * float64(e.Concurrency*e.BatchConcurrency)
	endpoints := 0.0
	if e.Relay.To != "" && !e.Database.Exists() {
		endpoints = hoursPerMonth
	}
	return append(run.Items(p),
		cost.Item{Name: "Aurora, capacity while nothing runs", Quantity: idle, Unit: "unit hours",
			USD: idle * p.CapacityHour},
		cost.Item{Name: "DynamoDB, shared breaker", Quantity: reports, Unit: "writes", USD: reports / 1e6 * p.TableWrites},
		cost.Item{Name: "VPC, endpoint of the relay", Quantity: endpoints, Unit: "hours",
			USD: endpoints * p.EndpointHour},
		e.scheduled(p),
		e.monitoring(w))
}

// monitoring returns the cost of metrics, alarms and the state machine's log.
func (e Environment) monitoring(w retrymetrics.Workload) cost.Item {
	level, p := retrymetrics.Level(e.LogLevel), retrymetrics.DefaultPrices()
	w = e.logged(w)
	series := float64(retrymetrics.SeriesCount(level, stateSeries, errorSeries, pairSeries))
	return cost.Item{Name: "CloudWatch, log, metrics and alarms", Quantity: w.GB(level), Unit: "GB logged",
		USD: w.LogUSD(level, p) + series*p.MetricMonth + alarmMetrics*p.AlarmMonth + pages*p.PageMonth}
}

// logged returns the workload as the environment logs it: in its shape and batches.
func (e Environment) logged(w retrymetrics.Workload) retrymetrics.Workload {
	w.Batch, w.Bulk = int64(e.BatchSize), e.Shape == statemachine.Bulk
	return w
}

// LogUSD returns the price of the state machine's log for a month of a workload at a log level.
func (e Environment) LogUSD(w retrymetrics.Workload, level retrymetrics.Level) float64 {
	return e.logged(w).LogUSD(level, retrymetrics.DefaultPrices())
}
