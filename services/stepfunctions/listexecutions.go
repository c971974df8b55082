package stepfunctions

import (
	"context"
	"errors"
	"strings"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine"
	"stepback/engine/history"
	"stepback/engine/journal"
)

// pendingRedrive is the status of child executions that wait for their turn in a redriven Map Run.
const pendingRedrive = "PENDING_REDRIVE"

type listExecutionsRequest struct {
	MachineARN    string         `json:"stateMachineArn"`
	MapRunARN     string         `json:"mapRunArn"`
	StatusFilter  history.Status `json:"statusFilter"`
	RedriveFilter string         `json:"redriveFilter"`
	paged
}

type listedExecution struct {
	ARN string `json:"executionArn"`
	origin
	Name         string         `json:"name"`
	Status       history.Status `json:"status"`
	Started      server.Time    `json:"startDate"`
	Stopped      server.Time    `json:"stopDate,omitzero"`
	ItemCount    int64          `json:"itemCount,omitempty"`
	RedriveCount int64          `json:"redriveCount"`
	Redriven     server.Time    `json:"redriveDate,omitzero"`
}

type listExecutionsResponse struct {
	Executions []listedExecution `json:"executions"`
	NextToken  string            `json:"nextToken,omitempty"`
}

func (s *Service) listExecutions(ctx context.Context, scope aws.Scope,
	in *listExecutionsRequest) (*listExecutionsResponse, error) {
	if (in.MachineARN == "") == (in.MapRunARN == "") {
		return nil, server.Invalid("Must provide exactly one of State Machine ARN or Map Run ARN")
	}
	if in.MachineARN != "" && in.StatusFilter == pendingRedrive {
		return nil, server.Invalid("The status filter PENDING_REDRIVE is for the executions of a Map Run")
	}
	machine, err := s.listed(ctx, scope, in)
	if err != nil {
		return nil, err
	}
	e, err := s.engine(scope)
	if err != nil {
		return nil, err
	}
	out := &listExecutionsResponse{Executions: []listedExecution{}}
	cut, next, err := s.pageOfExecutions(ctx, e, machine, in)
	for _, x := range cut {
		out.Executions = append(out.Executions, listedExecution{
			x.ARN, originOf(x), x.Name, statusOf(e, x), server.Time(x.Start), server.Time(x.Stop), x.Items,
			x.RedriveCount, server.Time(x.Redriven),
		})
	}
	out.NextToken = next
	return out, err
}

// pageOfExecutions is a page of the executions that a request asks for. The first one looks at all of them, those
// behind it only at theirs.
func (s *Service) pageOfExecutions(
	ctx context.Context, e *engine.Engine, machine string, in *listExecutionsRequest,
) (cut []*journal.Execution, next string, err error) {
	asked := s.listing("executions", in.MachineARN, in.MapRunARN, string(in.StatusFilter), in.RedriveFilter)
	prefix := strings.Replace(machine, ":"+kindMachine+":", ":"+kindExecution+":", 1) + ":"
	places, ok := s.lists.places(asked.Key())
	if in.NextToken == "" || !ok {
		if places, err = in.places(ctx, e, machine, prefix); err != nil {
			return nil, "", err
		}
		ok = false
	}
	shown, next, err := page(in.paged, asked, places, func(p listedAt) string { return p.text(prefix) })
	switch {
	case err != nil:
		return nil, "", err
	case next == "":
		s.lists.forget(asked.Key())
	case !ok:
		s.lists.keep(asked.Key(), places)
	}
	selects := in.selects(e)
	for _, place := range shown {
		x, err := e.DescribeExecution(ctx, prefix+place.name)
		if errors.Is(err, engine.ErrNoExecution) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, "", err
		}
		if selects(x) {
			cut = append(cut, x)
		}
	}
	return cut, next, nil
}

// listed finds the machine whose executions a request is about; those that Map Runs start have a labelled one.
func (s *Service) listed(ctx context.Context, scope aws.Scope, in *listExecutionsRequest) (string, error) {
	if in.MapRunARN != "" {
		at, err := parseARN(in.MapRunARN, kindMapRun)
		if err != nil {
			return "", err
		}
		if _, err := s.mapRun(ctx, scope, in.MapRunARN); err != nil {
			return "", err
		}
		return machineARNOf(at.scope, at.names[0]), nil
	}
	at, err := parseARN(in.MachineARN, kindMachine)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if at.labelled() {
		_, _, err := s.labelledMachine(scope, at)
		return at.text, err
	}
	m, err := s.machine(scope, at)
	switch {
	case err != nil:
		return "", err
	case at.qualified() && m.version(at.text) == nil && m.alias(at.text) == nil:
		return "", noMachine(at.text)
	case m.Type == typeExpress:
		return "", errTypeSupported
	default:
		return m.ARN, nil
	}
}

// selects returns what tells whether an execution is among those that the request asks for.
func (in *listExecutionsRequest) selects(e *engine.Engine) func(*journal.Execution) bool {
	at, err := parseARN(in.MachineARN, kindMachine)
	qualified, ofMap := err == nil && at.qualified(), err == nil && at.labelled()
	return func(x *journal.Execution) bool {
		if qualified && x.VersionARN != in.MachineARN && x.AliasARN != in.MachineARN {
			return false
		}
		if in.RedriveFilter != "" && (x.RedriveCount > 0) != (in.RedriveFilter == "REDRIVEN") {
			return false
		}
		return (ofMap || x.MapRunARN == in.MapRunARN) && (in.StatusFilter == "" || statusOf(e, x) == in.StatusFilter)
	}
}

// places are those of the machine's executions that the request asks for, newest first.
func (in *listExecutionsRequest) places(ctx context.Context, e *engine.Engine, machine, prefix string) ([]listedAt,
	error) {
	var found []listedAt
	selects := in.selects(e)
	for x, err := range e.Executions(ctx, machine) {
		if err != nil {
			return nil, err
		}
		if selects(x) {
			found = append(found, placeOf(x, prefix))
		}
	}
	sortNewestFirst(found)
	return found, nil
}
