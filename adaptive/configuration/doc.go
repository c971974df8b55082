// Package configuration is what the controller tells the functions of a running state machine: how often each retry has
// recovered, what it costs, and what a success is worth. A function that has failed asks [Reader.Decide] whether
// another attempt is worth its cost, and answers RetryNotWorthwhile if not.
//
// A configuration is kept under the state machine's name in DynamoDB's table retry_configurations (package dynamosource
// reads it, adaptive/controller writes it), in a file, or in memory. It ends by itself: a controller that has
// stopped leaves functions that retry as their definition says.
//
// A reader never stops the work. What cannot be read, has ended, or says nothing of a retry is no ground to give a task
// up.
package configuration
