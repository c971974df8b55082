package functions

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stepback/aws"
)

// Delete deletes a function, or the version that qualifier names. Running invocations finish.
func (s *Service) Delete(ctx context.Context, scope aws.Scope, name, qualifier string) error {
	switch qualifier {
	case "":
		return s.deleteFunction(ctx, scope, name)
	case latest:
		return invalid("$LATEST version cannot be deleted without deleting the function.")
	}
	_, err := s.change(ctx, scope, name, func(a *area, r *record) error {
		i := slices.IndexFunc(r.Versions, func(c Configuration) bool { return c.Version == qualifier })
		if _, alias := r.Aliases[qualifier]; i < 0 && alias {
			return invalid("Deletion of aliases is not currently supported.")
		}
		if i < 0 {
			return notFound("Function not found: %s:%s", a.arn(name), qualifier)
		}
		if by := r.aliasesOf(qualifier); len(by) > 0 {
			return conflict("Version %s is currently referenced by the aliases: %s", qualifier, strings.Join(by, ", "))
		}
		r.Versions = slices.Delete(r.Versions, i, i+1)
		r.forget(qualifier)
		return nil
	})
	return err
}

func (s *Service) deleteFunction(ctx context.Context, scope aws.Scope, name string) error {
	a, _, err := s.find(scope, name, "")
	if err != nil {
		return err
	}
	done, err := a.claim(ctx, name)
	if err != nil {
		return err
	}
	defer done()
	_, r, err := s.find(scope, name, "")
	if err != nil {
		return err
	}
	if err := a.files.Remove(filepath.Join(a.functionDir(name), recordFile)); err != nil {
		return err
	}
	a.put(name, nil)
	for _, c := range r.all() {
		a.lambda.Remove(c.FunctionName, c.Version)
	}
	for sha := range r.codes() {
		if a.inUse(codeKey{name, sha}) {
			return nil // the next start removes what is left
		}
	}
	return os.RemoveAll(a.functionDir(name))
}
