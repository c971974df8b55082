// Package scenario is the file format of the laboratory, version 1: which work arrives, what it calls, how that
// service behaves and fails, what a controller may see of it, and what is expected to come out. [Parse] reads the
// YAML, refuses unknown members and values out of bounds with line and column, and resolves every name, so that a
// [Scenario] can be run as it is.
//
// The package runs nothing, draws no random numbers and reads no files but those it is handed a function for.
package scenario
