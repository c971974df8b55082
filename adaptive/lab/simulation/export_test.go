package simulation

import (
	"context"
	"time"

	"stepback/adaptive/lab/draw"
)

// RunWithDelay is Run with different waits before retries, for models that have been solved only for those.
func RunWithDelay(ctx context.Context, c Options, delay func(*draw.Stream) time.Duration) (*Result, error) {
	r, err := newRun(c)
	if err != nil {
		return nil, err
	}
	r.delay = delay
	return r.finish(ctx)
}
