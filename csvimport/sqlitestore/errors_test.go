package sqlitestore

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"stepback/csvimport"
	"stepback/retrypatterns"
)

func TestFailureNames(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]string{
		5: retrypatterns.AuroraTemporaryError, 517: retrypatterns.ConcurrentModificationException,
		6:  retrypatterns.DeadlockException,
		10: retrypatterns.StorageError, 13: retrypatterns.StorageError, 14: retrypatterns.StorageError,
		11: retrypatterns.StorageError,
		19: retrypatterns.DatabaseConstraintViolation, 0: retrypatterns.RetryNotWorthwhile,
	} {
		if got := nameOf(code); got != want {
			t.Errorf("%d is %s, want %s", code, got, want)
		}
	}
	full := failure("work", &os.PathError{Op: "mkdir", Path: "d", Err: syscall.ENOSPC})
	if got := csvimport.AsFailure(full).Name; got != retrypatterns.StorageError {
		t.Errorf("a full disk is %s, want StorageError", got)
	}
}

func TestDirectoryCannotBeMade(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), filepath.Join(file, "users.db"), Full)
	if got := csvimport.AsFailure(err).Name; got != retrypatterns.DatabaseConnectionError {
		t.Errorf("error is %v, want DatabaseConnectionError", err)
	}
}
