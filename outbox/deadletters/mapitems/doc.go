// Package mapitems finds the failed child executions of Map Runs, of any state machine, through the Step Functions
// API, and redrives them, on the laptop and on AWS alike.
//
// If all failed items of an execution are redriven together and unchanged, the execution is redriven, and its Map
// Runs with it. Fewer items, or edited ones, run on their own, in a state machine created from the Map's
// ItemProcessor, so that no item runs a second time because of another one. The result of an item that runs on its
// own does not reach the Map's execution.
package mapitems
