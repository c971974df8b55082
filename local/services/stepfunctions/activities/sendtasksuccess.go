package activities

import (
	"context"

	"stepback/aws"
)

type sendTaskSuccessRequest struct {
	Token  string `json:"taskToken"`
	Output string `json:"output"`
}

func (s *Service) sendTaskSuccess(ctx context.Context, scope aws.Scope, in *sendTaskSuccessRequest) (*none, error) {
	e, err := s.cfg.Engine(scope)
	if err != nil {
		return nil, err
	}
	return reported(e.SendTaskSuccess(ctx, in.Token, in.Output))
}
