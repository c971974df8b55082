package statemachines

import (
	"context"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/stepfunctions/apierror"
	"stepback/local/services/stepfunctions/paging"
	"stepback/local/services/stepfunctions/resource"
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

func (s *Service) listStateMachines(_ context.Context, scope aws.Scope, in *paging.Request) (*listStateMachinesResponse,
	error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	prefix := resource.MachineARN(scope, "")
	asked := aws.NewListing(s.cfg.Now(), "stateMachines", prefix)
	var created time.Time
	var arn string
	if in.NextToken != "" {
		place, ok := asked.Place(in.NextToken)
		if !ok {
			return nil, apierror.ErrToken
		}
		if created, arn, ok = paging.ParsePlace(place); !ok {
			return nil, apierror.ErrToken
		}
	}
	size := in.Size()
	out := &listStateMachinesResponse{Machines: []listedMachine{}}
	for {
		machines, err := s.cfg.Store.MachinesBehind(prefix, created, arn, size+1)
		if err != nil {
			return nil, err
		}
		for _, m := range machines {
			if s.buried(scope, m) {
				continue
			}
			if len(out.Machines) == size {
				last := &out.Machines[size-1]
				out.NextToken = asked.Token(paging.OldestFirst(created, last.ARN))
				return out, nil
			}
			out.Machines = append(out.Machines, listedMachine{m.ARN, m.Name, m.Type, server.Time(m.Created)})
			created = m.Created
		}
		if len(machines) <= size {
			return out, nil
		}
		last := machines[len(machines)-1]
		created, arn = last.Created, last.ARN
	}
}

// buried reports whether a state machine in DELETING has been removed.
func (s *Service) buried(scope aws.Scope, m *Machine) bool {
	if !m.Deleting {
		return false
	}
	_, err := s.bury(scope, m, resource.Machine(scope, m.Name))
	return apierror.IsMissing(err)
}
