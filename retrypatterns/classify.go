package retrypatterns

import "errors"

// Classify classifies any Go error, wrapped or not, by the most reliable identity that it carries: a SQLSTATE, an AWS
// error code, an HTTP status, an error value of the standard library, and only without any of these, its message.
//
// Errors of drivers and SDKs are recognised by their methods (SQLState, ErrorCode, HTTPStatusCode), not by their
// packages. gRPC codes and SQLite result codes have no such method: use [ClassifyGRPC] and [ClassifySQLite]. The
// result is false for nil and for unknown errors; the cautious choice is to treat those as permanent.
func Classify(err error) (Classification, bool) {
	if err == nil {
		return Classification{}, false
	}
	state, hasState := errors.AsType[sqlStater](err)
	if hasState {
		if c, ok := ClassifySQLState(state.SQLState()); ok {
			return c, true
		}
	}
	coder, hasCode := errors.AsType[awsCoder](err)
	if c, ok := classifyAWSError(err, coder); ok {
		return c, true
	}
	if c, ok := ClassifyNetwork(err); ok {
		return c, true
	}
	if hasState || hasCode {
		return Classification{}, false // it has a code, so its message is not considered
	}
	return ClassifyMessage(err.Error())
}

// The methods by which errors of drivers and SDKs identify themselves.
type (
	sqlStater interface { // pgx, lib/pq
		error
		SQLState() string
	}
	awsCoder interface { // smithy-go's APIError
		error
		ErrorCode() string
	}
	awsOperation interface { // smithy-go's OperationError
		error
		Service() string
	}
	httpStater interface { // smithy-go's http.ResponseError
		error
		HTTPStatusCode() int
	}
)

// classifyAWSError classifies by the error code, if there is a coder, and then by the HTTP status.
func classifyAWSError(err error, coder awsCoder) (Classification, bool) {
	service := ""
	if operation, ok := errors.AsType[awsOperation](err); ok {
		service = operation.Service()
	}
	if coder != nil {
		if c, ok := ClassifyAWS(service, coder.ErrorCode()); ok {
			return c, true
		}
	}
	if response, ok := errors.AsType[httpStater](err); ok {
		return classifyAWSStatus(service, response.HTTPStatusCode())
	}
	return Classification{}, false
}
