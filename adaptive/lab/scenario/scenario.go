package scenario

import (
	"slices"
	"time"

	"stepback/retry"
)

// The limits of a scenario.
const (
	// MaxDuration is the maximum duration, warm-up and drain.
	MaxDuration = 31 * 24 * time.Hour
	// MaxRecords is the maximum expected number of arrivals in one run, and the maximum number of a Map's items.
	MaxRecords = 5_000_000
	// MaxServers is the maximum number of a service's servers. MaxQueue is the maximum length of its queue.
	MaxServers = 1_000_000
	MaxQueue   = 10_000_000

	maxRate      = 1e6
	maxWorkloads = 16
	maxServices  = 16
	maxFaults    = 100
	maxErrors    = 16
	maxExpect    = 100
)

// Scenario is a validated scenario. Times are relative to the start of a run.
type Scenario struct {
	// Name identifies the scenario. About describes it in one line.
	Name, About string
	// Duration is the time during which open streams arrive. What happens before Warmup is excluded from every
	// metric. After Duration the run continues until nothing is open any more, but no longer than Drain.
	Duration, Warmup, Drain time.Duration
	Workloads               []Workload
	Services                []Service
	Faults                  []Fault
	Observe                 Observe
	Expect                  []Expectation
}

// Workload is one source of records, each of which is one execution of a state that calls a service. Exactly one of
// Arrivals and Map is set.
type Workload struct {
	Name string
	// State is the name of the Task state. Retriers is its Retry block in the scenario.
	State    string
	Retriers []Retrier
	Call     Call
	Arrivals *Arrivals
	Map      *Map
	// Policy is the built-in policy that this workload follows, whatever policy a run compares; it models another
	// team's client. It is empty for a workload that follows the compared policy.
	Policy string
}

// Call defines what a state calls and how long it waits for the response.
type Call struct {
	// Service is an index into Scenario.Services.
	Service int
	// Timeout is the maximum time for which the caller waits; 0 means without limit. The service continues its work
	// after the timeout.
	Timeout time.Duration
	// TimeoutError is the name of the error that the state gets after Timeout.
	TimeoutError string
	// MemoryMB is the memory of the Lambda function that makes the call, for its price; 0 if there is no function.
	MemoryMB int
}

// Retrier is one element of a Retry block.
type Retrier struct {
	Errors []string
	Policy retry.Policy
}

// Process is the arrival process of an open stream.
type Process string

// The processes.
const (
	Poisson  Process = "poisson"  // independent, at Rate
	Constant Process = "constant" // evenly, at Rate
	MMPP     Process = "mmpp"     // Poisson whose rate changes at random between Rates, each for a mean time of Holds
	Trace    Process = "trace"    // arrivals at the times listed in a file
	Diurnal  Process = "diurnal"  // Poisson with the rate Rate·(1 + Amplitude·cos), which peaks at Peak in every Period
)

// Arrivals is an open stream: records arrive independently of what happens to earlier ones.
type Arrivals struct {
	Process Process
	// Rate is the mean rate per second for poisson, constant and diurnal.
	Rate float64
	// Rates (per second) and Holds describe the states of mmpp: each state has a rate and a mean holding time. The
	// states follow each other in a cycle.
	Rates []float64
	Holds []time.Duration
	// Amplitude (0 to 1), Period and Peak describe the daily curve of diurnal arrivals.
	Amplitude    float64
	Period, Peak time.Duration
	// Times are the arrival times of a trace, ascending.
	Times []time.Duration
}

// Expected returns the approximate number of records that arrive in d.
func (a *Arrivals) Expected(d time.Duration) float64 {
	switch a.Process {
	case MMPP:
		var time, records float64
		for i, hold := range a.Holds {
			time += hold.Seconds()
			records += a.Rates[i] * hold.Seconds()
		}
		return records / time * d.Seconds()
	case Trace:
		return float64(len(a.Times))
	default:
		return a.Rate * d.Seconds()
	}
}

// Map is a closed workload: a distributed Map over Items records, which starts child executions as earlier ones end.
type Map struct {
	Items, MaxConcurrency int
	// Start is the time at which the Map starts.
	Start time.Duration
	// Batch is the number of records per child execution; the call of a batch takes as long as its records' calls
	// together.
	Batch int
}

// Order is the order in which a service's queue is served.
type Order string

// The orders.
const (
	FIFO  Order = "fifo"
	LIFO  Order = "lifo"
	CoDel Order = "codel" // FIFO that drops requests while waits stay above a target (RFC 8289)
)

// Service is a called service: servers with one queue.
type Service struct {
	Name    string
	Servers int
	Time    Distribution
	// Queue is the maximum number of waiting requests; a request that finds the queue full fails at once with
	// Rejection.
	Queue     int
	Order     Order
	Rejection string
	// Target and Interval are CoDel's parameters.
	Target, Interval time.Duration
	// DropsExpired is true if the service knows its callers' deadlines and does not start requests whose callers have
	// given up.
	DropsExpired bool
	// LoadSlowdown is the extra time that a request takes for every request that is in service when it starts.
	LoadSlowdown time.Duration
	Errors       []ErrorMix
	// Partitions is the number of partitions, each with Servers servers and a queue of its own; 1 for a service that
	// is not partitioned (as 0 is). An item belongs to one partition. Hot is the share of the items that belong to the
	// first one; the others have equal shares.
	Partitions int
	Hot        float64
	// Quota, Autoscale, ColdStart, Cache and Calls are nil if the service has none.
	Quota     *Quota
	Autoscale *Autoscale
	ColdStart *ColdStart
	Cache     *Cache
	Calls     *Downstream
}

