package csvimport_test

import (
	"errors"
	"fmt"
	"testing"

	"stepback/csvimport"
	"stepback/statemachine"
)

func TestFingerprintNeverChanges(t *testing.T) {
	t.Parallel()
	for inc, want := range map[csvimport.Increment]int64{
		{}: -8637869204239850395, {UserID: "u1", LoginCount: 1, PostCount: 2}: 7008167013209301040,
		{UserID: "u1", LoginCount: 2, PostCount: 1}: 3548471492076212752,
	} {
		if got := inc.Fingerprint(); got != want {
			t.Errorf("fingerprint of %+v is %d, want %d", inc, got, want)
		}
	}
}

func TestAsFailure(t *testing.T) {
	t.Parallel()
	named := csvimport.Fail(statemachine.CSVFileEmpty, "empty: %w", errors.New("cause"))
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
