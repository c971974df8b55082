package functions

import (
	"context"
	"errors"

	"stepback/aws"
)

// UpdateCodeInput describes new code for $LATEST.
type UpdateCodeInput struct {
	Code
	Architectures []string
	Publish       bool
	DryRun        bool   // only validates
	RevisionID    string `json:"RevisionId"`
}

// UpdateCode replaces the code of $LATEST. Running invocations finish with the code they started with.
func (s *Service) UpdateCode(ctx context.Context, scope aws.Scope, name string, in *UpdateCodeInput) (*Configuration,
	error) {
	var shown Configuration
	_, err := s.changeLatest(ctx, scope, name, in.RevisionID, func(a *area, r *record) error {
		code, err := s.install(ctx, a, name, &in.Code)
		if err != nil {
			return err
		}
		c := &r.Latest
		c.CodeSha256, c.CodeSize = code.sha256, code.size
		if len(in.Architectures) > 0 {
			c.Architectures = in.Architectures
		}
		shown = *c
		if in.DryRun {
			return errDryRun
		}
		s.revise(c)
		shown = *c
		if in.Publish {
			shown = *s.publish(r, nil)
		}
		return nil
	})
	if err != nil && !errors.Is(err, errDryRun) {
		return nil, err
	}
	return &shown, nil
}

// errDryRun cancels a change that was only to be validated.
var errDryRun = errors.New("checked only")
