// Package statemachine generates the CSV import's state machine in Amazon States Language: the states, how data flows
// between them, and the Retry blocks compiled from a retry table. The same definition runs on the embedded engine, on
// LocalStack and on AWS; only the names in [Options] differ.
//
// The flow: Initialize shapes the input; ValidateCSVFile reads the file; ProcessUserRecords, a distributed Map,
// applies each row with ProcessSingleUserRecord; AggregateResults accounts for every row; then the outcome is sent as
// a notification and the execution succeeds or fails. A failed row's error becomes the row's result, so child
// executions succeed, and whether too many rows failed is decided after counting the rows.
//
// [DefaultTable] is the import's retry table, with a state's timeouts and the errors that it retries.
//
// The package runs nothing, does no I/O and keeps no state.
package statemachine

//go:generate go test . -run TestGoldenDefinitions|TestRetryPatternsPageIsCurrent -update
