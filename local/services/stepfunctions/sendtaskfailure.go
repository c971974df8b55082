package stepfunctions

import (
	"context"

	"stepback/aws"
	"stepback/engine/history"
)

// givenFailure holds the members of a request that reports a failure.
type givenFailure struct {
	Error *string `json:"error"`
	Cause *string `json:"cause"`
}

func (g givenFailure) failure() history.Failure {
	f := history.Failure{}
	if g.Error != nil {
		f.SetName(*g.Error)
	}
	if g.Cause != nil {
		f.SetCause(*g.Cause)
	}
	return f
}

type sendTaskFailureRequest struct {
	Token string `json:"taskToken"`
	givenFailure
}

func (s *Service) sendTaskFailure(ctx context.Context, scope aws.Scope, in *sendTaskFailureRequest) (*none, error) {
	e, err := s.engine(scope)
	if err != nil {
		return nil, err
	}
	return reported(e.SendTaskFailure(ctx, in.Token, in.failure()))
}
