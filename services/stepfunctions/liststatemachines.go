package stepfunctions

import (
	"context"
	"time"

	"stepback/aws"
	"stepback/aws/server"
)

type listedMachine struct {
	ARN     string      `json:"stateMachineArn"`
	Name    string      `json:"name"`
	Type    string      `json:"type"`
	Created server.Time `json:"creationDate"`
}

type listStateMachinesResponse struct {
	Machines  []listedMachine `json:"stateMachines"`
	NextToken string          `json:"nextToken,omitempty"`
}

func (s *Service) listStateMachines(_ context.Context, scope aws.Scope, in *paged) (*listStateMachinesResponse,
	error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	machines, err := s.cfg.Store.Machines(machineARNOf(scope, ""))
	if err != nil {
		return nil, err
	}
	listed := make([]listedMachine, 0, len(machines))
	for _, m := range machines {
		if m.Deleting {
			at := &resource{text: m.ARN, scope: scope, kind: kindMachine, names: []string{m.Name}}
			if _, err := s.bury(scope, m, at); isMissing(err) {
				continue
			}
		}
		listed = append(listed, listedMachine{m.ARN, m.Name, m.Type, server.Time(m.Created)})
	}
	out := &listStateMachinesResponse{}
	out.Machines, out.NextToken, err = page(*in, s.listing("stateMachines", machineARNOf(scope, "")), listed,
		func(m listedMachine) string {
			return oldestFirst(time.Time(m.Created), m.ARN)
		})
	return out, err
}
