package retrymetrics

import (
	"slices"
	"strings"
)

// Namespace is the CloudWatch namespace of every metric that stepback publishes (section 6 of the source design).
const Namespace = "CSVProcessing/Retry"

// Unit is a CloudWatch unit. A query with a unit other than the published one finds nothing.
type Unit string

// The units in use.
const (
	Count   Unit = "Count"
	Seconds Unit = "Seconds"
	None    Unit = "None"
	Percent Unit = "Percent" // only for expressions
	// Milliseconds is the unit of Lambda's own durations.
	Milliseconds Unit = "Milliseconds"
)

// Stat is a CloudWatch statistic.
type Stat string

// The statistics in use.
const (
	Sum     Stat = "Sum"
	Average Stat = "Average"
	Maximum Stat = "Maximum"
	P50     Stat = "p50"
	P99     Stat = "p99"
)

// Dimension is the name of a dimension.
type Dimension string

// The dimensions.
const (
	StateMachine Dimension = "StateMachine"        // the machine's name
	State        Dimension = "State"               // the state that the attempt belongs to
	ErrorType    Dimension = "ErrorType"           // an error name, bounded by [ErrorTypeOf]
	QueueName    Dimension = "QueueName"           // for metrics that Amazon SQS publishes
	FunctionName Dimension = "FunctionName"        // for metrics that AWS Lambda publishes
	MachineARN   Dimension = "StateMachineArn"     // for metrics that AWS Step Functions publishes
	TopicName    Dimension = "TopicName"           // for metrics that Amazon SNS publishes
	ClusterName  Dimension = "DBClusterIdentifier" // for metrics that Amazon RDS publishes
	ServiceName  Dimension = "ServiceMetric"       // for quotas of an account that AWS Step Functions publishes
)

// Set is a dimension set with which metrics are published. CloudWatch does not aggregate over dimensions: a metric is
// found only with a set with which it was published.
type Set int

// The dimension sets.
const (
	ByMachine Set = iota
	ByState
	ByError
	ByStateAndError
	ByQueue
	ByFunction
	ByMachineARN
	ByTopic
	ByCluster
	ByServiceMetric
	AccountWide // no dimension: the metric is about the account in the region
)

var sets = [...][]Dimension{
	ByMachine:       {StateMachine},
	ByState:         {StateMachine, State},
	ByError:         {StateMachine, ErrorType},
	ByStateAndError: {StateMachine, State, ErrorType},
	ByQueue:         {QueueName},
	ByFunction:      {FunctionName},
	ByMachineARN:    {MachineARN},
	ByTopic:         {TopicName},
	ByCluster:       {ClusterName},
	ByServiceMetric: {ServiceName},
	AccountWide:     {},
}

// Dimensions returns the set's dimensions in the order of a series' values.
func (s Set) Dimensions() []Dimension { return slices.Clone(sets[s]) }

// String returns the set as {A, B}.
func (s Set) String() string {
	names := make([]string, len(sets[s]))
	for i, d := range sets[s] {
		names[i] = string(d)
	}
	return "{" + strings.Join(names, ", ") + "}"
}

// Origin is the source of a metric's counts. It determines the log level that the metric needs on AWS.
type Origin int

const (
	// ErrorLog is for events that Step Functions logs at the levels ERROR and ALL.
	ErrorLog Origin = iota
	// FullLog is for events that it logs only at level ALL: schedulings, entries, successes.
	FullLog
	// Summary is for the results of AggregateResults, at any log level.
	Summary
	// Definition is for the state machine's definition, at any log level.
	Definition
	// Service is for an AWS service that publishes the metric itself.
	Service
	// Functions is for Lambda functions that publish the metric while they run, at any log level.
	Functions
)

// String returns a readable name.
func (o Origin) String() string {
	return [...]string{"log level ERROR", "log level ALL", "AggregateResults", "definition", "AWS itself",
		"functions"}[o]
}

// Level is a log level of a state machine. It determines which metrics can be counted from the machine's log.
type Level string

// The levels at which metrics can be counted.
const (
	LevelError Level = "ERROR"
	LevelAll   Level = "ALL"
)

// Metric is a declared metric. Only this package can create one, so no other code can refer to a metric that is not
// declared.
type Metric struct {
	namespace  string
	name, text string
	unit       Unit
	stat       Stat
	sets       []Set
	origin     Origin
	mode       mode
}

// mode is the way in which the values of one period are aggregated.
type mode int

const (
	added        mode = iota // into their sum
	highest                  // into their maximum
	distribution             // into distinct values with counts
)

// Namespace returns the namespace in which the metric is published: [Namespace], except for metrics that AWS
// publishes.
func (m *Metric) Namespace() string { return m.namespace }

// Name returns the metric's name.
func (m *Metric) Name() string { return m.name }

// Unit returns the unit with which it is published.
func (m *Metric) Unit() Unit { return m.unit }

// Description explains what one value means.
func (m *Metric) Description() string { return m.text }

// Stat returns the default statistic.
func (m *Metric) Stat() Stat { return m.stat }

// Sets returns the dimension sets with which it is published.
func (m *Metric) Sets() []Set { return slices.Clone(m.sets) }

// Origin returns the source of the metric's counts.
func (m *Metric) Origin() Origin { return m.origin }

// Recounted reports whether all values of the metric come from the events of executions, so that counting the same
// histories again yields the same values. Of a metric that has its highest value of a period, counting twice changes
// nothing, so it needs no recount.
func (m *Metric) Recounted() bool {
	return (m.origin == ErrorLog || m.origin == FullLog) && m.mode != highest
}

// At reports whether the metric can be counted at a log level.
func (m *Metric) At(level Level) bool { return m.origin != FullLog || level == LevelAll }
