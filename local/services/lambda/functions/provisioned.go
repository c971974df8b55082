package functions

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"stepback/aws"
)

// ProvisionedConfig is the stored provisioned concurrency of a version or alias. No process is started in advance for
// it.
type ProvisionedConfig struct {
	FunctionArn  string
	Requested    int
	LastModified string
}

// Provision sets the provisioned concurrency of a version or alias.
func (s *Service) Provision(ctx context.Context, scope aws.Scope, name, qualifier string, n int) (*ProvisionedConfig,
	error) {
	if qualifier == "" || qualifier == latest {
		return nil, invalid("Provisioned Concurrency Configs cannot be applied to unpublished function versions.")
	}
	var made ProvisionedConfig
	_, err := s.change(ctx, scope, name, func(a *area, r *record) error {
		if _, ok := r.version(qualifier); !ok {
			return notFound("Function not found: %s:%s", a.arn(name), qualifier)
		}
		total := n
		for other, p := range r.Provisioned {
			if other != qualifier {
				total += p.Requested
			}
		}
		if r.Reserved != nil && total > *r.Reserved {
			return invalid("Requested Provisioned Concurrency should not be greater than the reservedConcurrentExecution for function")
		}
		made = ProvisionedConfig{a.arn(name) + ":" + qualifier, n, s.opts.Now().UTC().Format("2006-01-02T15:04:05-0700")}
		if r.Provisioned == nil {
			r.Provisioned = map[string]ProvisionedConfig{}
		}
		r.Provisioned[qualifier] = made
		return nil
	})
	return &made, err
}

// Provisioned returns the provisioned concurrency of a version or alias. An empty qualifier means that of all
// versions and aliases of the function.
func (s *Service) Provisioned(scope aws.Scope, name, qualifier string) ([]ProvisionedConfig, error) {
	_, r, err := s.find(scope, name, "")
	if err != nil {
		return nil, err
	}
	if qualifier != "" {
		c, ok := r.Provisioned[qualifier]
		if !ok {
			return nil, notProvisioned()
		}
		return []ProvisionedConfig{c}, nil
	}
	list := make([]ProvisionedConfig, 0, len(r.Provisioned))
	for _, q := range slices.Sorted(maps.Keys(r.Provisioned)) {
		list = append(list, r.Provisioned[q])
	}
	return list, nil
}

// Unprovision removes the provisioned concurrency of a version or alias.
func (s *Service) Unprovision(ctx context.Context, scope aws.Scope, name, qualifier string) error {
	_, err := s.change(ctx, scope, name, func(_ *area, r *record) error {
		if _, ok := r.Provisioned[qualifier]; !ok {
			return notProvisioned()
		}
		delete(r.Provisioned, qualifier)
		return nil
	})
	return err
}

func notProvisioned() error {
	return &aws.Error{Code: "ProvisionedConcurrencyConfigNotFoundException", Status: http.StatusNotFound,
		Message: "No Provisioned Concurrency Config found for this function"}
}
