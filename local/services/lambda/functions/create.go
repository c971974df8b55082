package functions

import (
	"context"

	"stepback/aws"
	"stepback/tasks/lambda/invocation"
)

const latest = invocation.Latest

// CreateInput describes a function to create.
type CreateInput struct {
	FunctionName string
	Settings
	Code          Code
	Architectures []string
	PackageType   string
	TenancyConfig *TenancyConfig
	Publish       bool
	Tags          map[string]string
}

// Create creates a function. It returns $LATEST, or version 1 if that is published at once.
func (s *Service) Create(ctx context.Context, scope aws.Scope, name string, in *CreateInput) (*Configuration, error) {
	if in.PackageType == "Image" {
		return nil, invalid("Container images do not run here; use the package type Zip.")
	}
	a, err := s.area(scope)
	if err != nil {
		return nil, err
	}
	done, err := a.claim(ctx, name)
	if err != nil {
		return nil, err
	}
	defer done()
	if a.record(name) != nil {
		return nil, conflict("Function already exist: %s", name)
	}
	r := &record{Latest: initial(scope, name), Tags: in.Tags}
	if err := s.configure(ctx, a, &r.Latest, in); err != nil {
		return nil, err
	}
	shown := &r.Latest
	if in.Publish {
		shown = s.publish(r, in.Description)
	}
	if err := s.commit(ctx, a, name, nil, r); err != nil {
		return nil, err
	}
	return shown, nil
}

// configure validates the input and installs the code.
func (s *Service) configure(ctx context.Context, a *area, c *Configuration, in *CreateInput) error {
	if err := in.apply(c); err != nil {
		return err
	}
	if err := checkTags(in.Tags); err != nil {
		return err
	}
	c.TenancyConfig = in.TenancyConfig
	if len(in.Architectures) > 0 {
		c.Architectures = in.Architectures
	}
	if _, err := s.runtimes.Launch(ctx, c.Runtime, "", 0); err != nil {
		return invalid("%v", err)
	}
	layers, err := s.layersOf(in.Layers)
	if err != nil {
		return err
	}
	c.Layers = layers
	code, err := s.install(ctx, a, c.FunctionName, &in.Code)
	if err != nil {
		return err
	}
	c.CodeSha256, c.CodeSize = code.sha256, code.size
	s.revise(c)
	return nil
}
