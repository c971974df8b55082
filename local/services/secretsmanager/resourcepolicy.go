package secretsmanager

import (
	"context"
	"encoding/json"

	"stepback/aws"
)

type policyRequest struct {
	secretRequest
	Policy string `json:"ResourcePolicy"`
}

type policy struct {
	secretIdentity
	Policy string `json:"ResourcePolicy,omitempty"`
}

func (s *Service) putResourcePolicy(_ context.Context, scope aws.Scope, in *policyRequest) (*secretIdentity, error) {
	if !json.Valid([]byte(in.Policy)) {
		return nil, &aws.Error{Code: "MalformedPolicyDocumentException", Message: "This resource policy contains invalid Json"}
	}
	out, err := s.alter(scope, in.Secret, func(x *secret) error {
		x.Policy = in.Policy
		return nil
	})
	return &out, err
}

func (s *Service) deleteResourcePolicy(_ context.Context, scope aws.Scope, in *secretRequest) (*secretIdentity, error) {
	out, err := s.alter(scope, in.Secret, func(x *secret) error {
		x.Policy = ""
		return nil
	})
	return &out, err
}

func (s *Service) getResourcePolicy(_ context.Context, scope aws.Scope, in *secretRequest) (*policy, error) {
	x, err := s.find(scope, in.Secret)
	if err != nil {
		return nil, err
	}
	return &policy{x.named(), x.Policy}, nil
}

type validation struct {
	Passed bool              `json:"PolicyValidationPassed"`
	Errors []validationError `json:"ValidationErrors"`
}

type validationError struct {
	Check   string `json:"CheckName"`
	Message string `json:"ErrorMessage"`
}

func (s *Service) validateResourcePolicy(_ context.Context, _ aws.Scope, in *policyRequest) (*validation, error) {
	out := &validation{Passed: json.Valid([]byte(in.Policy)), Errors: []validationError{}}
	if !out.Passed {
		out.Errors = append(out.Errors, validationError{"JSON", "This resource policy contains invalid Json"})
	}
	return out, nil
}
