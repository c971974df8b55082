// Package controller adapts the retries of one deployed state machine to what is measured: measure, decide, guard,
// apply, watch.
//
// [Controller.Tick] does it once. It reads metrics ([Metrics], of CloudWatch or of a data directory), has package
// decide make a decision for each state, and applies it by the right actuator: UpdateMapRun for a distributed Map
// that runs, and UpdateStateMachine with a published version for executions to come. What it did, and what it is
// about to do, is kept in a row ([Rows]: DynamoDB's retry_configurations, a file, or memory), which is also what
// keeps two controllers apart.
//
// It never writes a definition that Step Functions would refuse, that its own review finds worse, or on top of somebody
// else's edit; a dry run writes nothing at all. Executions that are running keep the Retry arrays they started with.
package controller
