package logs

import (
	"context"

	"stepback/aws"
	"stepback/local/services/logs/logstore"
)

type kmsKeyRequest struct {
	Group    string `json:"logGroupName"`
	Key      string `json:"kmsKeyId"`
	Resource string `json:"resourceIdentifier"`
}

// group returns the log group of a request. Query results, which can also have a key, are not stored.
func (r *kmsKeyRequest) group() (string, error) {
	switch {
	case r.Group != "" && r.Resource != "":
		return "", invalid("logGroupName and resourceIdentifier are mutually exclusive parameters.")
	case r.Group != "":
		return r.Group, nil
	}
	name := nameOf(r.Resource)
	if name == r.Resource {
		return "", invalid("resourceIdentifier must be the ARN of a log group here: " + r.Resource)
	}
	return name, nil
}

func (s *Service) associateKMSKey(_ context.Context, scope aws.Scope, r *kmsKeyRequest) (*none, error) {
	return s.setKey(scope, r, r.Key)
}

func (s *Service) disassociateKMSKey(_ context.Context, scope aws.Scope, r *kmsKeyRequest) (*none, error) {
	return s.setKey(scope, r, "")
}

func (s *Service) setKey(scope aws.Scope, r *kmsKeyRequest, key string) (*none, error) {
	name, err := r.group()
	if err != nil {
		return nil, err
	}
	return &none{}, s.store.UpdateGroup(in(scope), name, func(g *logstore.Group) { g.KMSKeyID = key })
}

type deletionProtectionRequest struct {
	Identifier string `json:"logGroupIdentifier"`
	Enabled    bool   `json:"deletionProtectionEnabled"`
}

func (s *Service) putLogGroupDeletionProtection(
	_ context.Context,
	scope aws.Scope,
	r *deletionProtectionRequest,
) (*none, error) {
	return &none{}, s.store.UpdateGroup(
		in(scope),
		nameOf(r.Identifier),
		func(g *logstore.Group) { g.Protected = r.Enabled },
	)
}
