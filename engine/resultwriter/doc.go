// Package resultwriter gathers what the child executions of a distributed Map leave behind: Writer exports it to S3 as
// result files with a manifest, Collector builds the state output where nothing is exported.
//
// It never holds the results of an export in memory (they wait in temporary files), never decides whether a Map run
// failed, never starts a goroutine and never talks to S3 itself: the upload goes through the small interface Objects. A
// failed export is an *Error, which the engine reports as States.ResultWriterFailed; a state output over 256 KiB is a
// *DataLimitError.
//
// The shape of the files follows the real service: manifest.json, SUCCEEDED_n.json, FAILED_n.json and PENDING_n.json
// under <prefix>/<Map run's UUID>/, members in alphabetical order. It is not known how the service names JSON Lines
// files; they are named .json here too, as the documentation has it, and the manifest lists them all.
package resultwriter
