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
	"stepback/retrypatterns"
)

func TestFailureNames(t *testing.T) {
	t.Parallel()
	state := func(code string) error { return fmt.Errorf("exec: %w", &pgconn.PgError{Code: code}) }
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"serialization":        {state("40001"), retrypatterns.ConcurrentModificationException},
		"deadlock":             {state("40P01"), retrypatterns.DeadlockException},
		"connection failure":   {state("08006"), retrypatterns.DatabaseConnectionError},
		"too many connections": {state("53300"), retrypatterns.DatabaseConnectionError},
		"failover":             {state("57P01"), retrypatterns.AuroraTemporaryError},
		"stale writer":         {state("25006"), retrypatterns.AuroraTemporaryError},
		"statement_timeout":    {state("57014"), retrypatterns.TimeoutError},
		"constraint":           {state("23505"), retrypatterns.DatabaseConstraintViolation},
		"privilege":            {state("42501"), retrypatterns.AccessDenied},
		"disk full":            {state("53100"), retrypatterns.StorageError},
		"internal error":       {state("XX000"), retrypatterns.StorageError},
		"no state":             {state(""), retrypatterns.RetryNotWorthwhile},
		"refused": {&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)},
			retrypatterns.DatabaseConnectionError},
		"dial timeout": {&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded},
			retrypatterns.ConnectionTimeoutError},
		"read timeout": {&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded},
			retrypatterns.SocketTimeoutError},
		"lost":                  {io.ErrUnexpectedEOF, retrypatterns.DatabaseConnectionError},
		"invocation cancelled":  {context.Canceled, retrypatterns.TimeoutError},
		"invocation's deadline": {context.DeadlineExceeded, retrypatterns.TimeoutError},
		"unknown":               {errors.New("conn closed"), retrypatterns.DatabaseConnectionError},
	} {
		var f *csvimport.Failure
		if !errors.As(failure("work", tt.err), &f) || f.Name != tt.want {
			t.Errorf("%s is %v, want %s", name, f, tt.want)
		}
	}
}
