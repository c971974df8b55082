package statemachines

import (
	"context"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/stepfunctions/apierror"
)

type updateAliasRequest struct {
	ARN         string  `json:"stateMachineAliasArn"`
	Description *string `json:"description"`
	Routing     []Route `json:"routingConfiguration"`
}

type updateAliasResponse struct {
	Updated server.Time `json:"updateDate"`
}

func (s *Service) updateStateMachineAlias(_ context.Context, scope aws.Scope,
	in *updateAliasRequest) (*updateAliasResponse, error) {
	if in.Description == nil && in.Routing == nil {
		return nil, &aws.Error{
			Code: "ValidationException", Members: map[string]any{"reason": "MISSING_REQUIRED_PARAMETER"},
			Message: "Either the description or the routing configuration must be specified",
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m, a, err := s.aliased(scope, in.ARN)
	switch {
	case err != nil:
		return nil, err
	case a == nil:
		return nil, apierror.ErrNoReference
	case m.Deleting:
		return nil, apierror.MachineDeleting(m.ARN)
	}
	if in.Routing != nil {
		at, err := checkRouting(in.Routing)
		if err != nil {
			return nil, err
		}
		if at.Machine() != m.ARN {
			return nil, invalidRouting("Routing configuration must contain versions of the alias's state machine. Received: " + versionsIn(in.Routing))
		}
		if err := m.routesTo(in.Routing); err != nil {
			return nil, err
		}
		a.Routing = in.Routing
	}
	if in.Description != nil {
		a.Description = *in.Description
	}
	a.Updated = s.cfg.Now()
	return &updateAliasResponse{server.Time(a.Updated)}, s.cfg.Store.PutMachine(m)
}
