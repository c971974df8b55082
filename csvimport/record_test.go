package csvimport_test

import (
	"errors"
	"fmt"
	"testing"

	"stepback/csvimport"
)

func TestNameOfSQLState(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"40001": csvimport.ConcurrentModificationException, "40P01": csvimport.DeadlockException, "40002": csvimport.DatabaseConstraintViolation,
		"40003": csvimport.DatabaseConnectionError, "08006": csvimport.DatabaseConnectionError, "08P01": csvimport.RetryNotWorthwhile,
		"57P01": csvimport.AuroraTemporaryError, "57P04": csvimport.RetryNotWorthwhile, "57014": csvimport.TimeoutError,
		"53300": csvimport.DatabaseConnectionError, "53100": csvimport.RetryNotWorthwhile, "55P03": csvimport.ConcurrentModificationException,
		"25006": csvimport.AuroraTemporaryError, "22003": csvimport.DatabaseConstraintViolation, "23505": csvimport.DatabaseConstraintViolation,
		"42P01": csvimport.DatabaseConstraintViolation, "42501": csvimport.AccessDenied, "28P01": csvimport.AccessDenied,
		"58030": csvimport.AuroraTemporaryError, "XX000": csvimport.RetryNotWorthwhile, "": csvimport.RetryNotWorthwhile,
	} {
		if got := csvimport.NameOfSQLState(code); got != want {
			t.Errorf("%q is %s, want %s", code, got, want)
		}
	}
}

func TestNameOfSQLiteCode(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]string{
		5: csvimport.AuroraTemporaryError, 261: csvimport.AuroraTemporaryError, 517: csvimport.ConcurrentModificationException, 773: csvimport.AuroraTemporaryError,
		6: csvimport.ConcurrentModificationException, 262: csvimport.ConcurrentModificationException, 15: csvimport.AuroraTemporaryError,
		10: csvimport.AuroraTemporaryError, 13: csvimport.RetryNotWorthwhile, 14: csvimport.DatabaseConnectionError, 19: csvimport.DatabaseConstraintViolation,
		2067: csvimport.DatabaseConstraintViolation, 8: csvimport.AccessDenied, 11: csvimport.RetryNotWorthwhile,
	} {
		if got := csvimport.NameOfSQLiteCode(code); got != want {
			t.Errorf("%d is %s, want %s", code, got, want)
		}
	}
}

func TestFingerprintNeverChanges(t *testing.T) {
	t.Parallel()
	for inc, want := range map[csvimport.Increment]int64{
		{}: -8637869204239850395, {UserID: "u1", LoginCount: 1, PostCount: 2}: 7008167013209301040, {UserID: "u1", LoginCount: 2, PostCount: 1}: 3548471492076212752,
	} {
		if got := inc.Fingerprint(); got != want {
			t.Errorf("fingerprint of %+v is %d, want %d", inc, got, want)
		}
	}
}

func TestAsFailure(t *testing.T) {
	t.Parallel()
	named := csvimport.Fail(csvimport.CSVFileEmpty, "empty: %w", errors.New("cause"))
	if got := csvimport.AsFailure(fmt.Errorf("wrapped: %w", named)); got != named {
		t.Errorf("AsFailure is %v, want the failure inside", got)
	}
	if got := csvimport.AsFailure(errors.New("what")); got.Name != csvimport.UnexpectedError {
		t.Errorf("name is %s, want UnexpectedError", got.Name)
	}
}

func ExampleRecord_Increment() {
	inc, err := csvimport.Record{UserID: " u1 ", LoginCount: "3", PostCount: "007"}.Increment()
	fmt.Printf("%+v %v\n", inc, err)
	_, err = csvimport.Record{UserID: "u1", LoginCount: "-3", PostCount: "many", Line: "12"}.Increment()
	fmt.Println(err)
	// Output:
	// {UserID:u1 LoginCount:3 PostCount:7} <nil>
	// ValidationError: line 12: login_count -3 is negative: counts are added, so only 0 and more are allowed; post_count "many" is not a whole number: use the digits 0 to 9 only, without sign, separators or decimals
}
