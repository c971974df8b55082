package functions

import (
	"context"

	"stepback/aws"
)

// UpdateConfigurationInput describes a new configuration of $LATEST.
type UpdateConfigurationInput struct {
	Settings
	RevisionID string `json:"RevisionId"`
}

// UpdateConfiguration changes the configuration of $LATEST.
func (s *Service) UpdateConfiguration(ctx context.Context, scope aws.Scope, name string,
	in *UpdateConfigurationInput) (*Configuration, error) {
	r, err := s.changeLatest(ctx, scope, name, in.RevisionID, func(_ *area, r *record) error {
		if in.DurableConfig != nil && r.Latest.DurableConfig == nil {
			return invalid("The function is not durable. DurableConfig makes a function durable only when it is created.")
		}
		if err := in.apply(&r.Latest); err != nil {
			return err
		}
		if _, err := s.runtimes.Launch(ctx, r.Latest.Runtime, "", 0); err != nil {
			return invalid("%v", err)
		}
		if in.Layers != nil {
			layers, err := s.layersOf(in.Layers)
			if err != nil {
				return err
			}
			r.Latest.Layers = layers
		}
		s.revise(&r.Latest)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &r.Latest, nil
}

// changeLatest changes $LATEST. It returns an error if $LATEST does not have the given revision.
func (s *Service) changeLatest(ctx context.Context, scope aws.Scope, name, revision string,
	edit func(*area, *record) error) (*record, error) {
	return s.change(ctx, scope, name, func(a *area, r *record) error {
		if revision != "" && revision != r.Latest.RevisionID {
			return stale()
		}
		return edit(a, r)
	})
}
