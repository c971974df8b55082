package functions

import (
	"cmp"
	"context"

	"stepback/aws"
)

// RuntimeManagement determines when a version's runtime is updated: Auto, FunctionUpdate or Manual. For Manual it
// holds the ARN of the runtime to keep. Here runtimes are the machine's interpreters, and nothing updates them.
type RuntimeManagement struct {
	UpdateRuntimeOn   string
	RuntimeVersionArn string `json:",omitempty"`
}

// RuntimeManagement returns the setting of a version, and the version's ARN. qualifier is a version or empty.
func (s *Service) RuntimeManagement(scope aws.Scope, name, qualifier string) (RuntimeManagement, string, error) {
	f, err := s.Get(scope, name, qualifier)
	if err != nil {
		return RuntimeManagement{}, "", err
	}
	_, r, err := s.find(scope, name, "")
	if err != nil {
		return RuntimeManagement{}, "", err
	}
	m := r.Runtime[qualifier]
	m.UpdateRuntimeOn = cmp.Or(m.UpdateRuntimeOn, "Auto")
	return m, f.Configuration.FunctionArn, nil
}

// SetRuntimeManagement stores the setting of a version.
func (s *Service) SetRuntimeManagement(ctx context.Context, scope aws.Scope, name, qualifier string, m RuntimeManagement) error {
	if (m.UpdateRuntimeOn == "Manual") != (m.RuntimeVersionArn != "") {
		return invalid("RuntimeVersionArn must be given with the update mode Manual, and with no other.")
	}
	_, err := s.change(ctx, scope, name, func(_ *area, r *record) error {
		all := map[string]RuntimeManagement{}
		for k, v := range r.Runtime {
			all[k] = v
		}
		all[qualifier] = m
		r.Runtime = all
		return nil
	})
	return err
}

// Recursion returns how recursive loops of a function are treated: Terminate or Allow. Loops are not detected here.
func (s *Service) Recursion(scope aws.Scope, name string) (string, error) {
	_, r, err := s.find(scope, name, "")
	if err != nil {
		return "", err
	}
	return cmp.Or(r.Recursion, "Terminate"), nil
}

// SetRecursion stores how recursive loops of a function are treated.
func (s *Service) SetRecursion(ctx context.Context, scope aws.Scope, name, loop string) error {
	_, err := s.change(ctx, scope, name, func(_ *area, r *record) error {
		r.Recursion = loop
		return nil
	})
	return err
}
