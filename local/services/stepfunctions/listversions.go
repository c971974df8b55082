package stepfunctions

import (
	"context"
	"slices"
	"time"

	"stepback/aws"
	"stepback/aws/server"
)

type listVersionsRequest struct {
	ARN string `json:"stateMachineArn"`
	paged
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
	at, err := parseMachineARN(in.ARN)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.machine(scope, at)
	if isMissing(err) || err == nil && at.qualified() { // the model declares no other error for it
		err = invalidARN("Invalid ARN: " + in.ARN)
	}
	if err != nil {
		return nil, err
	}
	listed := make([]listedVersion, 0, len(m.Versions))
	for _, v := range slices.Backward(m.Versions) {
		listed = append(listed, listedVersion{v.ARN, server.Time(v.Created)})
	}
	out := &listVersionsResponse{}
	out.Versions, out.NextToken, err = page(in.paged, s.listing("versions", in.ARN), listed,
		func(v listedVersion) string {
			return newestFirst(time.Time(v.Created), v.ARN)
		})
	return out, err
}
