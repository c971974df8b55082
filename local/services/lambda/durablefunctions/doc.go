// Package durablefunctions runs the durable executions of Lambda functions over a journal. The state machine of one
// execution is engine/durable; this package commits its commands, keeps its timers, and invokes its function. What it
// has acknowledged is on disk, and after kill -9 a new Service continues every execution: it sets the timers again,
// invokes the functions that were running, and repeats the chained invokes that had not returned.
//
// An execution that waits and runs no invocation is not kept in memory, except for its ARN and its timers.
package durablefunctions
