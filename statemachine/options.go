package statemachine

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Options are what differs between places where the state machine runs. Take them from [DefaultOptions] or
// [Substitutions] and change what is to change: zero values are taken at their word.
type Options struct {
	// ValidateFunction, ProcessFunction and AggregateFunction are names or ARNs of the three Lambda functions.
	ValidateFunction, ProcessFunction, AggregateFunction string
	// ResultBucket takes the copies that Maps read (work/), the Map's result files (results/) and the outputs
	// (output/). It must not be the bucket that uploads go to: a copy written there would start an execution of its
	// own.
	ResultBucket string
	// TopicARN is the SNS topic that hears how each import ended.
	TopicARN string

	// Shape is what a child execution does with its rows; see decision 025.
	Shape Shape
	// Express has child executions be EXPRESS ones, which cost less, have five minutes and no history but their log,
	// and cannot be redriven. A table whose longest Retry does not fit is refused; see ExpressTable.
	Express bool
	// Concurrency is how many child executions run at once, 1 to 10,000.
	Concurrency int
	// BatchSize is how many rows one child execution takes, 1 to MaxBatchSize; 1 in the shape Single. The shape Batch
	// with 1 row is Single.
	BatchSize int
	// BatchConcurrency is how many rows of one batch are applied at once, 1 to 40, where they are applied one by one.
	// Lambda sees up to Concurrency × BatchConcurrency invocations.
	BatchConcurrency int
	// ToleratedFailurePercentage is how many of the rows may be rejected or dead-lettered, and how many of the Map's
	// children may fail, before the execution fails; 0 to 100.
	ToleratedFailurePercentage float64
	// Timeout ends an execution that takes longer; whole seconds, 1 second to a year.
	Timeout time.Duration
}

// Shape is what a child execution does with its rows.
type Shape string

// The shapes.
const (
	// Bulk applies all rows in one invocation and one transaction, and those that this leaves one by one.
	Bulk Shape = "bulk"
	// Batch applies each row in an invocation of its own.
	Batch Shape = "batch"
	// Single is the source's shape: a child execution for each row.
	Single Shape = "single"
)

// Shapes returns the shapes, the default first.
func Shapes() []Shape { return []Shape{Bulk, Batch, Single} }

// MaxBatchSize keeps the history of a child execution below Step Functions' limit of 25,000 events: an applied row
// takes 7 events and each retry 3 more, so 500 rows leave each of them room for 14 retries. It is the same for a batch
// in bulk, all rows of which may have to be applied one by one.
const MaxBatchSize = 500

const (
	maxConcurrency       = 10_000
	maxInlineConcurrency = 40
	maxTimeout           = 365 * 24 * time.Hour
)

// DefaultOptions has the default numbers: in bulk, 40 children of 250 rows at a time, 5 percent tolerated, a day's
// time. The names of functions, bucket and topic are empty and have to be filled in.
func DefaultOptions() Options {
	return Options{
		Shape:                      Bulk,
		Concurrency:                40,
		BatchSize:                  250,
		BatchConcurrency:           1,
		ToleratedFailurePercentage: 5,
		Timeout:                    24 * time.Hour,
	}
}

// Substitutions is DefaultOptions with placeholders of the form ${Name} in place of names, for the
// DefinitionSubstitutions of CloudFormation: ValidateFunctionArn, ProcessFunctionArn, AggregateFunctionArn,
// ResultBucketName and NotificationTopicArn.
func Substitutions() Options {
	o := DefaultOptions()
	o.ValidateFunction = "${ValidateFunctionArn}"
	o.ProcessFunction = "${ProcessFunctionArn}"
	o.AggregateFunction = "${AggregateFunctionArn}"
	o.ResultBucket = "${ResultBucketName}"
	o.TopicARN = "${NotificationTopicArn}"
	return o
}

// Calls is how many invocations of ProcessFunction there may be at a time while no row fails.
func (o Options) Calls() int {
	if o.Shape == Batch {
		return o.Concurrency * o.BatchConcurrency
	}
	return o.Concurrency
}

// single tells whether a child execution takes one row, without an inner Map.
func (o Options) single() bool { return o.Shape == Single || o.Shape == Batch && o.BatchSize == 1 }

// check returns all that is wrong with the options, joined.
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
		{"Concurrency", o.Concurrency, maxConcurrency}, {"BatchSize", o.BatchSize, MaxBatchSize},
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
