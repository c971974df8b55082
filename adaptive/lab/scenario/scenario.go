package scenario

import (
	"time"

	"stepback/retry"
)

// Bounds of what a scenario may ask for.
const (
	// MaxDuration is the longest duration, warm-up and drain.
	MaxDuration = 31 * 24 * time.Hour
	// MaxRecords is how many records may be expected to arrive in one run, and how many items a Map may have.
	MaxRecords = 5_000_000
	// MaxServers is the most servers of a service, MaxQueue the longest queue.
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
	// Name identifies the scenario, About says in one line what it shows.
	Name, About string
	// Open streams arrive for Duration; what happens before Warmup is left out of every metric; after Duration the run
	// goes on until nothing is open any more, for Drain at most.
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
	// State is the name of the Task state, Retriers its Retry block as the scenario has it.
	State    string
	Retriers []Retrier
	Call     Call
	Arrivals *Arrivals
	Map      *Map
}

// Call says what a state calls and how long it waits for the answer.
type Call struct {
	// Service is an index into Scenario.Services.
	Service int
	// Timeout is how long the caller waits; the service goes on after it. 0 means for ever.
	Timeout time.Duration
	// TimeoutError is the error's name that the state sees then.
	TimeoutError string
	// MemoryMB is the memory of the Lambda function that makes the call, for its price; 0 is no Lambda.
	MemoryMB int
}

// Retrier is one element of a Retry block.
type Retrier struct {
	Errors []string
	Policy retry.Policy
}

// Process says how an open stream's records arrive.
type Process string

// The processes.
const (
	Poisson  Process = "poisson"  // independent, at Rate
	Constant Process = "constant" // evenly, at Rate
	MMPP     Process = "mmpp"     // Poisson whose rate changes at random between Rates, each for a time of mean Holds
	Trace    Process = "trace"    // at the times of a file
	Diurnal  Process = "diurnal"  // Poisson whose rate is Rate·(1 + Amplitude·cos) with its peak at Peak in every Period
)

// Arrivals are an open stream: records arrive whatever becomes of the earlier ones.
type Arrivals struct {
	Process Process
	// Rate is the mean rate per second of poisson, constant and diurnal.
	Rate float64
	// Rates (per second) and Holds are the states of mmpp, run through in turn.
	Rates []float64
	Holds []time.Duration
	// Amplitude (0 to 1), Period and Peak shape diurnal.
	Amplitude    float64
	Period, Peak time.Duration
	// Times are those of a trace, ascending.
	Times []time.Duration
}

// Expected returns about how many records arrive in d.
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

// Map is a closed workload: a distributed Map over Items records, whose child executions are started as earlier ones
// end.
type Map struct {
	Items, MaxConcurrency int
	// Start is when the Map begins.
	Start time.Duration
	// Batch is how many records one child execution has; its call takes as long as theirs together.
	Batch int
}

// Order is how a service's queue is served.
type Order string

// The orders.
const (
	FIFO  Order = "fifo"
	LIFO  Order = "lifo"
	CoDel Order = "codel" // FIFO that drops requests while waits stay above a target (RFC 8289)
)

// Service is what is called: servers with one queue in front of them.
type Service struct {
	Name    string
	Servers int
	Time    Distribution
	// Queue is the number of requests that may wait; one that finds it full fails at once with Rejection.
	Queue     int
	Order     Order
	Rejection string
	// Target and Interval are CoDel's.
	Target, Interval time.Duration
	// DropsExpired says that the service knows its callers' deadlines and does not begin what nobody waits for.
	DropsExpired bool
	// LoadSlowdown is the time that a request takes longer for every request in service when it begins.
	LoadSlowdown time.Duration
	Errors       []ErrorMix
}

// Kind says what an error means.
type Kind string

// The kinds.
const (
	Transient Kind = "transient" // independent of load, and of the item
	Permanent Kind = "permanent" // an error that retries meet again
	Load      Kind = "load"      // the callee is overloaded or away: timeouts, rejections, outages
)

// ErrorMix is an error that a service answers with a probability, whatever its load.
type ErrorMix struct {
	Name string
	P    float64
	// After is how long the failing call holds its server; negative is as long as a call that succeeds.
	After time.Duration
	Kind  Kind
	// ByItem draws once for each item instead of for each attempt: the same item always fails.
	ByItem bool
}

// Fault is something that goes wrong for a while: with a service, or only with a metric.
type Fault struct {
	// At and For are its window. With MeanGood and MeanBad set the fault comes and goes all the time, with windows
	// that each seed draws anew (Gilbert's model).
	At, For           time.Duration
	MeanGood, MeanBad time.Duration
	// Service is an index into Scenario.Services; -1 for a metric.
	Service int
	// From and To are the factors on the service's speed at the begin and the end of the window; both 1 when the fault
	// is none of capacity. At 0 the service begins nothing.
	From, To float64
	// P is the probability that a call fails with Error after After without reaching the service; 0 when the fault is
	// none of errors.
	P     float64
	After time.Duration
	Error string
	// Metric says Says instead of the truth; empty when the fault is none of a metric.
	Metric string
	Says   float64
}

// IsMetric reports whether only a metric lies.
func (f *Fault) IsMetric() bool { return f.Metric != "" }

// IsGilbert reports whether the fault's windows are random.
func (f *Fault) IsGilbert() bool { return f.MeanBad > 0 }

// The metrics that a fault may have lie.
const (
	ErrorRate    = "ErrorRate"    // share of attempts that failed
	OverloadRate = "OverloadRate" // share of attempts that timed out, were throttled or rejected
)

// Observe is what a controller sees: one point per Period, which it can read Delay after the period's end. A point
// is lost with probability Loss.
type Observe struct {
	Period, Delay time.Duration
	Loss          float64
}

// Expectation makes a scenario a test.
type Expectation struct {
	// Policy and Metric say what is judged; the metric is one of [Metrics].
	Policy, Metric string
	// Versus is the policy to compare with; empty compares with a constant.
	Versus string
	// Never and Always are about the metric recovered.
	Never, Always bool
	// Otherwise the metric's estimate (or its ratio to that of Versus) must stand in relation Relation ("<", "<=", ">",
	// ">=", "==") to Value.
	Relation string
	Value    float64
	// Line is where it stands in the file.
	Line int
}
