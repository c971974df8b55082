// Package simulation runs random state machines against random faults and has the outcome judged by an oracle that
// knows nothing of the engine. A simulation is decided by a sequence of draws: the machine, what becomes of every task,
// the order in which things that are possible at the same time happen, when somebody stops the execution, when the
// process crashes. A seed gives the draws, so it repeats a failure, and fewer and smaller draws make it smaller. There
// is no real time in it.
//
// TestCore simulates the interpreter alone. TestShell simulates the whole engine over the journal on a disk: the world
// decides, at each moment in which nothing can run by itself, what goes on next, so that one seed is one run. The disk
// is slow, loses and tears what was not synced when the process crashes, lies about what is synced, and is damaged
// between two processes: bits flip, writes are lost or land elsewhere. Clocks jump between two processes, back and
// ahead. What the journal has acknowledged must be there again, or its loss must be told; with a copy of a damaged
// disk put back, the execution must come to the end that the oracle asks for. A simulation in which nothing can
// happen any more before that has failed; how long it takes says nothing.
//
//	go test ./engine/simulation -seed=7                         one simulation, shrunk when it fails
//	go test ./engine/simulation -first=7 -simulations=100000 that many, from seed 7 on
//	go test ./engine/simulation -first=7 -for=10m               for so long (make simulate DURATION=10m)
package simulation
