package activities

import (
	"context"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/stepfunctions/configuration"
	"stepback/local/services/stepfunctions/resource"
)

type activityRequest struct {
	ARN string `json:"activityArn"`
}

type describeActivityResponse struct {
	ARN        string                   `json:"activityArn"`
	Name       string                   `json:"name"`
	Created    server.Time              `json:"creationDate"`
	Encryption configuration.Encryption `json:"encryptionConfiguration"`
}

func (s *Service) describeActivity(_ context.Context, scope aws.Scope,
	in *activityRequest) (*describeActivityResponse, error) {
	at, err := resource.ParseActivity(in.ARN)
	if err != nil {
		return nil, err
	}
	a, err := s.activity(scope, at)
	if err != nil {
		return nil, err
	}
	return &describeActivityResponse{a.ARN, a.Name, server.Time(a.Created), a.Encryption}, nil
}
