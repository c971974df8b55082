package durablefunctions

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"stepback/aws"
	"stepback/engine/durable"
	"stepback/engine/journal"
	"stepback/tasks/lambda/invocation"
)

// envelope is the event with which a durable function is invoked.
type envelope struct {
	DurableExecutionArn   string
	CheckpointToken       string
	InitialExecutionState initialState
	UpdatedOperationIDs   []string `json:"UpdatedOperationIds,omitempty"`
}

type initialState struct {
	Operations []durable.Shown[durable.Millis]
	NextMarker string `json:",omitempty"`
}

// invoke begins an invocation in the caller's turn.
func (r *run) invoke(st *state) error {
	request := aws.NewID()
	if err := r.apply(st, &durable.Command{Invoke: &durable.Invoke{RequestID: request}}); err != nil {
		return err
	}
	if st.x.Over() { // it had timed out
		return nil
	}
	page, marker := pageOf(st.x.Operations(), 0, len(st.x.Operations()), durable.Show[durable.Millis])
	payload, err := json.Marshal(envelope{DurableExecutionArn: r.arn, CheckpointToken: st.x.Token(),
		InitialExecutionState: initialState{page, marker}, UpdatedOperationIDs: st.x.Updated()})
	if err != nil {
		return err
	}
	v := versionOf(&st.record)
	in := &invocation.Request{FunctionName: v.Function, Qualifier: v.Number, Payload: payload, Valid: true,
		InvokedARN: v.ARN(), RequestID: request, TenantID: st.record.TestCase}
	if v.Alias != "" {
		in.InvokedARN = v.function() + ":" + v.Alias
	}
	header := st.record.TraceHeader
	r.s.goWork(func(ctx context.Context) { r.carry(r.s.traced(ctx, header, r.arn, ""), v, in) })
	return nil
}

// carry invokes the function and applies what it returns.
func (r *run) carry(ctx context.Context, v Version, in *invocation.Request) {
	select {
	case r.s.slots <- struct{}{}:
		defer func() { <-r.s.slots }()
	case <-ctx.Done():
		return
	}
	answer, err := r.s.o.Functions.Run(ctx, v, in)
	if ctx.Err() != nil || r.s.closing.Load() && (err != nil || answer.FunctionError != "") {
		return // the next process invokes it again
	}
	back := &durable.Return{RequestID: in.RequestID}
	var refused *aws.Error
	switch {
	case errors.As(err, &refused) && (refused.ByServer() || refused.Status == http.StatusTooManyRequests):
		back.Throttled, back.Error = true, errorOf(err)
	case err != nil:
		back.Fatal, back.Error = true, errorOf(err)
	case answer.FunctionError != "":
		back.Error = functionError(answer.Payload)
	default:
		back.Output = string(answer.Payload)
	}
	r.report("its function's response", r.do(ctx, &durable.Command{Return: back}))
}

// errorOf returns an error of a request as an error of the API.
func errorOf(err error) *durable.Error {
	var refused *aws.Error
	if errors.As(err, &refused) {
		return durable.NewError(refused.Code, refused.Message)
	}
	return durable.NewError("ServiceException", err.Error())
}

// functionError returns what a function that failed has answered.
func functionError(payload []byte) *durable.Error {
	var e struct {
		Message *string  `json:"errorMessage"`
		Type    *string  `json:"errorType"`
		Data    *string  `json:"errorData"`
		Trace   []string `json:"stackTrace"`
	}
	if err := json.Unmarshal(payload, &e); err != nil { // a member of another type
		var loose struct {
			Message *string `json:"errorMessage"`
			Type    *string `json:"errorType"`
		}
		_ = json.Unmarshal(payload, &loose)
		return &durable.Error{ErrorMessage: loose.Message, ErrorType: loose.Type}
	}
	return &durable.Error{ErrorMessage: e.Message, ErrorType: e.Type, ErrorData: e.Data, StackTrace: e.Trace}
}

var errNoDestinations = errors.New("this process sends no results to destinations")

// resume continues an execution after a restart: what ran when the earlier process ended runs again.
func (r *run) resume(st *state) {
	if st.owes {
		if r.s.o.Destinations == nil {
			r.report("its destination", errNoDestinations)
			return
		}
		r.settle(st)
		return
	}
	var err error
	if st.x.Invoking() {
		err = r.invoke(st)
	} else {
		err = r.apply(st, &durable.Command{Tick: &durable.Tick{}})
	}
	r.report("the restart", err)
	if err == nil && !st.x.Over() {
		r.arm()
		r.chain(st, openInvokes(st.x))
	}
}

// versionOf returns the function version that an execution runs.
func versionOf(x *journal.Execution) Version {
	a, _ := aws.ParseARN(x.VersionARN)
	n, _ := invocation.ParseName(x.VersionARN, "")
	v := Version{Scope: a.Scope(), Function: n.Function, Number: n.Qualifier, Qualified: true}
	if x.AliasARN != "" {
		if alias, err := invocation.ParseName(x.AliasARN, ""); err == nil {
			v.Alias = alias.Qualifier
		}
	}
	return v
}
