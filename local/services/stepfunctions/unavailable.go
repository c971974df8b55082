package stepfunctions

import (
	"context"
	"errors"
	"net/http"
	"syscall"

	"stepback/aws"
	"stepback/engine"
	"stepback/engine/journal"
)

// unavailable returns a retryable error if err means that a write cannot be stored now. It returns nil for other
// errors.
func unavailable(err error) *aws.Error {
	var why string
	switch {
	case errors.Is(err, journal.ErrDiskFull), errors.Is(err, syscall.ENOSPC):
		why = "The disk of the data directory is full; make room. What was acknowledged is kept."
	case errors.Is(err, journal.ErrBroken):
		why = "The disk of the data directory refused a write. What was acknowledged is kept; when the disk is well again, start stepback again."
	case errors.Is(err, journal.ErrClosed), errors.Is(err, engine.ErrClosed),
		errors.Is(err, context.Canceled): // by the server, if the client has not cancelled
		why = "The server is shutting down."
	default:
		return nil
	}
	return &aws.Error{Code: "ServiceUnavailable", Message: why, Status: http.StatusServiceUnavailable}
}
