package aws

// Error is an error of an AWS API. A service returns it, and a client decodes it.
type Error struct {
	// Code is the error's name, such as ResourceNotFoundException. Message is its message.
	Code, Message string
	// Status is the HTTP status; 0 means 400.
	Status int
	// RequestID is the ID of the failed request. HostID is S3's second ID. A client sets both in an error that it
	// decodes. In an error that a service returns, the server sets the ID.
	RequestID, HostID string
	// Members holds the error's other members besides the message, by their names in the shape. An example is
	// Reason of Lambda's TooManyRequestsException.
	Members map[string]any
}

// Error implements error.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// HTTPStatus returns the HTTP status of the response.
func (e *Error) HTTPStatus() int {
	if e.Status == 0 {
		return badRequest
	}
	return e.Status
}

// ByServer reports whether the service is at fault and not its client.
func (e *Error) ByServer() bool { return e.HTTPStatus() >= internalServerError }

// The HTTP statuses used here, defined without importing net/http.
const badRequest, internalServerError = 400, 500
