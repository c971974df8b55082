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

// unavailable is the refusal of what cannot be kept now: clients try it again. It is nil when that is not what went
// wrong.
func unavailable(err error) *aws.Error {
	var why string
	switch {
	case errors.Is(err, journal.ErrDiskFull), errors.Is(err, syscall.ENOSPC):
		why = "The disk of the data directory is full; make room. What was acknowledged is kept."
	case errors.Is(err, journal.ErrBroken):
		why = "The disk of the data directory refused a write. What was acknowledged is kept; when the disk is well again, start stepback again."
	case errors.Is(err, journal.ErrClosed), errors.Is(err, engine.ErrClosed),
		errors.Is(err, context.Canceled): // by whom, if not by the client
		why = "The server is shutting down."
	default:
		return nil
	}
	return &aws.Error{Code: "ServiceUnavailable", Message: why, Status: http.StatusServiceUnavailable}
}
