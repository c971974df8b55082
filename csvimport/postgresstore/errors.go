package postgresstore

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"stepback/csvimport"
)

const lockNotAvailable = "55P03"

// failure names an error of PostgreSQL by its SQLSTATE, and an error of the
// connection by what the network said.
func failure(doing string, err error) error {
	var f *csvimport.Failure
	if errors.As(err, &f) {
		return err
	}
	var state *pgconn.PgError
	if errors.As(err, &state) {
		return &csvimport.Failure{
			Name:    csvimport.NameOfSQLState(state.Code),
			Message: fmt.Sprintf("PostgreSQL cannot %s: %s (SQLSTATE %s)", doing, state.Message, state.Code),
			Err:     err,
		}
	}
	return &csvimport.Failure{Name: nameOfNetworkError(err), Message: fmt.Sprintf("PostgreSQL cannot %s: %v", doing, err), Err: err}
}

func nameOfNetworkError(err error) string {
	var dial *net.OpError
	var timeout net.Error
	switch {
	case errors.As(err, &dial) && dial.Op == "dial" && dial.Timeout():
		return csvimport.ConnectionTimeoutError
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return csvimport.TimeoutError
	case errors.As(err, &timeout) && timeout.Timeout():
		return csvimport.SocketTimeoutError
	}
	return csvimport.DatabaseConnectionError
}

func isLockTimeout(err error) bool {
	var state *pgconn.PgError
	return errors.As(err, &state) && state.Code == lockNotAvailable
}
