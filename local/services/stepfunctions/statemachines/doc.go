// Package statemachines implements the operations on state machines, their versions and their aliases: creating,
// describing, updating, deleting and listing them, publishing versions, and validating definitions.
package statemachines
