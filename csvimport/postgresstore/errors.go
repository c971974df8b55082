package postgresstore

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"stepback/csvimport"
	"stepback/retry"
)

// SQLSTATEs with a special meaning for this store.
const (
	lockNotAvailable = "55P03"
	queryCanceled    = "57014"
)

// failure converts an error to a Failure: an error of PostgreSQL is named by its SQLSTATE, a connection error by
// the network's error.
func failure(doing string, err error) error {
	var f *csvimport.Failure
	if errors.As(err, &f) {
		return err
	}
	var state *pgconn.PgError
	if errors.As(err, &state) {
		return &csvimport.Failure{
			Name:    nameOfSQLState(state.Code),
			Message: fmt.Sprintf("PostgreSQL cannot %s: %s (SQLSTATE %s)", doing, state.Message, state.Code),
			Err:     err,
		}
	}
	return &csvimport.Failure{
		Name: nameOfConnectionError(err), Message: fmt.Sprintf("PostgreSQL cannot %s: %v", doing, err), Err: err,
	}
}

// nameOfSQLState returns the error name for a SQLSTATE. A cancelled query means here that the statement_timeout set
// by this store has expired, so the transaction may be repeated. A code that does not stand for an error gives
// RetryNotWorthwhile, so the call is not retried.
func nameOfSQLState(code string) string {
	if code == queryCanceled {
		return retry.TimeoutError
	}
	if c, ok := retry.ClassifySQLState(code); ok {
		return c.Error
	}
	return retry.RetryNotWorthwhile
}

// nameOfConnectionError returns the error name for a connection error. Timeouts, and errors that no retry fixes,
// keep the name of the network error. A connection that was refused, reset or lost is a database connection error,
// like SQLSTATE class 08, which the server would return if it could still respond.
func nameOfConnectionError(err error) string {
	var timeout net.Error
	c, ok := retry.Classify(err)
	switch {
	case errors.Is(err, context.Canceled): // the invocation ends: repeating the call is safe
		return retry.TimeoutError
	case ok && (c.Class == retry.Permanent || errors.As(err, &timeout) && timeout.Timeout()):
		return c.Error
	}
	return retry.DatabaseConnectionError
}

func isLockTimeout(err error) bool {
	var state *pgconn.PgError
	return errors.As(err, &state) && state.Code == lockNotAvailable
}
