package runner

import (
	"fmt"
	"net/http"

	"stepback/aws"
	"stepback/tasks/lambda/invocation"
)

// CheckEvent returns the payload of an asynchronous invocation, or {} if it is empty. The error is an *aws.Error if
// the payload is too large or not JSON.
func CheckEvent(r *invocation.Request) ([]byte, error) {
	if n := len(r.Payload); n > invocation.MaxEventBytes {
		return nil, EventTooLarge(n)
	}
	return checkRequest(r.Payload, r.Valid)
}

// EventTooLarge returns the error for an asynchronous payload of a size above MaxEventBytes.
func EventTooLarge(size int) error {
	return &aws.Error{
		Code: "RequestTooLargeException", Status: http.StatusRequestEntityTooLarge,
		Message: fmt.Sprintf("%d byte payload is too large for the Event invocation type (limit %d bytes)", size,
			invocation.MaxEventBytes),
	}
}
