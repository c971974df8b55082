// Package simulation runs random state machines against random faults and has the outcome judged by an oracle that
// knows nothing of the engine. A simulation is decided by a sequence of draws: the machine, what becomes of every task,
// the order in which things that are possible at the same time happen, when somebody stops the execution, when the
// process crashes. A seed gives the draws, so it repeats a failure, and fewer and smaller draws make it smaller. There
// is no real time in it.
//
//	go test ./engine/simulation -seed=7                         one simulation, shrunk when it fails
//	go test ./engine/simulation -first=7 -simulations=100000 that many, from seed 7 on (make simulate)
package simulation
