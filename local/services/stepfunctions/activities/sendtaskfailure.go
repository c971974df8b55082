package activities

import (
	"context"

	"stepback/aws"
	"stepback/engine/history"
)

type sendTaskFailureRequest struct {
	Token string  `json:"taskToken"`
	Error *string `json:"error"`
	Cause *string `json:"cause"`
}

func (s *Service) sendTaskFailure(ctx context.Context, scope aws.Scope, in *sendTaskFailureRequest) (*none, error) {
	e, err := s.cfg.Engine(scope)
	if err != nil {
		return nil, err
	}
	return reported(e.SendTaskFailure(ctx, in.Token, history.FailureOf(in.Error, in.Cause)))
}
