// Package executions implements the operations on executions and Map Runs: starting, describing, listing, stopping and
// redriving them, and reading their histories. It also logs executions and converts their status changes to events.
package executions
