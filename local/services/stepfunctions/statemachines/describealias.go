package statemachines

import (
	"context"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/stepfunctions/apierror"
)

type aliasRequest struct {
	ARN string `json:"stateMachineAliasArn"`
}

type describeAliasResponse struct {
	ARN         string      `json:"stateMachineAliasArn"`
	Name        string      `json:"name"`
	Description string      `json:"description,omitempty"`
	Routing     []Route     `json:"routingConfiguration"`
	Created     server.Time `json:"creationDate"`
	Updated     server.Time `json:"updateDate"`
}

func (s *Service) describeStateMachineAlias(_ context.Context, scope aws.Scope,
	in *aliasRequest) (*describeAliasResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, a, err := s.aliased(scope, in.ARN)
	if err != nil {
		return nil, err
	}
	if a == nil {
		return nil, apierror.ErrNoReference
	}
	return &describeAliasResponse{a.ARN, a.Name, a.Description, a.Routing, server.Time(a.Created),
		server.Time(a.Updated)}, nil
}
