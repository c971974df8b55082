package activities

import (
	"context"
	"errors"

	"stepback/aws"
	"stepback/engine"
	"stepback/local/services/stepfunctions/apierror"
	"stepback/local/services/stepfunctions/resource"
)

type getActivityTaskRequest struct {
	ARN    string `json:"activityArn"`
	Worker string `json:"workerName"`
}

// getActivityTaskResponse has no members if no task arrived while the request waited.
type getActivityTaskResponse struct {
	Token string  `json:"taskToken,omitempty"`
	Input *string `json:"input,omitempty"`
}

func (s *Service) getActivityTask(ctx context.Context, scope aws.Scope,
	in *getActivityTaskRequest) (*getActivityTaskResponse, error) {
	at, err := resource.ParseActivity(in.ARN)
	if err != nil {
		return nil, err
	}
	if _, err := s.activity(scope, at); err != nil {
		return nil, err
	}
	e, err := s.cfg.Engine(scope)
	if err != nil {
		return nil, err
	}
	task, err := e.GetActivityTask(ctx, in.ARN, in.Worker)
	switch {
	case errors.Is(err, engine.ErrNoActivity):
		return nil, apierror.NoActivity(in.ARN)
	case errors.Is(err, engine.ErrTooManyPollers):
		return nil, apierror.New("ActivityWorkerLimitExceeded", "Activity Worker Limit Exceeded", in.ARN)
	case err != nil:
		return nil, err
	case task == nil:
		return &getActivityTaskResponse{}, nil
	}
	return &getActivityTaskResponse{task.Token, &task.Input}, nil
}
