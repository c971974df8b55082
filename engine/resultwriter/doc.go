// Package resultwriter collects the results of the child executions of a distributed Map: Writer exports them to S3
// as result files with a manifest; Collector builds the state output if nothing is exported.
//
// It never holds the results of an export in memory (they wait in temporary files), never decides whether a Map Run
// failed, never starts a goroutine and never talks to S3 itself: uploads go through the small interface Objects. A
// failed export is an *Error, which the engine reports as States.ResultWriterFailed; a state output over 256 KiB is a
// *DataLimitError.
//
// The format of the files follows the real service: manifest.json, SUCCEEDED_n.json, FAILED_n.json and PENDING_n.json
// under <prefix>/<Map Run's UUID>/, members in alphabetical order. How the service names JSON Lines files is not
// known; they are named .json here too, as in the documentation, and the manifest lists them all.
package resultwriter
