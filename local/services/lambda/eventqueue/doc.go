// Package eventqueue keeps asynchronous invocations of Lambda functions until they have ended: an event that Accept has
// taken is on the disk, is tried again after a function's error (one minute and two minutes later) and while the
// function is throttled, and how it ended is told to destinations until they have it. An event that was accepted is
// handled at least once, also after kill -9; events of a function begin in the order in which they were accepted.
//
// All waits are on the clock. The package knows no functions and no destinations: how an event is handed to a function,
// and how its end is told, are functions of its owner's.
package eventqueue
