// Package configuration checks the logging, tracing and encryption configurations of state machines and activities,
// and fills in their defaults. Pure.
package configuration
