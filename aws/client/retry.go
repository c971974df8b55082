package client

import (
	"context"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
)

// Retry repeats a call until it succeeds, the context is done, or the retryer stops. The retryer determines the
// number of attempts, the waits and the tokens. Retry returns the result of the last attempt.
func Retry[T any](ctx context.Context, retryer awssdk.Retryer, call func() (T, error)) (T, error) {
	release := retryer.GetInitialToken()
	for attempt := 1; ; attempt++ {
		answer, err := call()
		_ = release(err)
		most := retryer.MaxAttempts()
		if err == nil || ctx.Err() != nil || most > 0 && attempt >= most || !retryer.IsErrorRetryable(err) {
			return answer, err
		}
		next, refused := retryer.GetRetryToken(ctx, err)
		if refused != nil {
			return answer, err
		}
		release = next
		wait, refused := retryer.RetryDelay(attempt, err)
		if refused != nil {
			return answer, err
		}
		pause := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			pause.Stop()
			return answer, err
		case <-pause.C:
		}
	}
}
