// Package functions manages Lambda functions of all accounts and regions in a directory: their configuration, code,
// published versions, aliases, tags and reserved concurrency. It implements the operations of the Lambda API as Go
// calls, and passes invocations to package runner.
//
// What an operation has acknowledged survives a restart. A change of one function never waits for a change of
// another; two concurrent changes of the same function run one after the other. Creating and updating is complete
// when the operation returns: a function is Active at once.
//
// What Lambda would refuse is refused with an *aws.Error that has Lambda's code (ResourceNotFoundException,
// ResourceConflictException, InvalidParameterValueException …); any other error is the disk's or the context's.
//
// The package checks no permissions. Container images, networks, file systems and encryption keys are refused or,
// where they would change nothing here, stored and returned without effect.
//
// Layout of the directory, whose functions belong to the process that has it open:
//
//	ACCOUNT/REGION/NAME/function.json   everything but the code
//	ACCOUNT/REGION/NAME/code/SHA.zip    a deployment package, by the SHA-256 of its bytes in hexadecimal
//	ACCOUNT/REGION/NAME/code/SHA/       the same, unpacked
//	layers/ACCOUNT/REGION/NAME/         layers: their versions in layer.json, their content in code/
//	opt/                                the merged files of layers, as functions find them in /opt on AWS
//	runtimes/                           runtime clients of interpreted functions
//	events/                             asynchronous invocations that have not ended, unless Options.Store holds them
//	tmp/                                packages that are being received
package functions
