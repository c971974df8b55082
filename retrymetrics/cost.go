package retrymetrics

import (
	"stepback/aws/prices"
	"stepback/statemachine"
)

// Prices are CloudWatch's prices in one region, in USD.
type Prices struct {
	Region, Date string  // region of the prices, and the month in which they were read
	LogGB        float64 // ingestion of one GB, standard class
	MetricMonth  float64 // one custom metric for a month, up to 10,000 of them
	AlarmMonth   float64 // one metric in an alarm of standard resolution for a month
	PageMonth    float64 // one composite alarm for a month
}

// DefaultPrices returns the prices of prices.Default. The free tier is not subtracted.
func DefaultPrices() Prices {
	l := prices.InDefault()
	return Prices{
		Region: l.Region, Date: l.Month(), LogGB: l.Of(prices.LogGB), MetricMonth: l.Of(prices.MetricMonth),
		AlarmMonth: l.Of(prices.AlarmMonth), PageMonth: l.Of(prices.CompositeAlarmMonth),
	}
}

// Workload describes a month of imports.
type Workload struct {
	Files, RowsPerFile, Batch int64
	// FailedShare is the number of failed attempts per row, 0 to 1.
	FailedShare float64
	// RecordBytes is the mean size of a log record without execution data, including the overhead that CloudWatch
	// Logs adds to each.
	RecordBytes int64
	// Bulk means that a batch is one task, and only rows that fail become separate tasks.
	Bulk bool
}

// DefaultWorkload returns 1,000 files of a million rows as the default state machine imports them, in bulk, with one
// failed attempt per hundred rows.
func DefaultWorkload() Workload {
	o := statemachine.DefaultOptions()
	return Workload{Files: 1000, RowsPerFile: 1_000_000, Batch: int64(o.BatchSize), Bulk: o.Shape == statemachine.Bulk,
		FailedShare: 0.01, RecordBytes: 450}
}

// The number of events in a history: for each row of a batch, for each child execution, for each failed attempt,
// and for each batch that is one task.
const (
	// iteration started and succeeded, state entered and exited, task scheduled, started, succeeded
	eventsPerRow     = 7
	eventsPerChild   = 6
	eventsPerFailure = 3 // scheduled, started, failed
	eventsPerBulk    = 11
)

// Records returns the number of log records that the workload writes at a log level.
func (w Workload) Records(level Level) float64 {
	rows := float64(w.Files) * float64(w.RowsPerFile)
	failures := rows * w.FailedShare
	if level == LevelError {
		return failures
	}
	if w.Bulk {
		return rows/float64(w.Batch)*eventsPerBulk + failures*(eventsPerRow+eventsPerFailure)
	}
	return rows*eventsPerRow + rows/float64(w.Batch)*eventsPerChild + failures*eventsPerFailure
}

// GB returns the log volume that the workload writes at a log level, in 10⁹ bytes.
func (w Workload) GB(level Level) float64 { return w.Records(level) * float64(w.RecordBytes) / 1e9 }

// LogUSD returns the price of the log that the workload writes at a log level.
func (w Workload) LogUSD(level Level, p Prices) float64 { return w.GB(level) * p.LogGB }

// SeriesCount returns the number of custom metrics at a log level. states, errors and pairs are the numbers of
// states, of error types, and of pairs of the two that occur in a month.
func SeriesCount(level Level, states, errors, pairs int) int {
	n := 0
	for _, m := range catalogue {
		if !m.At(level) {
			continue
		}
		for _, s := range m.sets {
			n += map[Set]int{ByMachine: 1, ByState: states, ByError: errors, ByStateAndError: pairs}[s]
		}
	}
	return n
}
