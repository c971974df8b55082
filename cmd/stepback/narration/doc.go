// Package narration prints what executions do: events with the states they belong to, line by line as they happen or
// from a history, and executions as JSON.
package narration
