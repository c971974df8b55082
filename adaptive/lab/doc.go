// Package lab is a laboratory for retries: it simulates scenarios under policies over many seeds, estimates
// what each policy does with 95 % intervals, compares every policy with the scenario's own Retry block in pairs of
// the same fate, and judges what a scenario expects.
//
// Its parts: scenario and policy are the file formats, scenarios the set that comes along, simulation carries out
// one run, statistics makes estimates of many, chart draws them. The mechanisms that a policy has (breaker, limiter,
// budget, controller) are the ones of package adaptive, and waits are those of retry.Policy; the laboratory
// implements neither again.
//
// The laboratory never calls a real service and never reads a clock. The same scenarios, policies and seeds give the
// same report, byte for byte, whatever the number of processors.
package lab
