// Package functiontest runs tests of durable Lambda functions that are written as YAML files, NAME.test.yaml: an input,
// the responses of steps, callbacks and chained invokes by their names, and the expected outcome of the execution.
//
//	function: {handler: orders.handler, code: dist}
//	tests:
//	  - name: the card service is busy twice
//	    input: {id: "17"}
//	    mocks:
//	      charge:
//	        - {error: CardServiceBusy, times: 2}
//	        - return: {paid: true}
//	      approval: {return: {by: me}, after: 2h}
//	    expect:
//	      status: SUCCEEDED
//	      attempts: {charge: 3}
//	      waits: {charge: [5s, 10s], approval: [2h]}
//
// Each test runs on a platform of its own (package local), in virtual time: the handler runs as the process that it is
// on Lambda, on AWS's SDK, and its checkpoints, replays, retries and timers are real. Only the bodies of steps that
// have a response are replaced, by the SDK for JavaScript's own plugins or in the SDK for Python, when it is imported.
// Steps without a response run their own body; the AWS services that they call are those of the platform, which are
// empty.
//
// Callbacks and chained invokes fail closed: one without a response fails the test. So does a response whose operation
// never ran, because the operation that it was meant for has run its own body.
package functiontest
