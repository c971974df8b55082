// Package machinetest runs tests of state machines that are written as YAML files, NAME.test.yaml beside
// NAME.asl.json: an input, the responses of tasks, faults, and the expected outcome of the execution. Time is
// virtual, so retries and waits take no time.
//
//	tests:
//	  - name: the card service is busy twice
//	    input: {id: "17"}
//	    mocks:
//	      Charge:
//	        - {error: CardServiceBusy, times: 2}
//	        - return: {paid: true}
//	    expect:
//	      status: SUCCEEDED
//	      path: [Reserve, Charge, Ship]
//	      attempts: {Charge: 3}
//	      waits: {Charge: [2s, 4s]}
//	      output: {paid: true}
//
// Mocks fail closed: a task without a response fails the test, and so do names of states that the machine does not
// have. Unknown members are refused with line and column. The package calls no service and writes no file; it reads
// only what the caller opens for it.
package machinetest
