package client

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	awsretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"

	"stepback/aws/model"
)

// longestPause is the time by which the header x-amz-retry-after can lengthen a wait at most, as in the SDKs.
const longestPause = 5 * time.Second

// longPolls are the operations that wait as before a retry if the retry quota is empty, as in the SDKs. Programs repeat
// them in a loop, which would otherwise spin.
var longPolls = []string{
	"SQS ReceiveMessage", "SFN GetActivityTask", "SWF PollForActivityTask", "SWF PollForDecisionTask",
}

// retryerOf returns the retryer that the SDK's own client of a service would have: that of the configuration, or the
// standard one with the numbers of the service.
func retryerOf(cfg awssdk.Config, s *model.Service) awssdk.Retryer {
	if cfg.Retryer != nil {
		if cfg.RetryMaxAttempts > 0 {
			return awsretry.AddWithMaxAttempts(cfg.Retryer(), cfg.RetryMaxAttempts)
		}
		return cfg.Retryer()
	}
	standard := func(o *awsretry.StandardOptions) {
		if s.ID == "DynamoDB" || s.ID == "DynamoDB Streams" {
			o.MaxAttempts, o.BaseDelay = 4, 25*time.Millisecond
		}
		if cfg.RetryMaxAttempts > 0 {
			o.MaxAttempts = cfg.RetryMaxAttempts
		}
	}
	if cfg.RetryMode == awssdk.RetryModeAdaptive {
		return awsretry.NewAdaptiveMode(func(o *awsretry.AdaptiveModeOptions) {
			o.StandardOptions = append(o.StandardOptions, standard)
		})
	}
	return awsretry.NewStandard(standard)
}

// Retry repeats a call until it succeeds, the context is done, or the retryer stops. The retryer determines the
// number of attempts, the waits and the tokens; the header x-amz-retry-after of a response can lengthen a wait by up
// to five seconds. Retry returns the result of the last attempt.
func Retry[T any](ctx context.Context, retryer awssdk.Retryer, call func() (T, error)) (T, error) {
	return repeat(ctx, retryer, false, call)
}

// repeat implements Retry. polls is true for a long poll.
func repeat[T any](ctx context.Context, retryer awssdk.Retryer, polls bool, call func() (T, error)) (T, error) {
	release := retryer.GetInitialToken()
	for attempt := 1; ; attempt++ {
		answer, err := call()
		_ = release(err)
		most, judged := retryer.MaxAttempts(), asInSDK(err)
		if err == nil || ctx.Err() != nil || !retryer.IsErrorRetryable(judged) || most > 0 && attempt >= most {
			return answer, err
		}
		next, refused := retryer.GetRetryToken(ctx, judged)
		if refused != nil && !polls {
			return answer, err
		}
		wait, undetermined := retryer.RetryDelay(attempt, judged)
		if undetermined != nil {
			return answer, err
		}
		if !pause(ctx, wait, err) || refused != nil {
			return answer, err
		}
		release = next
	}
}

// pause waits before a retry. It returns false if the context ends first.
func pause(ctx context.Context, wait time.Duration, err error) bool {
	if e, ok := errors.AsType[*Error](err); ok {
		wait = min(max(wait, e.RetryAfter), wait+longestPause)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// isLongPoll reports whether an operation of a service is a long poll.
func isLongPoll(s *model.Service, operation string) bool {
	return slices.Contains(longPolls, s.ID+" "+operation)
}

// asInSDK returns err as the SDK's own clients would return it: the SDK retries status 429 unless the service's model
// has the error, which it recognises by the error's type.
func asInSDK(err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Status != http.StatusTooManyRequests || e.Shape != "" {
		return err
	}
	return &unmodelled{&smithy.GenericAPIError{Code: e.Code, Message: e.Message}, e}
}

// unmodelled is an error that the service's model does not have. It is no smithy.APIError itself: the SDK takes an
// error for modelled unless the first such error in its tree is a generic one.
type unmodelled struct {
	generic *smithy.GenericAPIError
	of      *Error
}

// Error implements error.
func (u *unmodelled) Error() string { return u.of.Error() }

// Unwrap returns the generic error and the error itself.
func (u *unmodelled) Unwrap() []error { return []error{u.generic, u.of} }
