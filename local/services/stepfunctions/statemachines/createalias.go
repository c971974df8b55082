package statemachines

import (
	"context"
	"fmt"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/stepfunctions/apierror"
)

type createAliasRequest struct {
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Routing     []Route `json:"routingConfiguration"`
}

type createAliasResponse struct {
	ARN     string      `json:"stateMachineAliasArn"`
	Created server.Time `json:"creationDate"`
}

func (s *Service) createStateMachineAlias(_ context.Context, scope aws.Scope,
	in *createAliasRequest) (*createAliasResponse, error) {
	at, err := checkRouting(in.Routing)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.changeable(scope, at)
	if apierror.IsMissing(err) {
		err = apierror.ErrNoReference
	}
	if err != nil {
		return nil, err
	}
	if err := m.routesTo(in.Routing); err != nil {
		return nil, err
	}
	now := s.cfg.Now()
	a := Alias{ARN: m.ARN + ":" + in.Name, Name: in.Name, Description: in.Description, Routing: in.Routing,
		Created: now, Updated: now}
	if old := m.alias(a.ARN); old != nil {
		if !old.sameAs(&a) {
			return nil, apierror.Conflict("Failed to create alias because an alias with the same name and a different routing configuration already exists.")
		}
		return &createAliasResponse{old.ARN, server.Time(old.Created)}, nil
	}
	if len(m.Aliases) >= maxAliases {
		return nil, apierror.QuotaExceeded(fmt.Sprintf("The maximum number of aliases of a state machine is %d.", maxAliases))
	}
	m.Aliases = append(m.Aliases, a)
	return &createAliasResponse{a.ARN, server.Time(a.Created)}, s.cfg.Store.PutMachine(m)
}
