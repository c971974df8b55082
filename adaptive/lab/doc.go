// Package lab is a laboratory for retries: it simulates scenarios under policies over many seeds, estimates the
// effect of each policy with 95 % intervals, compares every policy with the scenario's own Retry block in pairs with
// identical random numbers, and checks a scenario's expectations.
//
// Its parts: scenario and policy are the file formats, scenarios holds the built-in scenarios, simulation executes
// one run, statistics aggregates many runs, and chart draws them. A policy's mechanisms (breaker, limiter, budget,
// controller) are those of package adaptive, and waits are computed by retry.Policy; the laboratory
// reimplements neither.
//
// The laboratory never calls a real service and never reads a clock. The same scenarios, policies and seeds give the
// same report, byte for byte, whatever the number of processors.
package lab

//go:generate go test . -run TestSDKPage -update
