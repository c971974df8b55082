package resultwriter

import "fmt"

// Names of the Step Functions errors that this package's failures raise.
const (
	ErrorName          = "States.ResultWriterFailed"
	DataLimitErrorName = "States.DataLimitExceeded"
)

// Error is every failure to export results.
type Error struct {
	// Cause is the text for the history event: what failed, where, and what to do.
	Cause string
	// Err is the underlying error, nil when the configuration is at fault.
	Err error
}

// Error implements error.
func (e *Error) Error() string { return ErrorName + ": " + e.Cause }

// Unwrap returns the underlying error.
func (e *Error) Unwrap() error { return e.Err }

// DataLimitError says that the results do not fit into a state output.
type DataLimitError struct {
	// Limit is the largest output in bytes.
	Limit int
}

// Error implements error.
func (e *DataLimitError) Error() string { return DataLimitErrorName + ": " + e.Cause() }

// Cause is the text for the history event.
func (e *DataLimitError) Cause() string {
	return fmt.Sprintf("The results of the child executions are larger than %d bytes; export them to S3 with a ResultWriter.", e.Limit)
}
