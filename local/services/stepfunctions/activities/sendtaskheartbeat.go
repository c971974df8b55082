package activities

import (
	"context"

	"stepback/aws"
)

type sendTaskHeartbeatRequest struct {
	Token string `json:"taskToken"`
}

func (s *Service) sendTaskHeartbeat(ctx context.Context, scope aws.Scope, in *sendTaskHeartbeatRequest) (*none, error) {
	e, err := s.cfg.Engine(scope)
	if err != nil {
		return nil, err
	}
	return reported(e.SendTaskHeartbeat(ctx, in.Token))
}
