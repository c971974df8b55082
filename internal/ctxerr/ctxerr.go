// Package ctxerr reports why a context has ended. [context.Context.Err] lacks the cause, and [context.Cause] lacks the
// error: after cancel(cause), errors.Is finds context.Canceled in the first only and the cause in the second only.
package ctxerr

import (
	"context"
	"errors"
	"fmt"
)

// Of returns an error in which errors.Is finds both ctx.Err() and the cause that the context was ended with. Without
// such a cause it is ctx.Err() itself. It is nil if ctx has not ended.
func Of(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if err == nil || cause == nil || errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}
