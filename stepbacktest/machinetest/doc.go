// Package machinetest runs tests of state machines that are written as YAML files, NAME.test.yaml beside NAME.asl.json:
// an input, what tasks answer, faults, and what is expected of the execution. Time is virtual, so that retries and
// waits take none.
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
// Mocks fail closed: a task without an answer fails the test, and so do names of states that the machine does not have.
// Unknown members are refused with line and column. The package calls no service and writes no file; it reads what a
// caller opens for it.
package machinetest
