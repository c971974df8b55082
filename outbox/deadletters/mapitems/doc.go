// Package mapitems finds the failed child executions of Map Runs, of any state machine, by the API of Step Functions,
// and redrives them; on the laptop and on AWS alike.
//
// Where all that failed of an execution is redriven together and unchanged, the execution is redriven, and its Map
// Runs with it. Fewer items, or edited ones, run on their own: in a state machine made of the Map's ItemProcessor. So
// no item runs a second time because another one does. What the Map's execution would have made of the result of an
// item that runs on its own is lost to that execution.
package mapitems
