// Package resilience compares stepback/resilience with other people's libraries: what each of them does, tried row by
// row with exported names only (features_test.go, the table in docs/resilience.md), and what a call costs
// (cost_test.go). It is a module of its own, so that nobody who uses stepback links them.
//
//	cd bench/resilience && go test ./... && go test -run '^$' -bench . .
//
// The table is written by go test -run TestFeatures -update .
package resilience
