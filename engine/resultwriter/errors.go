package resultwriter

import "fmt"

// Names of the Step Functions errors raised by the failures of this package.
const (
	ErrorName          = "States.ResultWriterFailed"
	DataLimitErrorName = "States.DataLimitExceeded"
)

// Error reports a failure to export results.
type Error struct {
	// Cause is the text for the history event: what failed, where, and what to do.
	Cause string
	// Err is the underlying error, nil if the configuration is at fault.
	Err error
}

// Error implements error.
func (e *Error) Error() string { return ErrorName + ": " + e.Cause }

// Unwrap returns the underlying error.
func (e *Error) Unwrap() error { return e.Err }

// DataLimitError reports that the results do not fit into a state output.
type DataLimitError struct {
	// Limit is the maximum size of the output in bytes.
	Limit int
}

// Error implements error.
func (e *DataLimitError) Error() string { return DataLimitErrorName + ": " + e.Cause() }

// Cause returns the text for the history event.
func (e *DataLimitError) Cause() string {
	return fmt.Sprintf("The results of the child executions are larger than %d bytes; export them to S3 with a ResultWriter.", e.Limit)
}
