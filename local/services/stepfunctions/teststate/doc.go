// Package teststate implements TestState: it checks the request and the mocks, runs one state by itself, and reports
// what the state did.
package teststate
