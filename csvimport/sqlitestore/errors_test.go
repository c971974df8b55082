package sqlitestore

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"stepback/csvimport"
	"stepback/retry"
)

func TestFailureNames(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]string{
		5: retry.AuroraTemporaryError, 517: retry.ConcurrentModificationException,
		6:  retry.DeadlockException,
		10: retry.StorageError, 13: retry.StorageError, 14: retry.StorageError,
		11: retry.StorageError,
		19: retry.DatabaseConstraintViolation, 0: retry.RetryNotWorthwhile,
	} {
		if got := nameOf(code); got != want {
			t.Errorf("%d is %s, want %s", code, got, want)
		}
	}
	full := failure("work", &os.PathError{Op: "mkdir", Path: "d", Err: syscall.ENOSPC})
	if got := csvimport.AsFailure(full).Name; got != retry.StorageError {
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
	if got := csvimport.AsFailure(err).Name; got != retry.DatabaseConnectionError {
		t.Errorf("error is %v, want DatabaseConnectionError", err)
	}
}
