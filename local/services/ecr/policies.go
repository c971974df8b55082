package ecr

import (
	"context"
	"encoding/json"

	"stepback/aws"
)

type policyRequest struct {
	repositoryRequest
	Policy    string `json:"policyText"`
	Lifecycle string `json:"lifecyclePolicyText"`
}

type policyAnswer struct {
	Registry string `json:"registryId"`
	Name     string `json:"repositoryName"`
	Policy   string `json:"policyText"`
}

type lifecycleAnswer struct {
	Registry  string `json:"registryId"`
	Name      string `json:"repositoryName"`
	Lifecycle string `json:"lifecyclePolicyText"`
}

func noPolicy(scope aws.Scope, name string) error {
	return refuse("RepositoryPolicyNotFoundException", "Repository policy does not exist for the repository with name '%s' in the "+
		"registry with id '%s'", name, scope.Account)
}

func noLifecycle(scope aws.Scope, name string) error {
	return refuse("LifecyclePolicyNotFoundException", "Lifecycle policy does not exist for the repository with name '%s' in the "+
		"registry with id '%s'", name, scope.Account)
}

func (s *Service) setRepositoryPolicy(_ context.Context, scope aws.Scope, in *policyRequest) (*policyAnswer, error) {
	scope = in.of(scope)
	if !json.Valid([]byte(in.Policy)) {
		return nil, refuse("InvalidParameterException", "Invalid parameter at 'PolicyText' failed to satisfy constraint: "+
			"'Invalid repository policy provided'")
	}
	return &policyAnswer{scope.Account, in.Name, in.Policy}, s.changes(scope, in.Name, func(k *storedRepository) error {
		k.Policy = in.Policy
		return nil
	})
}

func (s *Service) getRepositoryPolicy(_ context.Context, scope aws.Scope, in *repositoryRequest) (*policyAnswer, error) {
	scope = in.of(scope)
	k, err := s.find(scope, in.Name)
	if err == nil && k.Policy == "" {
		err = noPolicy(scope, in.Name)
	}
	if err != nil {
		return nil, err
	}
	return &policyAnswer{scope.Account, in.Name, k.Policy}, nil
}

func (s *Service) deleteRepositoryPolicy(_ context.Context, scope aws.Scope, in *repositoryRequest) (*policyAnswer, error) {
	scope = in.of(scope)
	answer := &policyAnswer{Registry: scope.Account, Name: in.Name}
	return answer, s.changes(scope, in.Name, func(k *storedRepository) error {
		if k.Policy == "" {
			return noPolicy(scope, in.Name)
		}
		answer.Policy, k.Policy = k.Policy, ""
		return nil
	})
}

func (s *Service) putLifecyclePolicy(_ context.Context, scope aws.Scope, in *policyRequest) (*lifecycleAnswer, error) {
	scope = in.of(scope)
	var document struct {
		Rules []json.RawMessage `json:"rules"`
	}
	if json.Unmarshal([]byte(in.Lifecycle), &document) != nil || len(document.Rules) == 0 {
		return nil, refuse("InvalidParameterException", "Invalid parameter at 'LifecyclePolicyText' failed to satisfy constraint: "+
			"'Lifecycle policy validation failure: no rules'")
	}
	answer := &lifecycleAnswer{scope.Account, in.Name, in.Lifecycle}
	return answer, s.changes(scope, in.Name, func(k *storedRepository) error {
		k.Lifecycle = in.Lifecycle
		return nil
	})
}

func (s *Service) getLifecyclePolicy(_ context.Context, scope aws.Scope, in *repositoryRequest) (*lifecycleAnswer, error) {
	scope = in.of(scope)
	k, err := s.find(scope, in.Name)
	if err == nil && k.Lifecycle == "" {
		err = noLifecycle(scope, in.Name)
	}
	if err != nil {
		return nil, err
	}
	return &lifecycleAnswer{scope.Account, in.Name, k.Lifecycle}, nil
}

func (s *Service) deleteLifecyclePolicy(_ context.Context, scope aws.Scope, in *repositoryRequest) (*lifecycleAnswer, error) {
	scope = in.of(scope)
	answer := &lifecycleAnswer{Registry: scope.Account, Name: in.Name}
	return answer, s.changes(scope, in.Name, func(k *storedRepository) error {
		if k.Lifecycle == "" {
			return noLifecycle(scope, in.Name)
		}
		answer.Lifecycle, k.Lifecycle = k.Lifecycle, ""
		return nil
	})
}

type mutabilityRequest struct {
	repositoryRequest
	Mutability string      `json:"imageTagMutability"`
	Exclusions []exclusion `json:"imageTagMutabilityExclusionFilters"`
}

type mutabilityAnswer struct {
	Registry   string      `json:"registryId"`
	Name       string      `json:"repositoryName"`
	Mutability string      `json:"imageTagMutability"`
	Exclusions []exclusion `json:"imageTagMutabilityExclusionFilters,omitempty"`
}

func (s *Service) putImageTagMutability(_ context.Context, scope aws.Scope, in *mutabilityRequest) (*mutabilityAnswer,
	error) {
	scope = in.of(scope)
	return &mutabilityAnswer{scope.Account, in.Name, in.Mutability, in.Exclusions}, s.changes(scope, in.Name,
		func(k *storedRepository) error {
			k.Repository.Mutability, k.Repository.Exclusions = in.Mutability, in.Exclusions
			return nil
		})
}

type scanningRequest struct {
	repositoryRequest
	Scanning scanning `json:"imageScanningConfiguration"`
}

type scanningAnswer struct {
	Registry string   `json:"registryId"`
	Name     string   `json:"repositoryName"`
	Scanning scanning `json:"imageScanningConfiguration"`
}

func (s *Service) putImageScanningConfiguration(_ context.Context, scope aws.Scope, in *scanningRequest) (*scanningAnswer,
	error) {
	scope = in.of(scope)
	answer := &scanningAnswer{scope.Account, in.Name, in.Scanning}
	return answer, s.changes(scope, in.Name, func(k *storedRepository) error {
		k.Repository.Scanning = in.Scanning
		return nil
	})
}
