// Package resilience compares stepback/resilience with other libraries: their features, tried row by row with
// exported names only (features_test.go, the table in docs/resilience.md), and the cost of a call (cost_test.go). It
// is a separate module, so that programs using stepback do not link these libraries.
//
//	cd bench/resilience && go test ./... && go test -run '^$' -bench . .
//
// The table is written by go test -run TestFeatures -update .
package resilience
