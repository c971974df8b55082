package durablefunctions

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"stepback/aws"
	"stepback/engine/durable"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/local/services/lambda/runner"
	"stepback/tasks/lambda/invocation"
)

// Start is a request to start an execution.
type Start struct {
	// Name is the execution's name; empty means a new one.
	Name, Input string
	// Tenant is the tenant for whom the function runs; empty means none.
	Tenant string
	// Sync is true if the caller waits for the result.
	Sync bool
}

// longestSync is the longest execution timeout of a function that is invoked synchronously, in seconds.
const longestSync = 900

func unqualified() error {
	return refusal("InvalidParameterValueException", http.StatusBadRequest,
		"You cannot invoke a durable function using an unqualified ARN.")
}

func refusal(code string, status int, message string) error {
	return &aws.Error{Code: code, Message: message, Status: status, Members: map[string]any{"Type": "User"}}
}

// Invoke invokes a durable function, as the Invoke operation does. For the type Event it returns when the execution is
// on disk. Otherwise it returns the execution's result.
func (s *Service) Invoke(ctx context.Context, v Version, r *invocation.Request) (*invocation.Answer, error) {
	in := &Start{Name: r.DurableExecutionName, Input: cmp.Or(string(r.Payload), "{}"), Tenant: r.TenantID,
		Sync: r.Type != invocation.Event}
	switch {
	case !v.Qualified:
		return nil, unqualified()
	case in.Sync && v.Timeout > longestSync:
		return nil, refusal("InvalidParameterValueException", http.StatusBadRequest,
			"You cannot synchronously invoke a durable function with an executionTimeout greater than 15 minutes.")
	}
	x, err := s.start(ctx, v, in)
	if err != nil {
		return nil, err
	}
	answer := &invocation.Answer{StatusCode: http.StatusAccepted, DurableExecutionARN: x.ARN, RequestID: aws.NewID()}
	if !in.Sync {
		return answer, nil
	}
	end, err := s.wait(ctx, x.ARN)
	if err != nil {
		return nil, err
	}
	answer.StatusCode, answer.ExecutedVersion = http.StatusOK, v.Number
	if end.Status == durable.Succeeded {
		answer.Payload = []byte(deref(end.Result))
		return answer, nil
	}
	answer.FunctionError = invocation.Unhandled
	answer.Payload, err = json.Marshal(lambdaError(end.Status, end.Error))
	return answer, err
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// reported is an error as the response of a synchronous invocation has it.
type reported struct {
	Message *string  `json:"errorMessage,omitempty"`
	Type    *string  `json:"errorType,omitempty"`
	Data    *string  `json:"errorData,omitempty"`
	Trace   []string `json:"stackTrace,omitempty"`
}

func lambdaError(status string, e *durable.Error) reported {
	if e == nil {
		message := "The durable execution ended with the status " + status + "."
		return reported{Message: &message}
	}
	return reported{e.ErrorMessage, e.ErrorType, e.ErrorData, e.StackTrace}
}

// executionARN returns the ARN of an execution of a function version.
func executionARN(v Version, name, id string) string {
	return v.ARN() + durable.InARN + name + "/" + id
}

// start starts an execution, or returns the one that has the name already if its input is the same.
func (s *Service) start(ctx context.Context, v Version, in *Start) (*journal.Execution, error) {
	if in.Name == "" {
		id := aws.NewID()
		return s.begin(ctx, executionARN(v, id, id), v, in)
	}
	prefix := executionARN(v, in.Name, "")
	done, err := s.claim(ctx, prefix)
	if err != nil {
		return nil, err
	}
	defer done()
	for x, err := range s.o.Journal.Executions(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		if s.expired(x) {
			continue
		}
		if x.Input != in.Input {
			return nil, refusal(
				"DurableExecutionAlreadyStartedException",
				http.StatusConflict,
				"A durable execution with the name "+in.Name+" has already been started with a different payload: "+x.ARN,
			)
		}
		return x, nil
	}
	return s.begin(ctx, executionARN(v, in.Name, aws.NewID()), v, in)
}

// claim waits until no other request starts an execution with the same prefix of its ARN.
func (s *Service) claim(ctx context.Context, prefix string) (done func(), err error) {
	for {
		s.mu.Lock()
		_, taken := s.starting[prefix]
		freed := s.freed
		if !taken {
			s.starting[prefix] = struct{}{}
			s.mu.Unlock()
			return func() {
				s.mu.Lock()
				delete(s.starting, prefix)
				close(s.freed)
				s.freed = make(chan struct{})
				s.mu.Unlock()
			}, nil
		}
		s.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// traceOf returns the trace that a new execution belongs to; ok is false if there is none. All invocations of the
// execution belong to the same trace.
func (s *Service) traceOf(ctx context.Context, v Version) (trace aws.Trace, ok bool) {
	trace, given := aws.TraceOf(ctx)
	if !v.Traced || s.o.Tracer == nil || given && !trace.Undecided {
		return trace, given
	}
	sampled := s.o.Tracer.Sample(v)
	if !given {
		return aws.NewTrace(s.o.Clock.Now(), sampled), true
	}
	trace.Sampled, trace.Undecided = sampled, false
	return trace, true
}

// traced adds the trace of an execution to a context, with the segment of the execution, or of one of its operations,
// as the parent of what the context is used for.
func (s *Service) traced(ctx context.Context, header, execution, operation string) context.Context {
	trace, ok := aws.ParseTrace(header)
	if !ok {
		return ctx
	}
	if trace.Sampled && s.o.Tracer != nil {
		trace = trace.Under(s.o.Tracer.Segment(execution, operation))
	}
	return aws.WithTrace(ctx, trace)
}

// begin starts an execution with an ARN.
func (s *Service) begin(ctx context.Context, arn string, v Version, in *Start) (*journal.Execution, error) {
	if !json.Valid([]byte(in.Input)) {
		return nil, refusal("InvalidRequestContentException", http.StatusBadRequest,
			"Could not parse request body into json: the payload is not valid JSON")
	}
	switch {
	case in.Sync && len(in.Input) > invocation.MaxRequestBytes:
		return nil, runner.RequestTooLarge()
	case !in.Sync && len(in.Input) > invocation.MaxEventBytes:
		return nil, runner.EventTooLarge(len(in.Input))
	}
	name, id := partsOf(arn)
	r := s.newRun(arn)
	st := &state{x: new(durable.Execution)}
	st.record.Info = history.Info{ARN: arn, MachineARN: v.function(), Origin: history.Origin{Name: name,
		Input: in.Input, VersionARN: v.ARN(), Sync: in.Sync, Revision: Config{v.Timeout, v.Retention}.text(),
		TestCase: in.Tenant}}
	if v.Alias != "" {
		st.record.AliasARN = v.function() + ":" + v.Alias
	}
	if trace, ok := s.traceOf(ctx, v); ok {
		st.record.TraceHeader = trace.String()
	}
	st.record.Status = history.Running
	r.state = st
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, closing()
	}
	s.runs[arn] = r
	s.mu.Unlock()
	started := &durable.Command{Start: &durable.Start{ARN: arn, ID: id, Secret: rand.Text(), Input: in.Input,
		TimeoutSeconds: v.Timeout}}
	r.turn <- struct{}{} // free: the execution is new
	defer r.leave()
	if err := r.apply(st, started); err != nil {
		s.remove(r)
		return nil, err
	}
	x := st.record
	return &x, nil
}

// partsOf returns the name and the ID in an execution's ARN.
func partsOf(arn string) (name, id string) {
	_, rest, _ := strings.Cut(arn, durable.InARN)
	name, id, _ = strings.Cut(rest, "/")
	return name, id
}

// find returns an execution, or nil if there is none.
func (s *Service) find(ctx context.Context, arn string) (*journal.Execution, error) {
	if !strings.Contains(arn, durable.InARN) {
		return nil, nil //nolint:nilnil // an execution of Step Functions is none of these
	}
	r, err := s.running(ctx, arn)
	if err != nil {
		return nil, err
	}
	if r != nil {
		if x := r.owed(); x != nil {
			return x, nil
		}
	}
	x, err := s.o.Journal.Execution(ctx, arn)
	if errors.Is(err, journal.ErrNotFound) || err == nil && s.expired(x) {
		return nil, nil //nolint:nilnil // see above
	}
	return x, err
}

// expired reports whether an execution ended longer ago than its function's retention period.
func (s *Service) expired(x *journal.Execution) bool {
	c := configOf(x)
	return c != nil && x.Ended() &&
		s.o.Clock.Now().After(x.Stop.Add(time.Duration(c.RetentionPeriodInDays)*24*time.Hour))
}

// wait waits for the end of an execution.
func (s *Service) wait(ctx context.Context, arn string) (*Ended, error) {
	r, err := s.running(ctx, arn)
	if err == nil && r != nil {
		err = r.await(ctx)
	}
	if err != nil {
		return nil, err
	}
	x, err := s.o.Journal.Execution(ctx, arn)
	if err != nil {
		return nil, err
	}
	end := &Ended{ARN: arn, Status: aStatus(x.Status)}
	if x.Status == history.Succeeded {
		end.Result = &x.Output
		return end, nil
	}
	end.Error, err = s.failure(ctx, arn)
	return end, err
}

// failure returns the error that ended an execution.
func (s *Service) failure(ctx context.Context, arn string) (*durable.Error, error) {
	events, err := s.History(ctx, arn)
	if err != nil || len(events) == 0 {
		return nil, err
	}
	d, err := durable.DetailsOf(&events[len(events)-1])
	if err != nil {
		return nil, err
	}
	return d.Error, nil
}
