package logs

import (
	"context"
	"errors"
	"strings"

	"stepback/aws"
	"stepback/local/services/logs/logstore"
)

type createLogGroupRequest struct {
	Name      string            `json:"logGroupName"`
	KMSKeyID  string            `json:"kmsKeyId"`
	Tags      map[string]string `json:"tags"`
	Class     string            `json:"logGroupClass"`
	Protected bool              `json:"deletionProtectionEnabled"`
}

func (s *Service) createLogGroup(_ context.Context, scope aws.Scope, r *createLogGroupRequest) (*none, error) {
	if strings.HasPrefix(strings.ToLower(r.Name), "aws/") {
		return nil, invalid("Log groups starting with AWS/ are reserved for AWS.")
	}
	err := s.store.CreateGroup(in(scope), logstore.Group{
		Name: r.Name, KMSKeyID: r.KMSKeyID, Class: r.Class, Tags: r.Tags, Protected: r.Protected,
	})
	if errors.Is(err, logstore.ErrExists) {
		return nil, errGroupExists
	}
	return &none{}, err
}
