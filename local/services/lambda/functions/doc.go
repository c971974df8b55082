// Package functions keeps the Lambda functions of the laptop, of all accounts and regions, in a directory: their
// configuration, code, published versions, aliases, tags and reserved concurrency. It answers the operations of the
// Lambda API in terms of Go values and has package lambda run the functions.
//
// What an operation has answered survives a restart. A change of one function never waits for another one's; two
// changes of the same function at one time are refused, as Lambda refuses them. Creating and updating is done when the
// operation answers: a function is Active at once.
//
// What Lambda would refuse is refused with a *aws.Error of Lambda's own code (ResourceNotFoundException,
// ResourceConflictException, InvalidParameterValueException …); any other error is the disk's or the context's.
//
// The package checks no permission. Container images, networks, file systems and encryption keys are refused
// or, where they change nothing here, kept and shown but not obeyed.
//
// Layout of the directory, whose functions belong to the process that has it open:
//
//	ACCOUNT/REGION/NAME/function.json   everything but the code
//	ACCOUNT/REGION/NAME/code/SHA.zip    a deployment package, by the SHA-256 of its bytes in hexadecimal
//	ACCOUNT/REGION/NAME/code/SHA/       the same, unpacked
//	layers/ACCOUNT/REGION/NAME/         layers: their versions in layer.json, their content in code/
//	opt/                                the files of layers together, as functions find them in /opt on AWS
//	runtimes/                           runtime clients of interpreted functions
//	events/                             asynchronous invocations that have not ended, unless Options.Store keeps them
//	tmp/                                packages that are being received
package functions
