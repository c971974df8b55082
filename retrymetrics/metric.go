package retrymetrics

import (
	"slices"
	"strings"
)

// Namespace is the CloudWatch namespace of every metric that is published here (section 6 of the source design).
const Namespace = "CSVProcessing/Retry"

// Unit is a CloudWatch unit. A query with another unit than the published one finds nothing.
type Unit string

// The units in use.
const (
	Count   Unit = "Count"
	Seconds Unit = "Seconds"
	None    Unit = "None"
	Percent Unit = "Percent" // of expressions only
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
	QueueName    Dimension = "QueueName"           // of metrics that Amazon SQS publishes
	FunctionName Dimension = "FunctionName"        // of metrics that AWS Lambda publishes
	MachineARN   Dimension = "StateMachineArn"     // of metrics that AWS Step Functions publishes
	TopicName    Dimension = "TopicName"           // of metrics that Amazon SNS publishes
	ClusterName  Dimension = "DBClusterIdentifier" // of metrics that Amazon RDS publishes
)

// Set is a dimension set that metrics are published with. CloudWatch does not add up over dimensions: a metric is found
// by exactly a set it was published with.
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
}

// Dimensions returns the set's dimensions in the order in which values are given.
func (s Set) Dimensions() []Dimension { return slices.Clone(sets[s]) }

// String is the set as {A, B}.
func (s Set) String() string {
	names := make([]string, len(sets[s]))
	for i, d := range sets[s] {
		names[i] = string(d)
	}
	return "{" + strings.Join(names, ", ") + "}"
}

// Origin says what a metric is counted from, and so which log level it takes on AWS.
type Origin int

const (
	// ErrorLog is events that Step Functions logs at level ERROR and ALL.
	ErrorLog Origin = iota
	// FullLog is events that it logs at level ALL only: schedulings, entries, successes.
	FullLog
	// Summary is what AggregateResults found, at any log level.
	Summary
	// Definition is the state machine's definition, at any log level.
	Definition
	// Service is a service of AWS, which publishes the metric itself.
	Service
	// Functions are the Lambda functions, which publish it while they run, at any log level.
	Functions
)

// String says it for people.
func (o Origin) String() string {
	return [...]string{"log level ERROR", "log level ALL", "AggregateResults", "definition", "AWS itself",
		"functions"}[o]
}

// Level is a log level of a state machine at which metrics are counted from its log.
type Level string

// The levels that metrics can be counted from.
const (
	LevelError Level = "ERROR"
	LevelAll   Level = "ALL"
)

// Metric is one declared metric. Only this package can make one, so that what refers to a metric refers to a declared
// one.
type Metric struct {
	namespace  string
	name, text string
	unit       Unit
	stat       Stat
	sets       []Set
	origin     Origin
	mode       mode
}

// mode is how the values of one period are put together.
type mode int

const (
	added        mode = iota // to one sum
	highest                  // to one maximum
	distribution             // to values and how often each came
)

// Namespace returns the namespace it is published in, which is [Namespace] but for the metrics that AWS publishes.
func (m *Metric) Namespace() string { return m.namespace }

// Name returns the metric's name.
func (m *Metric) Name() string { return m.name }

// Unit returns the unit it is published with.
func (m *Metric) Unit() Unit { return m.unit }

// Description says what one value means.
func (m *Metric) Description() string { return m.text }

// Stat returns the statistic that makes sense where none is asked for.
func (m *Metric) Stat() Stat { return m.stat }

// Sets returns the dimension sets it is published with.
func (m *Metric) Sets() []Set { return slices.Clone(m.sets) }

// Origin returns what it is counted from.
func (m *Metric) Origin() Origin { return m.origin }

// At reports whether the metric can be counted at a log level.
func (m *Metric) At(level Level) bool { return m.origin != FullLog || level == LevelAll }
