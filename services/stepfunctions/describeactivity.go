package stepfunctions

import (
	"context"

	"stepback/aws"
	"stepback/aws/server/awsjson"
)

type activityRequest struct {
	ARN string `json:"activityArn"`
}

var activityMembers = []awsjson.Member{activityARN()}

type describeActivityResponse struct {
	ARN        string       `json:"activityArn"`
	Name       string       `json:"name"`
	Created    awsjson.Time `json:"creationDate"`
	Encryption Encryption   `json:"encryptionConfiguration"`
}

func (s *Service) describeActivity(_ context.Context, scope aws.Scope,
	in *activityRequest) (*describeActivityResponse, error) {
	at, err := parseActivityARN(in.ARN)
	if err != nil {
		return nil, err
	}
	a, err := s.activity(scope, at)
	if err != nil {
		return nil, err
	}
	return &describeActivityResponse{a.ARN, a.Name, awsjson.Time(a.Created), a.Encryption}, nil
}
