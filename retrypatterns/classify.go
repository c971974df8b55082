package retrypatterns

import "errors"

// Classify classifies any Go error by the best identity it carries, wrapped or not: a SQLSTATE, an AWS error code, an
// HTTP status, an error value of the standard library, and only if there is none of these, its message.
//
// Drivers and SDKs are recognised by the methods their errors have (SQLState, ErrorCode, HTTPStatusCode), not by their
// packages. gRPC codes and SQLite result codes have no such method: use [ClassifyGRPC] and [ClassifySQLite]. It is
// false for nil and for errors that nothing is known about; the careful reading of those is permanent.
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
		return Classification{}, false // it has a code: its words are not consulted
	}
	return ClassifyMessage(err.Error())
}

// What errors of drivers and SDKs can tell about themselves.
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

// classifyAWSError goes by the code, if there is a coder, then by the HTTP status.
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
