package standin

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"stepback/aws"
	"stepback/tasks/lambda/invocation"
)

// poster posts payloads to a URL. A 2xx response is the result. Any other response is a function error if it is an
// error object. Otherwise it is an error of Lambda itself: TooManyRequestsException for 429, ServiceException for
// 5xx, and InvalidRequestContentException for all others.
type poster struct{ url string }

func newPoster(address string) (*poster, error) {
	if u, err := url.Parse(address); err != nil || u.Host == "" {
		return nil, fmt.Errorf("%s is not a URL", address)
	}
	return &poster{address}, nil
}

// Invoke implements invocation.Invoker.
func (i *poster) Invoke(ctx context.Context, in *invocation.Request) (*invocation.Answer, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, i.url, bytes.NewReader(in.Payload))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, refusal("ServiceException", err.Error(), http.StatusInternalServerError)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, invocation.MaxResponseBytes+1))
	if err != nil {
		return nil, refusal("ServiceException", err.Error(), http.StatusInternalServerError)
	}
	failed := answer.Header.Get("X-Amz-Function-Error")
	switch status := answer.StatusCode; {
	case status/100 == 2:
		return answered(body, failed), nil
	case describesError(body):
		return answered(body, cmp.Or(failed, invocation.Unhandled)), nil
	case status == http.StatusTooManyRequests:
		return nil, refusal("TooManyRequestsException", answer.Status, status)
	case status >= http.StatusInternalServerError:
		return nil, refusal("ServiceException", answer.Status, status)
	default:
		return nil, refusal("InvalidRequestContentException", answer.Status, status)
	}
}

func answered(payload []byte, failed string) *invocation.Answer {
	return &invocation.Answer{
		StatusCode: http.StatusOK, FunctionError: failed, Payload: payload, ExecutedVersion: "$LATEST",
		RequestID: aws.NewID(),
	}
}

func refusal(code, message string, status int) *aws.Error {
	return &aws.Error{Code: code, Message: message, Status: status, RequestID: aws.NewID()}
}
