package functions

import (
	"context"
	"maps"
	"slices"

	"stepback/aws"
)

// AliasInput describes an alias to create or the changes to one. Nil members stay unchanged.
type AliasInput struct {
	Name            string
	FunctionVersion *string
	Description     *string
	RoutingConfig   *RoutingConfig
	RevisionID      string `json:"RevisionId"`
}

// CreateAlias creates an alias.
func (s *Service) CreateAlias(ctx context.Context, scope aws.Scope, name string, in *AliasInput) (*Alias, error) {
	return s.changeAlias(ctx, scope, name, in, func(a *area, r *record) (Alias, error) {
		arn := a.arn(name) + ":" + in.Name
		if _, ok := r.Aliases[in.Name]; ok {
			return Alias{}, conflict("Alias already exists: %s", arn)
		}
		return Alias{AliasArn: arn, Name: in.Name}, nil
	})
}

// UpdateAlias changes an alias.
func (s *Service) UpdateAlias(ctx context.Context, scope aws.Scope, name string, in *AliasInput) (*Alias, error) {
	return s.changeAlias(ctx, scope, name, in, func(a *area, r *record) (Alias, error) {
		alias, ok := r.Aliases[in.Name]
		switch {
		case !ok:
			return Alias{}, notFound("Alias not found: %s:%s", a.arn(name), in.Name)
		case in.RevisionID != "" && in.RevisionID != alias.RevisionID:
			return Alias{}, stale()
		}
		return alias, nil
	})
}

// changeAlias applies in to the alias that before returns.
func (s *Service) changeAlias(ctx context.Context, scope aws.Scope, name string, in *AliasInput,
	before func(*area, *record) (Alias, error)) (*Alias, error) {
	var alias Alias
	_, err := s.change(ctx, scope, name, func(a *area, r *record) (err error) {
		if alias, err = before(a, r); err != nil {
			return err
		}
		set(&alias.FunctionVersion, in.FunctionVersion)
		set(&alias.Description, in.Description)
		if in.RoutingConfig != nil {
			alias.RoutingConfig = nil
			if len(in.RoutingConfig.AdditionalVersionWeights) > 0 {
				alias.RoutingConfig = in.RoutingConfig
			}
		}
		alias.RevisionID = aws.NewID()
		if r.Aliases == nil {
			r.Aliases = map[string]Alias{}
		}
		r.Aliases[in.Name] = alias
		return r.checkAlias(a, &alias)
	})
	if err != nil {
		return nil, err
	}
	return &alias, nil
}

// checkAlias returns an error unless the alias points at existing versions.
func (r *record) checkAlias(a *area, alias *Alias) error {
	name := r.Latest.FunctionName
	if _, ok := r.numbered(alias.FunctionVersion); !ok {
		return notFound("Function not found: %s:%s", a.arn(name), alias.FunctionVersion)
	}
	if alias.RoutingConfig == nil {
		return nil
	}
	weights := alias.RoutingConfig.AdditionalVersionWeights
	if alias.FunctionVersion == latest || len(weights) > 1 {
		return invalid("An alias that routes leads to a published version and to one further version; it was given %s and %d further ones.", alias.FunctionVersion, len(weights))
	}
	for version, weight := range weights {
		if _, ok := r.numbered(version); !ok || version == latest {
			return notFound("Function not found: %s:%s", a.arn(name), version)
		}
		if version == alias.FunctionVersion || weight < 0 || weight > 1 {
			return invalid("The weight %v of version %s is wrong: give another version than the alias's own, and a weight from 0 to 1.", weight, version)
		}
	}
	return nil
}

// Alias returns an alias.
func (s *Service) Alias(scope aws.Scope, name, alias string) (*Alias, error) {
	_, r, err := s.find(scope, name, "")
	if err != nil {
		return nil, err
	}
	a, ok := r.Aliases[alias]
	if !ok {
		return nil, notFound("Cannot find alias arn: %s:%s", arnOf(scope, name), alias)
	}
	return &a, nil
}

// Aliases returns the aliases of a function, ordered by name. If version is not empty, only the aliases that point
// at that version are returned.
func (s *Service) Aliases(scope aws.Scope, name, version string) ([]Alias, error) {
	_, r, err := s.find(scope, name, "")
	if err != nil {
		return nil, err
	}
	var list []Alias
	for _, alias := range slices.Sorted(maps.Keys(r.Aliases)) {
		if a := r.Aliases[alias]; version == "" || a.leadsTo(version) {
			list = append(list, a)
		}
	}
	return list, nil
}

// DeleteAlias deletes an alias. It succeeds if the alias does not exist.
func (s *Service) DeleteAlias(ctx context.Context, scope aws.Scope, name, alias string) error {
	_, err := s.change(ctx, scope, name, func(_ *area, r *record) error {
		delete(r.Aliases, alias)
		r.forget(alias)
		return nil
	})
	return err
}

func (a Alias) leadsTo(version string) bool {
	if a.FunctionVersion == version {
		return true
	}
	return a.RoutingConfig != nil && has(a.RoutingConfig.AdditionalVersionWeights, version)
}

func has[V any](m map[string]V, key string) bool {
	_, ok := m[key]
	return ok
}

// aliasesOf returns the names of the aliases that point at a version.
func (r *record) aliasesOf(version string) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(r.Aliases)) {
		if r.Aliases[name].leadsTo(version) {
			names = append(names, name)
		}
	}
	return names
}
