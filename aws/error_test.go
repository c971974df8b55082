package aws_test

import (
	"errors"
	"fmt"
	"testing"

	"stepback/aws"
)

func ExampleError() {
	err := fmt.Errorf("invoking resize: %w", &aws.Error{
		Code: "TooManyRequestsException", Message: "Rate Exceeded.", Status: 429,
		Members: map[string]any{"Reason": "ConcurrentInvocationLimitExceeded"},
	})
	var refused *aws.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.HTTPStatus(), refused.ByServer(), refused)
	}
	// Output: 429 false TooManyRequestsException: Rate Exceeded.
}

func TestErrorStatus(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]int{0: 400, 404: 404, 500: 500, 503: 503} {
		e := aws.Error{Status: status}
		if e.HTTPStatus() != want || e.ByServer() != (want >= 500) {
			t.Errorf("status %d: %d, by the server %v", status, e.HTTPStatus(), e.ByServer())
		}
	}
}