// Quota is a limit on the calls per second, as a token bucket in front of all partitions: it fills at Rate tokens per
// second up to Burst, and a call that finds less than one token fails at once with Error.
type Quota struct {
	Rate, Burst float64
	Error       string
}

// Autoscale changes the number of servers of each partition. After every period of length Every it aims at the number
// with which the busy share of the servers would have been Target, between the service's Servers and Max. The change
// takes effect after Delay.
type Autoscale struct {
	Max          int
	Target       float64
	Every, Delay time.Duration
}

// ColdStart is the additional time of a request that starts on a server which has not worked for Keep, or never.
// Requests start on the server that became free last, as Lambda's do.
type ColdStart struct {
	Time Distribution
	Keep time.Duration
	// Ramp limits how fast cold servers start, as Lambda's rate of concurrency scaling does: a request that would need
	// one more fails at once. Nil means no limit.
	Ramp *Quota
}

// Cache answers requests within Time instead of the service's time. It has Keys keys, of which each item uses one, and
// keeps a key for Keep from the end of the request that missed it.
type Cache struct {
	Keys int
	Keep time.Duration
	Time time.Duration
}

// Downstream is the call that each request of a service makes, after its own work and while it holds its server.
type Downstream struct {
	// Service is an index into Scenario.Services. Timeout is the maximum time to wait for its response; 0 means without
	// limit. Retriers are the retries that the service makes itself; their waits hold the server, too.
	Service  int
	Timeout  time.Duration
	Retriers []Retrier
	// Error is the error of the request if the call and its retries fail. TimeoutError is the error of a call that
	// times out, which Retriers match.
	Error, TimeoutError string
}

// Tiers returns the indexes of the services: first those that workloads call, then those that these call, and so on.
// The services of one tier are in the scenario's order.
func (s *Scenario) Tiers() []int {
	depth := make([]int, len(s.Services)) // the longest way from a workload
	for range s.Services {
		for i := range s.Services {
			if c := s.Services[i].Calls; c != nil {
				depth[c.Service] = max(depth[c.Service], depth[i]+1)
			}
		}
	}
	order := make([]int, len(s.Services))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return depth[a] - depth[b] })
	return order
}

// Tiered reports whether a service calls another one.
func (s *Scenario) Tiered() bool {
	return slices.ContainsFunc(s.Services, func(s Service) bool { return s.Calls != nil })
}

// Kind is the kind of an error.
type Kind string

// The kinds.
const (
	Transient Kind = "transient" // independent of the load and of the item
	Permanent Kind = "permanent" // retries meet the same error again
	Load      Kind = "load"      // the callee is overloaded or down: timeouts, rejections, outages
)

// ErrorMix is an error that a service returns with a probability, independent of its load.
type ErrorMix struct {
	Name string
	P    float64
	// After is the time for which the failing call occupies its server. A negative value means as long as a
	// successful call.
	After time.Duration
	Kind  Kind
	// ByItem draws once per item instead of once per attempt, so the same item always fails.
	ByItem bool
}

// Fault is a temporary fault of a service, or a false metric.
type Fault struct {
	// At and For are the fault's time window. If MeanGood and MeanBad are set, the fault repeatedly starts and
	// ends, in windows that are drawn for each seed (Gilbert's model).
	At, For           time.Duration
	MeanGood, MeanBad time.Duration
	// Service is an index into Scenario.Services; -1 for a metric fault.
	Service int
	// From and To are the factors on the service's speed at the start and the end of the window. Both are 1 if the
	// fault does not change the capacity. At 0 the service starts no requests.
	From, To float64
	// Removed is the share of the servers that are missing in the window, rounded down. Requests in service end
	// normally. From and To make servers slower; Removed makes them fewer.
	Removed float64
	// EmptyCache is true if the service's cache loses all keys at the start of the window.
	EmptyCache bool
	// P is the probability that a call fails with Error after the time After, without reaching the service. It is 0
	// if the fault causes no errors.
	P     float64
	After time.Duration
	Error string
	// Metric is the metric that the fault falsifies: it reports Says instead of its true value. It is empty for all
	// other faults.
	Metric string
	Says   float64
}

// IsMetric reports whether the fault only falsifies a metric.
func (f *Fault) IsMetric() bool { return f.Metric != "" }

// IsGilbert reports whether the fault's windows are random.
func (f *Fault) IsGilbert() bool { return f.MeanBad > 0 }

// The metrics that a fault can falsify.
const (
	ErrorRate    = "ErrorRate"    // share of attempts that failed
	OverloadRate = "OverloadRate" // share of attempts that timed out, were throttled or rejected
)

// Observe configures what a controller sees: one data point per Period, which becomes visible Delay after the
// period's end. A data point is lost with probability Loss.
type Observe struct {
	Period, Delay time.Duration
	Loss          float64
}

// Expectation is a condition that makes a scenario a test.
type Expectation struct {
	// Policy and Metric select the value to check; the metric is one of [Metrics].
	Policy, Metric string
	// Versus is the policy to compare with; if it is empty, the value is compared with a constant.
	Versus string
	// Never and Always apply to the metric recovered.
	Never, Always bool
	// Relation is the required relation ("<", "<=", ">", ">=", "==") of the metric's estimate to Value. With
	// Versus, the ratio of the two policies' estimates is compared instead. It does not apply if Never or Always is
	// set.
	Relation string
	Value    float64
	// Line is the expectation's line in the file.
	Line int
}
