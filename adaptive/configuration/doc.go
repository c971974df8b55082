// Package configuration defines what the controller publishes to the functions of a running state machine: how often
// each retry has recovered, what it costs, and what a success is worth. A function that has failed asks
// [Reader.Decide] whether another attempt is worth its cost, and fails with RetryNotWorthwhile if not.
//
// A configuration is stored under the state machine's name in DynamoDB's table retry_configurations (package
// dynamosource reads it, adaptive/controller writes it), in a file, or in memory. It expires by itself: after a
// controller has stopped, functions retry as their definition says.
//
// A reader never stops the work. A configuration that cannot be read, has expired, or does not cover a retry never
// causes a task to be given up.
package configuration
