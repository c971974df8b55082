package environment

import "stepback/retrymetrics"

// Prices are what AWS charges in one region, in USD. Those of CloudWatch are retrymetrics.Prices.
type Prices struct {
	Region, Date   string
	Transitions    float64 // 1,000 state transitions of STANDARD executions
	Invocations    float64 // 1,000,000 invocations of functions
	GBSecond       float64 // of functions on arm64
	CapacityHour   float64 // an Aurora capacity unit for an hour
	IORequests     float64 // 1,000,000 of Aurora's standard storage
	StorageGBMonth float64 // in S3's standard class
	Traces         float64 // 1,000,000 recorded by X-Ray
	TableWrites    float64 // 1,000,000 write request units of a DynamoDB table on demand
	EndpointHour   float64 // an interface endpoint of a VPC in one zone for an hour
}

// DefaultPrices are those of us-east-1 in November 2026, from secondary sources, without free tiers and discounts.
func DefaultPrices() Prices {
	return Prices{
		Region: "us-east-1", Date: "2026-11", Transitions: 0.025, Invocations: 0.20, GBSecond: 0.0000133334,
		CapacityHour: 0.12, IORequests: 0.20, StorageGBMonth: 0.023, Traces: 5,
		TableWrites: 0.625, EndpointHour: 0.01,
	}
}

// What is assumed of a workload beside retrymetrics.Workload.
const (
	secondsPerRow  = 0.010 // a row's invocation
	ioPerRow       = 3     // Aurora's write requests for a row: its key, its counter, the log
	rowsPerSecond  = 5000  // Step Functions' rate of transitions in a large region bounds it
	tracedShare    = 0.05  // of invocations, by X-Ray's default rule, beside the first of each second
	bytesPerRow    = 400   // of a row in the Map's result files
	hoursPerMonth  = 730
	perChild       = 2 // transitions of a child execution beside those of its rows: its start, its Map
	perFile        = 10
	alarmMetrics   = 30 // of alarms, at most
	stateSeries    = 6
	errorSeries    = 12
	pairSeries     = 20
	million        = 1e6
	bytesPerGB     = 1e9
	megabytesPerGB = 1024
	daysPerMonth   = 30
)

// Cost is one part of what a month costs.
type Cost struct {
	Item     string
	Quantity float64
	Unit     string
	USD      float64
}

// Costs returns what a month of a workload costs in the environment, by part. The batch size is the environment's.
func (e Environment) Costs(w retrymetrics.Workload, p Prices) []Cost {
	rows := float64(w.Files) * float64(w.RowsPerFile)
	attempts := rows * (1 + w.FailedShare)
	transitions := attempts + perChild*rows/float64(e.BatchSize) + perFile*float64(w.Files)
	compute := attempts * secondsPerRow * float64(e.ProcessMemory) / megabytesPerGB
	instances := float64(1 + e.Database.Readers)
	busy := rows / rowsPerSecond / 3600
	capacity := instances * (busy*e.Database.MaxCapacity + max(hoursPerMonth-busy, 0)*e.Database.MinCapacity)
	kept := rows * bytesPerRow / bytesPerGB * float64(e.ResultDays) / daysPerMonth
	// Each instance of a busy function tells the shared breaker once a second how its calls went.
	told := busy * 3600 * float64(e.Concurrency*e.BatchConcurrency)
	endpoints := 0.0
	if e.Relay.To != "" && e.Database.SecretARN == "" {
		endpoints = hoursPerMonth
	}
	return []Cost{
		{"Step Functions, transitions", transitions, "", transitions / 1000 * p.Transitions},
		{"Lambda, invocations", attempts, "", attempts / million * p.Invocations},
		{"Lambda, compute", compute, "GB-seconds", compute * p.GBSecond},
		{"Aurora, capacity", capacity, "unit hours", capacity * p.CapacityHour},
		{"Aurora, writes", rows * ioPerRow, "requests", rows * ioPerRow / million * p.IORequests},
		{"X-Ray, traces", attempts * tracedShare, "", attempts * tracedShare / million * p.Traces},
		{"DynamoDB, shared breaker", told, "writes", told / million * p.TableWrites},
		{"VPC, endpoint of the relay", endpoints, "hours", endpoints * p.EndpointHour},
		{"S3, result files", kept, "GB kept", kept * p.StorageGBMonth},
		e.watching(w),
	}
}

// watching is what metrics, alarms and the state machine's log cost.
func (e Environment) watching(w retrymetrics.Workload) Cost {
	level, p := retrymetrics.Level(e.LogLevel), retrymetrics.DefaultPrices()
	series := float64(retrymetrics.SeriesCount(level, stateSeries, errorSeries, pairSeries))
	return Cost{"CloudWatch, log, metrics and alarms", w.GB(level), "GB logged",
		w.GB(level)*p.LogGB + series*p.MetricMonth + alarmMetrics*p.AlarmMonth + p.PageMonth}
}
