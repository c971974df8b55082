package lambda

import (
	"encoding/json"
	"math"
	"net/http"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine/durable"
	"stepback/local/services/lambda/durablefunctions"
	"stepback/tasks/lambda/invocation"
)

// execution is the member that most operations on durable executions read.
var execution = server.Members{"DurableExecutionArn"}

// durably wraps an operation on durable executions: it is refused if this Service has none.
func (s *Service) durably(o operation) operation {
	return func(q *request) (*server.Answer, error) {
		if s.durable == nil {
			return nil, &aws.Error{Code: "InvalidParameterValueException", Message: "There are no durable executions here.",
				Status: http.StatusBadRequest}
		}
		return o(q)
	}
}

func (q *request) execution() string { return q.text("DurableExecutionArn") }

type checkpointInput struct {
	CheckpointToken, ClientToken string
	Updates                      []durable.Update
}

// operations is a page of operations.
type operations struct {
	Operations []durable.Shown[durable.Seconds]
	NextMarker string `json:",omitempty"`
}

func (s *Service) checkpoint(q *request) (*server.Answer, error) {
	in, err := decode[checkpointInput](q)
	if err != nil {
		return nil, err
	}
	state, err := s.durable.Checkpoint(q.ctx, q.execution(), &durable.Checkpoint{Token: in.CheckpointToken,
		ClientToken: in.ClientToken, Updates: in.Updates})
	if err != nil {
		return nil, err
	}
	return answer(struct {
		CheckpointToken   string `json:",omitempty"`
		NewExecutionState operations
	}{state.Token, operations{state.Operations, state.Marker}}, nil)
}

type stateInput struct {
	CheckpointToken, Marker string
	MaxItems                int
}

func (s *Service) getExecutionState(q *request) (*server.Answer, error) {
	in, err := decode[stateInput](q)
	if err != nil {
		return nil, err
	}
	state, err := s.durable.State(q.ctx, q.execution(), in.CheckpointToken, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return answer(operations{state.Operations, state.Marker}, nil)
}

// dataInput is the member that excludes payloads and errors from a response. They are included by default.
type dataInput struct{ IncludeExecutionData *bool }

func (in dataInput) included() bool {
	return in.IncludeExecutionData == nil || *in.IncludeExecutionData
}

func (s *Service) getExecution(q *request) (*server.Answer, error) {
	in, err := decode[dataInput](q)
	if err != nil {
		return nil, err
	}
	d, err := s.durable.Describe(q.ctx, q.execution(), in.included())
	return answer(d, err)
}

type historyInput struct {
	dataInput
	MaxItems     int
	Marker       string
	ReverseOrder bool
}

func (s *Service) getExecutionHistory(q *request) (*server.Answer, error) {
	in, err := decode[historyInput](q)
	if err != nil {
		return nil, err
	}
	page, err := s.durable.HistoryPage(q.ctx, q.execution(), &durablefunctions.HistoryRequest{Reverse: in.ReverseOrder,
		Data: in.included(), Marker: in.Marker, Items: in.MaxItems})
	if err != nil {
		return nil, err
	}
	return answer(struct {
		Events     []json.RawMessage
		NextMarker string `json:",omitempty"`
	}{page.Events, page.Marker}, nil)
}

type listExecutionsInput struct {
	Qualifier, DurableExecutionName string
	Statuses                        []string
	StartedAfter, StartedBefore     *float64
	ReverseOrder                    bool
	Marker                          string
	MaxItems                        int
}

// at converts a time of a request: seconds since 1970.
func at(seconds *float64) time.Time {
	if seconds == nil {
		return time.Time{}
	}
	return time.UnixMilli(int64(math.Round(*seconds * 1000))).UTC() //nolint:mnd // milliseconds
}

func (s *Service) listExecutions(q *request) (*server.Answer, error) {
	in, err := decode[listExecutionsInput](q)
	if err != nil {
		return nil, err
	}
	f, err := s.functions.Get(q.scope, q.name.Function, q.name.Qualifier)
	if err != nil {
		return nil, err
	}
	filter := &durablefunctions.Filter{Function: q.scope.ARN("lambda", "function:"+f.Configuration.FunctionName),
		Name: in.DurableExecutionName, Statuses: in.Statuses, After: at(in.StartedAfter), Before: at(in.StartedBefore),
		Oldest: in.ReverseOrder, Marker: in.Marker, Items: in.MaxItems}
	switch q.name.Qualifier {
	case "":
	case f.Configuration.Version, invocation.Latest:
		filter.Version = f.Configuration.Version
	default:
		filter.Alias = q.name.Qualifier
	}
	list, marker, err := s.durable.List(q.ctx, filter)
	return answer(struct {
		DurableExecutions []*durablefunctions.Description
		NextMarker        string `json:",omitempty"`
	}{list, marker}, err)
}

func (s *Service) callbackSucceeds(q *request) (*server.Answer, error) {
	c := &durable.Callback{ID: q.text("CallbackId"), Outcome: durable.Outcome{Status: durable.Succeeded}}
	if len(q.Payload) > 0 {
		result := string(q.Payload)
		c.Result = &result
	}
	return answer(struct{}{}, s.durable.Complete(q.ctx, c))
}

// givenError returns the Error of a request, or nil.
func (q *request) givenError() (*durable.Error, error) {
	v, ok := q.Input.Get("Error")
	if !ok || v.IsNull() {
		return nil, nil //nolint:nilnil // no error was given, and nothing is wrong with that
	}
	e := new(durable.Error)
	return e, server.Fill(e, v)
}

func (s *Service) callbackFails(q *request) (*server.Answer, error) {
	e, err := q.givenError()
	if err != nil {
		return nil, err
	}
	if e == nil {
		e = &durable.Error{}
	}
	c := &durable.Callback{ID: q.text("CallbackId"), Outcome: durable.Outcome{Status: durable.Failed, Error: e}}
	return answer(struct{}{}, s.durable.Complete(q.ctx, c))
}

func (s *Service) callbackLives(q *request) (*server.Answer, error) {
	return answer(struct{}{}, s.durable.Complete(q.ctx, &durable.Callback{ID: q.text("CallbackId"), Heartbeat: true}))
}

func (s *Service) stopExecution(q *request) (*server.Answer, error) {
	e, err := q.givenError()
	if err != nil {
		return nil, err
	}
	stopped, err := s.durable.Stop(q.ctx, q.execution(), e)
	return answer(struct{ StopTimestamp durable.Seconds }{durable.Seconds(stopped)}, err)
}
