// Package controller adapts the retries of one deployed state machine to measurements: measure, decide, guard, apply,
// watch.
//
// [Controller.Tick] does so once. It reads metrics ([Metrics], from CloudWatch or a data directory), lets package
// decide make a decision for each state, and applies it with the right operation: UpdateMapRun for a running
// distributed Map, and UpdateStateMachine with a published version for future executions. What it did, and what it is
// about to do, is stored in a row ([Rows]: DynamoDB's retry_configurations, a file, or memory). The row also prevents
// two controllers from acting at once.
//
// It never writes a definition that Step Functions would reject, that its own review finds worse, or that would
// overwrite a manual edit; a dry run writes nothing at all. Running executions keep the Retry arrays they started
// with.
package controller
