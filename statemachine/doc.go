// Package statemachine writes the CSV import's state machine in Amazon States Language: the states, how data flows
// between them, and the Retry blocks that a retry table compiles to. The same definition runs on the embedded engine,
// on LocalStack and on AWS; only the names in [Options] differ.
//
// The flow: Initialize shapes the input; ValidateCSVFile reads the file; ProcessUserRecords, a distributed Map, has
// ProcessSingleUserRecord apply each row; AggregateResults accounts for every row; then the outcome is notified and the
// execution succeeds or fails. A row that fails becomes that row's result, so children succeed, and whether too many
// rows failed is decided once the rows are counted.
//
// [DefaultTable] is the import's retry table, with a state's timeouts and the errors that it retries.
//
// The package runs nothing, does no I/O and keeps no state.
package statemachine

//go:generate go test . -run TestGoldenDefinitions|TestRetryPatternsPageIsCurrent -update
