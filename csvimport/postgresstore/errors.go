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

// SQLSTATEs that mean more to this store than to others.
const (
	lockNotAvailable = "55P03"
	queryCanceled    = "57014"
)

// failure names an error of PostgreSQL by its SQLSTATE, and an error of the connection by what the network said.
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

// nameOfSQLState reads a cancelled query as what it is here: the statement_timeout this store sets ran out, and the
// transaction may be repeated. A code that is no error, and yet failed a call, is not tried again.
func nameOfSQLState(code string) string {
	if code == queryCanceled {
		return retry.TimeoutError
	}
	if c, ok := retry.ClassifySQLState(code); ok {
		return c.Error
	}
	return retry.RetryNotWorthwhile
}

// nameOfConnectionError takes timeouts, and what no retry mends, as the network names them. A connection that was
// refused, reset or lost is a database's, as SQLSTATE class 08 would say if the server could still answer.
func nameOfConnectionError(err error) string {
	var timeout net.Error
	c, ok := retry.Classify(err)
	switch {
	case errors.Is(err, context.Canceled): // the invocation ends: repeating it is safe
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
