package statemachines

import (
	"context"
	"slices"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/stepfunctions/apierror"
	"stepback/local/services/stepfunctions/paging"
	"stepback/local/services/stepfunctions/resource"
)

type listedAlias struct {
	ARN     string      `json:"stateMachineAliasArn"`
	Created server.Time `json:"creationDate"`
}

type listAliasesResponse struct {
	Aliases   []listedAlias `json:"stateMachineAliases"`
	NextToken string        `json:"nextToken,omitempty"`
}

// listStateMachineAliases lists a state machine's aliases, or only those that route to a version. They are ordered
// oldest first, as in recordings of the real service.
func (s *Service) listStateMachineAliases(_ context.Context, scope aws.Scope,
	in *listVersionsRequest) (*listAliasesResponse, error) {
	at, err := resource.ParseMachine(in.ARN)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.machine(scope, at)
	if err != nil {
		return nil, err
	}
	if at.Qualified() && m.version(at.Text) == nil {
		return nil, apierror.ErrNoReference
	}
	listed := []listedAlias{}
	for _, a := range m.Aliases {
		if at.Qualified() && !slices.ContainsFunc(a.Routing, func(r Route) bool { return r.VersionARN == at.Text }) {
			continue
		}
		listed = append(listed, listedAlias{a.ARN, server.Time(a.Created)})
	}
	out := &listAliasesResponse{}
	out.Aliases, out.NextToken, err = paging.Cut(in.Request, aws.NewListing(s.cfg.Now(), "aliases", in.ARN), listed,
		func(a listedAlias) string {
			return paging.OldestFirst(time.Time(a.Created), a.ARN)
		})
	return out, err
}
