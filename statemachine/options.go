package statemachine

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Options holds what differs between the environments in which the state machine runs. Start from [DefaultOptions] or
// [Substitutions] and change what is needed: zero values are not replaced by defaults.
type Options struct {
	// ValidateFunction, ProcessFunction and AggregateFunction are names or ARNs of the three Lambda functions.
	ValidateFunction, ProcessFunction, AggregateFunction string
	// ResultBucket receives the copies that Maps read (work/), the Map's result files (results/) and the outputs
	// (output/). It must not be the bucket that uploads go to: a copy written there would start another execution.
	ResultBucket string
	// TopicARN is the SNS topic to which the outcome of each import is published.
	TopicARN string

	// Shape determines how a child execution processes its rows; see decision 025.
	Shape Shape
	// Express makes child executions EXPRESS. EXPRESS executions cost less, are limited to five minutes, have no
	// history except their log, and cannot be redriven. A table whose longest Retry does not fit is rejected; see
	// ExpressTable.
	Express bool
	// Concurrency is the maximum number of concurrent child executions, 1 to 10,000.
	Concurrency int
	// BatchSize is the number of rows per child execution, 1 to MaxBatchSize; in the shape Single it is 1. The shape
	// Batch with 1 row is the same as Single.
	BatchSize int
	// RangeConcurrency is the maximum number of ranges of a large file that are validated concurrently, 1 to 1,000.
	RangeConcurrency int
	// BatchConcurrency is the number of rows of a batch that are applied concurrently, 1 to 40, where they are
	// applied one by one. Lambda receives up to Concurrency × BatchConcurrency concurrent invocations.
	BatchConcurrency int
	// ToleratedFailurePercentage is the percentage of rows that may be rejected or dead-lettered before the
	// execution fails; 0 to 100. The same percentage of the Map's children may fail.
	ToleratedFailurePercentage float64
	// Timeout is the maximum duration of an execution; whole seconds, 1 second to a year.
	Timeout time.Duration
}

// Shape determines how a child execution processes its rows.
type Shape string

// The shapes.
const (
	// Bulk applies all rows in one invocation and one transaction. Rows that this does not apply are processed one
	// by one.
	Bulk Shape = "bulk"
	// Batch applies each row in a separate invocation.
	Batch Shape = "batch"
	// Single uses one child execution per row, as the source project does.
	Single Shape = "single"
)

// Shapes returns the shapes, the default first.
func Shapes() []Shape { return []Shape{Bulk, Batch, Single} }

// MaxBatchSize keeps the history of a child execution below Step Functions' limit of 25,000 events: an applied row
// takes 7 events and each retry 3 more, so 500 rows leave enough for 14 retries each. It is the same in the shape
// Bulk, where all rows may have to be applied one by one.
const MaxBatchSize = 500

const (
	maxConcurrency       = 10_000
	maxRangeConcurrency  = 1000
	maxInlineConcurrency = 40
	maxTimeout           = 365 * 24 * time.Hour
)

// DefaultOptions returns the default settings: shape Bulk, 40 concurrent children of 250 rows, 100 concurrent ranges of
// a large file, 5 percent tolerated failures, a timeout of one day. The names of functions, bucket and topic are empty
// and must be filled in.
func DefaultOptions() Options {
	return Options{
		Shape:                      Bulk,
		Concurrency:                40,
		BatchSize:                  250,
		RangeConcurrency:           100,
		BatchConcurrency:           1,
		ToleratedFailurePercentage: 5,
		Timeout:                    24 * time.Hour,
	}
}

// Substitutions returns DefaultOptions with placeholders of the form ${Name} as names, for CloudFormation's
// DefinitionSubstitutions: ValidateFunctionArn, ProcessFunctionArn, AggregateFunctionArn, ResultBucketName and
// NotificationTopicArn.
func Substitutions() Options {
	o := DefaultOptions()
	o.ValidateFunction = "${ValidateFunctionArn}"
	o.ProcessFunction = "${ProcessFunctionArn}"
	o.AggregateFunction = "${AggregateFunctionArn}"
	o.ResultBucket = "${ResultBucketName}"
	o.TopicARN = "${NotificationTopicArn}"
	return o
}

// WaitLimit returns the time after an import's start from which its records no longer wait for a callee that is not
// available: seven eighths of the execution's timeout. The rest is for the records that have not been tried yet, which
// are then given up at once, and for AggregateResults.
func WaitLimit(timeout time.Duration) time.Duration { return timeout - timeout/8 }

// Calls returns the maximum number of concurrent invocations of ProcessFunction while no row fails.
func (o Options) Calls() int {
	if o.Shape == Batch {
		return o.Concurrency * o.BatchConcurrency
	}
	return o.Concurrency
}

// single reports whether a child execution processes one row, without an inner Map.
func (o Options) single() bool { return o.Shape == Single || o.Shape == Batch && o.BatchSize == 1 }

// check returns all problems with the options, joined.
func (o Options) check() error {
	var problems []error
	for _, name := range []struct{ option, value string }{
		{"ValidateFunction", o.ValidateFunction}, {"ProcessFunction", o.ProcessFunction},
		{"AggregateFunction", o.AggregateFunction},
		{"ResultBucket", o.ResultBucket}, {"TopicARN", o.TopicARN},
	} {
		if name.value == "" {
			problems = append(problems, fmt.Errorf("%s is empty", name.option))
		}
	}
	switch {
	case !slices.Contains(Shapes(), o.Shape):
		problems = append(problems, fmt.Errorf("Shape is %q; want bulk, batch or single", o.Shape))
	case o.Shape == Single && o.BatchSize != 1:
		problems = append(problems, fmt.Errorf("BatchSize is %d; the shape single takes 1 row", o.BatchSize))
	}
	for _, number := range []struct {
		option     string
		value, max int
	}{
		{"Concurrency", o.Concurrency, maxConcurrency}, {"RangeConcurrency", o.RangeConcurrency, maxRangeConcurrency},
		{"BatchSize", o.BatchSize, MaxBatchSize},
		{"BatchConcurrency", o.BatchConcurrency, maxInlineConcurrency},
	} {
		if number.value < 1 || number.value > number.max {
			problems = append(problems, fmt.Errorf("%s is %d; want 1 to %d", number.option, number.value, number.max))
		}
	}
	if p := o.ToleratedFailurePercentage; !(p >= 0 && p <= 100) { // NaN too
		problems = append(problems, fmt.Errorf("ToleratedFailurePercentage is %v; want 0 to 100", p))
	}
	if o.Timeout < time.Second || o.Timeout > maxTimeout || o.Timeout%time.Second != 0 {
		problems = append(problems, fmt.Errorf("the Timeout is %v; want whole seconds from 1s to a year", o.Timeout))
	}
	return errors.Join(problems...)
}
