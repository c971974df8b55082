// Package simulation runs random state machines against random faults and lets an oracle, which knows nothing of the
// engine, judge the outcome. A simulation is determined by a sequence of draws: the machine, the outcome of every
// task, the order of things that may happen at the same time, when the execution is stopped, and when the process
// crashes. A seed generates the draws, so the same seed repeats a failure, and fewer and smaller draws shrink it. No
// real time is involved.
//
// TestCore simulates the interpreter alone. TestShell simulates the whole engine over the journal on a disk: whenever
// nothing can run by itself, the world decides what proceeds next, so that one seed is one run. The disk is slow,
// loses and tears unsynced data when the process crashes, lies about what is synced, and is damaged between two
// processes: bits flip, writes are lost or land elsewhere. Clocks jump back and ahead between two processes.
// Everything that the journal has acknowledged must exist again, or its loss must be reported; once the copy of a
// damaged disk is restored, the execution must reach the end that the oracle predicts. A simulation fails if nothing
// more can happen before that; how long it takes does not matter.
//
//	go test ./engine/simulation -seed=7                         one simulation, shrunk when it fails
//	go test ./engine/simulation -first=7 -simulations=100000 that many, from seed 7 on
//	go test ./engine/simulation -first=7 -for=10m               for so long (make simulate DURATION=10m)
package simulation
