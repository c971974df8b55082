package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"stepback/aws"
	"stepback/tasks/lambda/invocation"
)

// Invoke runs the function once, whatever the request's Type, and returns its response. The qualifier is empty or a
// version number. The error is an *aws.Error, or ctx's if ctx ended first. Unlike on AWS, the end of ctx also stops
// the function: a handler's context is cancelled, a process is killed.
func (s *Service) Invoke(ctx context.Context, r *invocation.Request) (*invocation.Answer, error) {
	c, err := s.admit(r)
	if err != nil {
		return nil, err
	}
	defer s.leave(c.function)
	return s.run(ctx, c, cmp.Or(r.RequestID, aws.NewID()))
}

// admitted is a validated request for a registered function.
type admitted struct {
	function      *deployed
	payload       []byte
	clientContext []byte
	invokedARN    string
	tenant        string
	wantsLog      bool
	stream        invocation.Stream
}

// admit validates a request and returns it with its function. The caller must call leave.
func (s *Service) admit(r *invocation.Request) (*admitted, error) {
	n, err := invocation.ParseName(r.FunctionName, r.Qualifier)
	if err != nil {
		return nil, err
	}
	payload, err := checkRequest(r.Payload, r.Valid)
	if err != nil {
		return nil, err
	}
	d, known, err := s.begin(n.Function, cmp.Or(n.Qualifier, invocation.Latest))
	if err != nil {
		return nil, err
	}
	if !known {
		return nil, notFound(s.FunctionARN(n.Function) + ":" + cmp.Or(n.Qualifier, invocation.Latest))
	}
	c := &admitted{function: d, payload: payload, clientContext: r.ClientContext, invokedARN: r.InvokedARN,
		tenant: r.TenantID, wantsLog: r.WantsLog(), stream: r.Stream}
	if c.invokedARN == "" {
		c.invokedARN = d.arn
		if n.Qualifier != "" {
			c.invokedARN += ":" + n.Qualifier
		}
	}
	return c, nil
}

// run performs one invocation, or throttles it if too many are running.
func (s *Service) run(ctx context.Context, in *admitted, requestID string) (*invocation.Answer, error) {
	d := in.function
	defer d.limit.active.Add(-1)
	most, active := d.limit.most.Load(), d.limit.active.Add(1)
	if active > most {
		trace := s.traceOf(ctx, d)
		s.tell(Ran{Function: d.Name, Throttled: true, ARN: d.arn, RequestID: requestID, Trace: trace,
			Segment: segmentOf(trace)})
		return nil, throttled(most)
	}
	began := time.Now()
	c := &call{
		requestID: requestID, arn: in.invokedARN, payload: in.payload, clientContext: in.clientContext,
		timeout: d.Timeout, tenant: in.tenant, closing: s.ctx.Done(),
	}
	if in.stream != nil {
		c.stream = &begunStream{Stream: in.stream}
	}
	trace := s.traceOf(ctx, d)
	segment := segmentOf(trace)
	if trace.Root != "" {
		c.trace = trace.Under(segment).String()
	}
	c.log = s.beginLog(d, c.requestID, in.wantsLog)
	a, err := d.pool.run(ctx, c)
	if err == nil {
		a.streamed = c.stream != nil && c.stream.begun
		a = settle(a, d.AnyAnswer)
	}
	c.log.end(a)
	s.tell(Ran{Function: d.Name, Took: time.Since(began), Failed: err != nil || a.failed, Active: active,
		ARN: d.arn, RequestID: requestID, Trace: trace, Segment: segment})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, serviceClosed()
	}
	if a.refused != nil {
		return nil, a.refused
	}
	out := &invocation.Answer{StatusCode: http.StatusOK, Payload: a.payload, ExecutedVersion: d.Version,
		RequestID: c.requestID, ContentType: a.contentType,
		Streamed: a.streamed}
	if a.failed {
		out.FunctionError = invocation.Unhandled
	}
	if in.wantsLog {
		out.LogTail = c.log.lastBytes()
	}
	return out, nil
}

// traceOf returns the trace that an invocation belongs to; a trace without a Root means none.
func (s *Service) traceOf(ctx context.Context, d *deployed) aws.Trace {
	trace, given := aws.TraceOf(ctx)
	switch {
	case given && !trace.Undecided:
	case d.Traced && s.opts.Sample != nil:
		sampled := s.opts.Sample(d.Name, d.arn)
		if !given {
			if !sampled {
				return aws.Trace{}
			}
			trace = aws.NewTrace(time.Now(), true)
		}
		trace.Sampled, trace.Undecided = sampled, false
	}
	return trace
}

// segmentOf returns the ID of the function's segment: a new ID if the trace is recorded, otherwise the parent's.
func segmentOf(trace aws.Trace) string {
	if !trace.Sampled {
		return trace.Parent
	}
	return aws.NewSegmentID()
}

// tell passes an invocation's measurements to Options.Ran.
func (s *Service) tell(r Ran) {
	if s.opts.Ran != nil {
		s.opts.Ran(r)
	}
}

func checkRequest(payload []byte, valid bool) ([]byte, error) {
	switch {
	case len(payload) == 0:
		return []byte("{}"), nil
	case len(payload) > invocation.MaxRequestBytes:
		return nil, RequestTooLarge()
	case !valid && !json.Valid(payload):
		return nil, invalidContent("the payload is not valid JSON")
	}
	return payload, nil
}
