package aws

// Error is an error of an AWS API, as a service answers it and as a client reads it.
type Error struct {
	// Code is the error's name, such as ResourceNotFoundException; Message is what it says.
	Code, Message string
	// Status is the HTTP status; 0 means 400.
	Status int
	// RequestID is that of the request that was refused, HostID the second one that S3 has. Clients set them; the ID of
	// an answer that a service writes is the server's.
	RequestID, HostID string
	// Members are what the error says besides its message, by the names of its shape's members: Reason of Lambda's
	// TooManyRequestsException, for instance.
	Members map[string]any
}

// Error implements error.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// HTTPStatus is the status of the answer.
func (e *Error) HTTPStatus() int {
	if e.Status == 0 {
		return badRequest
	}
	return e.Status
}

// ByServer reports whether the service is at fault rather than its client.
func (e *Error) ByServer() bool { return e.HTTPStatus() >= internalServerError }

// The HTTP statuses that the vocabulary needs, without a package of the network.
const badRequest, internalServerError = 400, 500
