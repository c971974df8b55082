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

type listVersionsRequest struct {
	ARN string `json:"stateMachineArn"`
	paging.Request
}

type listedVersion struct {
	ARN     string      `json:"stateMachineVersionArn"`
	Created server.Time `json:"creationDate"`
}

type listVersionsResponse struct {
	Versions  []listedVersion `json:"stateMachineVersions"`
	NextToken string          `json:"nextToken,omitempty"`
}

func (s *Service) listStateMachineVersions(_ context.Context, scope aws.Scope,
	in *listVersionsRequest) (*listVersionsResponse, error) {
	at, err := resource.ParseMachine(in.ARN)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.machine(scope, at)
	if apierror.IsMissing(err) || err == nil && at.Qualified() { // the model declares no other error for it
		err = apierror.InvalidARN("Invalid ARN: " + in.ARN)
	}
	if err != nil {
		return nil, err
	}
	listed := make([]listedVersion, 0, len(m.Versions))
	for _, v := range slices.Backward(m.Versions) {
		listed = append(listed, listedVersion{v.ARN, server.Time(v.Created)})
	}
	out := &listVersionsResponse{}
	out.Versions, out.NextToken, err = paging.Cut(in.Request, aws.NewListing(s.cfg.Now(), "versions", in.ARN), listed,
		func(v listedVersion) string {
			return paging.NewestFirst(time.Time(v.Created), v.ARN)
		})
	return out, err
}
