package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"

	"stepback/aws"
)

// The payload limits of a synchronous Invoke, in bytes.
const (
	MaxRequestBytes  = 6 << 20
	MaxResponseBytes = 6<<20 + 100 // the service counts its envelope in
)

// InvokeInput names the function and carries its event.
type InvokeInput struct {
	FunctionName string // a name, a partial or a full ARN, with or without qualifier
	Qualifier    string // empty or the number of a version
	Payload      []byte // JSON, at most MaxRequestBytes; empty means {}
	// ClientContext is what the caller passes to the function beside the event, as JSON.
	ClientContext []byte
	// InvokedARN is what the function is told that it was invoked as; the default is its ARN with the qualifier that
	// the call named.
	InvokedARN string
	LogTail    bool // asks for the last 4 KB of the invocation's log
	Valid      bool // the caller knows that Payload is JSON, so that it need not be checked again
}

// InvokeOutput is what Lambda answers to an invocation that reached the function.
type InvokeOutput struct {
	StatusCode      int    // 200
	FunctionError   string // "Unhandled" when Payload is {"errorMessage","errorType",…}
	Payload         []byte
	ExecutedVersion string
	LogTail         []byte
	RequestID       string
}

// Invoke runs the function once and returns its answer. An error is an *aws.Error, or ctx's when ctx ended first. Unlike
// on AWS, the end of ctx ends the function too: a handler's context is cancelled, a process killed.
func (s *Service) Invoke(ctx context.Context, in InvokeInput) (InvokeOutput, error) {
	d, payload, apiErr := s.admit(&in)
	if apiErr != nil {
		return InvokeOutput{}, apiErr
	}
	defer s.leave(d)
	in.Payload = payload
	return s.run(ctx, d, &in, aws.NewID())
}

// admit finds the function of a call that is in order. Its caller leaves it.
func (s *Service) admit(in *InvokeInput) (*deployed, []byte, *aws.Error) {
	n, err := parseName(in.FunctionName, in.Qualifier)
	if err != nil {
		return nil, nil, err
	}
	payload, err := checkRequest(in.Payload, in.Valid)
	if err != nil {
		return nil, nil, err
	}
	d, known, err := s.begin(n.Function, cmp.Or(n.Qualifier, Latest))
	if err != nil {
		return nil, nil, err
	}
	if !known {
		return nil, nil, notFound(s.FunctionARN(n.Function) + ":" + cmp.Or(n.Qualifier, Latest))
	}
	if in.InvokedARN == "" {
		in.InvokedARN = d.arn
		if n.Qualifier != "" {
			in.InvokedARN += ":" + n.Qualifier
		}
	}
	return d, payload, nil
}

// run carries out one invocation, unless too many are under way.
func (s *Service) run(ctx context.Context, d *deployed, in *InvokeInput, requestID string) (InvokeOutput, error) {
	defer d.limit.active.Add(-1)
	if most := d.limit.most.Load(); d.limit.active.Add(1) > most {
		return InvokeOutput{}, throttled(most)
	}
	c := &call{
		requestID: requestID, arn: in.InvokedARN, payload: in.Payload, clientContext: in.ClientContext,
		timeout: d.Timeout,
		closing: s.ctx.Done(),
	}
	c.log = s.beginLog(d, c.requestID, in.LogTail)
	a, err := d.pool.run(ctx, c)
	if err == nil {
		a = settle(a, d.AnyAnswer)
	}
	c.log.end(a)
	if ctx.Err() != nil {
		return InvokeOutput{}, ctx.Err()
	}
	if err != nil {
		return InvokeOutput{}, serviceClosed()
	}
	out := InvokeOutput{StatusCode: http.StatusOK, Payload: a.payload, ExecutedVersion: d.Version,
		RequestID: c.requestID}
	if a.failed {
		out.FunctionError = unhandled
	}
	if in.LogTail {
		out.LogTail = c.log.lastBytes()
	}
	return out, nil
}

func checkRequest(payload []byte, valid bool) ([]byte, *aws.Error) {
	switch {
	case len(payload) == 0:
		return []byte("{}"), nil
	case len(payload) > MaxRequestBytes:
		return nil, requestTooLarge()
	case !valid && !json.Valid(payload):
		return nil, invalidContent("the payload is not valid JSON")
	}
	return payload, nil
}
