package ctxerr_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"stepback/internal/ctxerr"
)

func TestOf(t *testing.T) {
	t.Parallel()
	boom := errors.New("a sibling failed")
	wrapped := fmt.Errorf("stopping: %w", context.Canceled)
	ended := func(cause error) context.Context {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		return ctx
	}
	late, cancel := context.WithDeadlineCause(t.Context(), time.Unix(0, 0), boom)
	defer cancel()
	for name, test := range map[string]struct {
		ctx  context.Context
		want string
		is   []error
	}{
		"not ended":           {t.Context(), "<nil>", nil},
		"cancelled":           {ended(nil), "context canceled", []error{context.Canceled}},
		"with a cause":        {ended(boom), "context canceled: a sibling failed", []error{context.Canceled, boom}},
		"a cause that has it": {ended(wrapped), "stopping: context canceled", []error{context.Canceled, wrapped}},
		"deadline with cause": {late, "context deadline exceeded: a sibling failed", []error{context.DeadlineExceeded, boom}},
	} {
		err := ctxerr.Of(test.ctx)
		if fmt.Sprint(err) != test.want {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
		for _, is := range test.is {
			if !errors.Is(err, is) {
				t.Errorf("%s: %v is not %v", name, err, is)
			}
		}
	}
}
