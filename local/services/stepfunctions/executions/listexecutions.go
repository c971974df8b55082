package executions

import (
	"context"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/local/services/stepfunctions/apierror"
	"stepback/local/services/stepfunctions/paging"
)

// PendingRedrive is the status of child executions that a redriven Map Run has yet to redrive.
const PendingRedrive = "PENDING_REDRIVE"

type listExecutionsRequest struct {
	MachineARN    string         `json:"stateMachineArn"`
	MapRunARN     string         `json:"mapRunArn"`
	StatusFilter  history.Status `json:"statusFilter"`
	RedriveFilter string         `json:"redriveFilter"`
	paging.Request
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
	if in.MachineARN != "" && in.StatusFilter == PendingRedrive {
		return nil, server.Invalid("The status filter PENDING_REDRIVE is for the executions of a Map Run")
	}
	list, err := s.listed(ctx, scope, in)
	if err != nil {
		return nil, err
	}
	e, err := s.cfg.Engine(scope)
	if err != nil {
		return nil, err
	}
	out := &listExecutionsResponse{Executions: []listedExecution{}}
	cut, next, err := s.pageOfExecutions(ctx, e, list, in)
	for _, x := range cut {
		out.Executions = append(out.Executions, listedExecution{
			x.ARN, originOf(x), x.Name, statusOf(e, x), server.Time(x.Start), server.Time(x.Stop), x.Items,
			x.RedriveCount, server.Time(x.Redriven),
		})
	}
	out.NextToken = next
	return out, err
}

// pageOfExecutions returns the requested page of executions. It stops reading at the first execution after the
// page.
func (s *Service) pageOfExecutions(
	ctx context.Context, e *engine.Engine, list string, in *listExecutionsRequest,
) (cut []*journal.Execution, next string, err error) {
	asked := aws.NewListing(s.cfg.Now(), "executions", in.MachineARN, in.MapRunARN, string(in.StatusFilter),
		in.RedriveFilter)
	q := in.query(list)
	if in.NextToken != "" {
		place, ok := asked.Place(in.NextToken)
		if !ok {
			return nil, "", apierror.ErrToken
		}
		if q.After, err = engine.ParsePlace(place); err != nil {
			return nil, "", apierror.ErrToken
		}
	}
	size := in.Size()
	for x, err := range e.Listed(ctx, q) {
		switch {
		case err != nil:
			return nil, "", err
		case in.StatusFilter != "" && statusOf(e, x.Execution) != in.StatusFilter:
		case len(cut) == size:
			return cut, asked.Token(engine.PlaceText(journal.PlaceOf(cut[size-1]))), nil
		default:
			cut = append(cut, x.Execution)
		}
	}
	return cut, "", nil
}

// query returns the engine query for a request. The engine counts children that wait for a redrive as ended.
func (in *listExecutionsRequest) query(list string) *engine.Query {
	q := &engine.Query{
		Of: list, Redriven: in.RedriveFilter == "REDRIVEN", NotRedriven: in.RedriveFilter == "NOT_REDRIVEN",
	}
	switch in.StatusFilter {
	case "":
	case PendingRedrive:
		q.Statuses = []history.Status{history.Failed, history.TimedOut, history.Aborted}
	default:
		q.Statuses = []history.Status{in.StatusFilter}
	}
	return q
}

// listed returns the name of the list of executions that a request refers to: the executions of a Map Run, a state
// machine, a version or an alias.
func (s *Service) listed(ctx context.Context, scope aws.Scope, in *listExecutionsRequest) (string, error) {
	if in.MapRunARN == "" {
		return s.cfg.Machines.ExecutionList(scope, in.MachineARN)
	}
	_, err := s.mapRun(ctx, scope, in.MapRunARN)
	return in.MapRunARN, err
}
