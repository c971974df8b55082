package executions

import (
	"context"
	"errors"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine"
	"stepback/engine/history"
	"stepback/local/services/stepfunctions/apierror"
	"stepback/local/services/stepfunctions/resource"
)

type mapRunRequest struct {
	ARN string `json:"mapRunArn"`
}

// counts holds the counters of a Map Run, for items or for child executions.
type counts struct {
	Pending        int64 `json:"pending"`
	Running        int64 `json:"running"`
	Succeeded      int64 `json:"succeeded"`
	Failed         int64 `json:"failed"`
	TimedOut       int64 `json:"timedOut"`
	Aborted        int64 `json:"aborted"`
	Total          int64 `json:"total"`
	ResultsWritten int64 `json:"resultsWritten"`
	NotRedrivable  int64 `json:"failuresNotRedrivable,omitempty"`
	PendingRedrive int64 `json:"pendingRedrive,omitempty"`
}

func countsOf(t engine.Tally, over bool) counts {
	c := counts{
		Pending: t.Pending, Running: t.Running, Succeeded: t.Succeeded, Failed: t.Failed, TimedOut: t.TimedOut,
		Aborted: t.Aborted, Total: t.Total(),
		NotRedrivable: t.NotRedrivable, PendingRedrive: t.PendingRedrive,
	}
	if over { // results are written when the Map Run ends
		c.ResultsWritten = t.Succeeded + t.Failed + t.TimedOut + t.Aborted
	}
	return c
}

type describeMapRunResponse struct {
	ARN                        string         `json:"mapRunArn"`
	ExecutionARN               string         `json:"executionArn"`
	Status                     history.Status `json:"status"`
	Started                    server.Time    `json:"startDate"`
	Stopped                    server.Time    `json:"stopDate,omitzero"`
	MaxConcurrency             int64          `json:"maxConcurrency"`
	ToleratedFailureCount      int64          `json:"toleratedFailureCount"`
	ToleratedFailurePercentage float64        `json:"toleratedFailurePercentage"`
	Items                      counts         `json:"itemCounts"`
	Executions                 counts         `json:"executionCounts"`
	RedriveCount               int64          `json:"redriveCount"`
	Redriven                   server.Time    `json:"redriveDate,omitzero"`
}

func (s *Service) describeMapRun(ctx context.Context, scope aws.Scope, in *mapRunRequest) (*describeMapRunResponse,
	error) {
	m, err := s.mapRun(ctx, scope, in.ARN)
	if err != nil {
		return nil, err
	}
	over := m.Status != history.Running
	return &describeMapRunResponse{
		ARN: m.ARN, ExecutionARN: m.Execution, Status: m.Status, Started: server.Time(m.Started),
		Stopped:        server.Time(m.Stopped),
		MaxConcurrency: m.MaxConcurrency, ToleratedFailureCount: m.ToleratedFailureCount,
		ToleratedFailurePercentage: m.ToleratedFailurePercentage, Items: countsOf(m.Items, over),
		Executions:   countsOf(m.Executions, over),
		RedriveCount: m.RedriveCount, Redriven: server.Time(m.Redriven),
	}, nil
}

// mapRun returns a Map Run.
func (s *Service) mapRun(ctx context.Context, scope aws.Scope, arn string) (*engine.MapRun, error) {
	at, err := resource.Parse(arn, resource.KindMapRun)
	if err != nil {
		return nil, err
	}
	if at.Scope != scope {
		return nil, apierror.ResourceNotFound(arn)
	}
	e, err := s.cfg.Engine(scope)
	if err != nil {
		return nil, err
	}
	m, err := e.DescribeMapRun(ctx, arn)
	if errors.Is(err, engine.ErrNoMapRun) {
		return nil, apierror.ResourceNotFound(arn)
	}
	return m, err
}
