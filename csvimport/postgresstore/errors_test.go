package postgresstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"stepback/csvimport"
	"stepback/retry"
)

func TestFailureNames(t *testing.T) {
	t.Parallel()
	state := func(code string) error { return fmt.Errorf("exec: %w", &pgconn.PgError{Code: code}) }
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"serialization":        {state("40001"), retry.ConcurrentModificationException},
		"deadlock":             {state("40P01"), retry.DeadlockException},
		"connection failure":   {state("08006"), retry.DatabaseConnectionError},
		"too many connections": {state("53300"), retry.DatabaseConnectionError},
		"failover":             {state("57P01"), retry.AuroraTemporaryError},
		"stale writer":         {state("25006"), retry.AuroraTemporaryError},
		"statement_timeout":    {state("57014"), retry.TimeoutError},
		"constraint":           {state("23505"), retry.DatabaseConstraintViolation},
		"privilege":            {state("42501"), retry.AccessDenied},
		"disk full":            {state("53100"), retry.StorageError},
		"internal error":       {state("XX000"), retry.StorageError},
		"no state":             {state(""), retry.RetryNotWorthwhile},
		"refused": {&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)},
			retry.DatabaseConnectionError},
		"dial timeout": {&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded},
			retry.ConnectionTimeoutError},
		"read timeout": {&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded},
			retry.SocketTimeoutError},
		"lost":                  {io.ErrUnexpectedEOF, retry.DatabaseConnectionError},
		"invocation cancelled":  {context.Canceled, retry.TimeoutError},
		"invocation's deadline": {context.DeadlineExceeded, retry.TimeoutError},
		"unknown":               {errors.New("conn closed"), retry.DatabaseConnectionError},
	} {
		var f *csvimport.Failure
		if !errors.As(failure("work", tt.err), &f) || f.Name != tt.want {
			t.Errorf("%s is %v, want %s", name, f, tt.want)
		}
	}
}
