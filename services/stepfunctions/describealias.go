package stepfunctions

import (
	"context"

	"stepback/aws"
	"stepback/aws/server/awsjson"
)

type aliasRequest struct {
	ARN string `json:"stateMachineAliasArn"`
}

var aliasMembers = []awsjson.Member{arn("stateMachineAliasArn")}

type describeAliasResponse struct {
	ARN         string       `json:"stateMachineAliasArn"`
	Name        string       `json:"name"`
	Description string       `json:"description,omitempty"`
	Routing     []Route      `json:"routingConfiguration"`
	Created     awsjson.Time `json:"creationDate"`
	Updated     awsjson.Time `json:"updateDate"`
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
		return nil, errNoReference
	}
	return &describeAliasResponse{a.ARN, a.Name, a.Description, a.Routing, awsjson.Time(a.Created),
		awsjson.Time(a.Updated)}, nil
}
