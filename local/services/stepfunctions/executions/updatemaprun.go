package executions

import (
	"context"
	"errors"

	"stepback/aws"
	"stepback/engine"
)

type updateMapRunRequest struct {
	ARN                        string   `json:"mapRunArn"`
	MaxConcurrency             *int64   `json:"maxConcurrency"`
	ToleratedFailureCount      *int64   `json:"toleratedFailureCount"`
	ToleratedFailurePercentage *float64 `json:"toleratedFailurePercentage"`
}

func (s *Service) updateMapRun(ctx context.Context, scope aws.Scope, in *updateMapRunRequest) (*none, error) {
	if _, err := s.mapRun(ctx, scope, in.ARN); err != nil {
		return nil, err
	}
	if in.MaxConcurrency == nil && in.ToleratedFailureCount == nil && in.ToleratedFailurePercentage == nil {
		return nil, &aws.Error{
			Code: "ValidationException", Members: map[string]any{"reason": "MISSING_REQUIRED_PARAMETER"},
			Message: "Either the MaxConcurrency, the ToleratedFailureCount, or the ToleratedFailurePercentage must be specified",
		}
	}
	e, err := s.cfg.Engine(scope)
	if err != nil {
		return nil, err
	}
	err = e.UpdateMapRun(ctx, in.ARN, engine.MapRunUpdate{
		MaxConcurrency: in.MaxConcurrency, ToleratedFailureCount: in.ToleratedFailureCount,
		ToleratedFailurePercentage: in.ToleratedFailurePercentage,
	})
	if errors.Is(err, engine.ErrMapRunOver) {
		return nil, &aws.Error{
			Code: "ValidationException", Members: map[string]any{"reason": "CANNOT_UPDATE_COMPLETED_MAP_RUN"},
			Message: "Map Run is already complete: '" + in.ARN + "'",
		}
	}
	return &none{}, err
}
