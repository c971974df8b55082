// Package scenario is the laboratory's file format, version 1: which work arrives, what it calls, how the called
// service behaves and fails, what a controller may observe, and which results are expected. [Parse] parses the YAML,
// rejects unknown members and values out of range with line and column, and resolves every name, so that a [Scenario]
// can be run as it is.
//
// The package runs nothing, draws no random numbers, and reads files only through a function that the caller
// provides.
package scenario
