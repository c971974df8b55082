package executions

import (
	"context"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/stepfunctions/paging"
)

type listMapRunsRequest struct {
	ARN string `json:"executionArn"`
	paging.Request
}

type listedMapRun struct {
	ARN          string      `json:"mapRunArn"`
	ExecutionARN string      `json:"executionArn"`
	MachineARN   string      `json:"stateMachineArn"`
	Started      server.Time `json:"startDate"`
	Stopped      server.Time `json:"stopDate,omitzero"`
}

type listMapRunsResponse struct {
	MapRuns   []listedMapRun `json:"mapRuns"`
	NextToken string         `json:"nextToken,omitempty"`
}

func (s *Service) listMapRuns(ctx context.Context, scope aws.Scope, in *listMapRunsRequest) (*listMapRunsResponse,
	error) {
	e, _, err := s.execution(ctx, scope, in.ARN, false)
	if err != nil {
		return nil, err
	}
	listed := []listedMapRun{}
	mapRuns, err := e.MapRunsOf(ctx, in.ARN)
	if err != nil {
		return nil, err
	}
	for _, m := range mapRuns {
		listed = append(listed, listedMapRun{m.ARN, m.Execution, m.Machine, server.Time(m.Started),
			server.Time(m.Stopped)})
	}
	out := &listMapRunsResponse{}
	out.MapRuns, out.NextToken, err = paging.Cut(in.Request, aws.NewListing(s.cfg.Now(), "mapRuns", in.ARN), listed,
		func(m listedMapRun) string { return m.ARN })
	return out, err
}
