// Package design derives the retries of one Task state from an objective: which Retry block, timeout, concurrency,
// budget, limiter and breaker save the required share of the records in time, at the permitted cost and load, through
// the named faults.
//
// A [Problem] states what is known of the callee, with ranges for what is uncertain, the arrivals, the faults, and the
// objective. [Run] searches in the laboratory (adaptive/lab). Every candidate meets the same random numbers: a seed
// determines the records, the service times, the errors, and the values within the uncertain ranges. A design must meet
// the objective on a calm period and through every fault. Of the designs that do, the simplest is taken. The result is
// checked and its predictions are made with seeds that the search has not used.
//
// A [Design] is the problem together with its result. As a file it is its own input: reading it and running it again
// gives the same file. [Design.Observe] compares what happened with the predictions.
//
// The package calls no service and reads no clock and no files.
package design
