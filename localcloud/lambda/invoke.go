package lambda

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
)

// The payload limits of a synchronous Invoke, in bytes.
const (
	MaxRequestBytes  = 6 << 20
	MaxResponseBytes = 6<<20 + 100 // the service counts its envelope in
)

// latest is the only version there is.
const latest = "$LATEST"

// InvokeInput names the function and carries its event.
type InvokeInput struct {
	FunctionName string // a name, a partial or a full ARN, with or without qualifier
	Qualifier    string // empty or $LATEST
	Payload      []byte // JSON, at most MaxRequestBytes; empty means {}
	LogTail      bool   // asks for the last 4 KB of the invocation's log
	Valid        bool   // the caller knows that Payload is JSON, so that it need not be checked again
}

// InvokeOutput is what Lambda answers to an invocation that reached the
// function.
type InvokeOutput struct {
	StatusCode      int    // 200
	FunctionError   string // "Unhandled" when Payload is {"errorMessage","errorType",…}
	Payload         []byte
	ExecutedVersion string
	LogTail         []byte
	RequestID       string
}

// Invoke runs the function once and returns its answer. An error is an
// *APIError, or ctx's when ctx ended first. Unlike on AWS, the end of ctx ends
// the function too: a handler's context is cancelled, a process killed.
func (s *Service) Invoke(ctx context.Context, in InvokeInput) (InvokeOutput, error) {
	t, apiErr := parseTarget(in.FunctionName, in.Qualifier)
	if apiErr != nil {
		return InvokeOutput{}, apiErr
	}
	payload, apiErr := checkRequest(in.Payload, in.Valid)
	if apiErr != nil {
		return InvokeOutput{}, apiErr
	}
	d, known, apiErr := s.begin(t.name)
	if apiErr != nil {
		return InvokeOutput{}, apiErr
	}
	defer s.calls.Done()
	if !known || t.qualifier != "" && t.qualifier != latest {
		return InvokeOutput{}, notFound(s.unknownARN(t))
	}
	defer d.active.Add(-1)
	if d.active.Add(1) > int64(d.Concurrency) {
		return InvokeOutput{}, throttled()
	}
	return s.run(ctx, d, payload, in.LogTail)
}

func (s *Service) run(ctx context.Context, d *deployed, payload []byte, tail bool) (InvokeOutput, error) {
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)() //nolint:contextcheck // it watches the service's end as well as the caller's
	c := &call{requestID: newRequestID(), arn: d.arn, payload: payload, timeout: d.Timeout}
	c.log = s.beginLog(d, c.requestID, tail)
	a, err := d.pool.run(running, c)
	if err == nil {
		a = settle(a)
	}
	c.log.end(a)
	if ctx.Err() != nil {
		return InvokeOutput{}, ctx.Err()
	}
	if err != nil {
		return InvokeOutput{}, serviceClosed()
	}
	out := InvokeOutput{StatusCode: http.StatusOK, Payload: a.payload, ExecutedVersion: latest, RequestID: c.requestID}
	if a.failed {
		out.FunctionError = unhandled
	}
	if tail {
		out.LogTail = c.log.lastBytes()
	}
	return out, nil
}

func checkRequest(payload []byte, valid bool) ([]byte, *APIError) {
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

func (s *Service) unknownARN(t target) string {
	qualifier := t.qualifier
	if qualifier == "" {
		qualifier = latest
	}
	return s.FunctionARN(t.name) + ":" + qualifier
}

// newRequestID returns a random UUID. It need not be hard to guess, so it does
// not cost a system call.
func newRequestID() string {
	hi, lo := rand.Uint64(), rand.Uint64()
	hi = hi&^0xf000 | 0x4000
	lo = lo&^(3<<62) | 2<<62
	const digits = "0123456789abcdef"
	var b [36]byte
	at := 0
	for _, word := range [2]uint64{hi, lo} {
		for shift := 60; shift >= 0; shift -= 4 {
			if at == 8 || at == 13 || at == 18 || at == 23 {
				b[at] = '-'
				at++
			}
			b[at] = digits[word>>shift&15]
			at++
		}
	}
	return string(b[:])
}
