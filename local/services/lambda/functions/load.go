package functions

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"stepback/aws"
	"stepback/internal/lazyregexp"
	"stepback/local/services/inventory"
)

var accountForm = lazyregexp.New(`^\d{12}$`)

// load deploys the functions stored in the directory.
func (s *Service) load(ctx context.Context) error {
	known, err := s.opts.Files.Below(s.dir)
	if err != nil {
		return err
	}
	for _, path := range known {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return &inventory.DamagedError{Path: path, Why: "it is missing"}
		}
	}
	return eachDirectory(s.dir, func(account string) error {
		if !accountForm.MatchString(account) {
			return nil
		}
		return eachDirectory(filepath.Join(s.dir, account), func(region string) error {
			return eachDirectory(filepath.Join(s.dir, account, region), func(name string) error {
				return s.loadFunction(ctx, aws.Scope{Account: account, Region: region}, name)
			})
		})
	})
}

func eachDirectory(dir string, f func(name string) error) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if err := f(e.Name()); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) loadFunction(ctx context.Context, scope aws.Scope, name string) error {
	dir := filepath.Join(s.dir, scope.Account, scope.Region, name)
	r, err := readRecord(s.opts.Files, dir)
	if err != nil {
		return err
	}
	if r == nil {
		return os.RemoveAll(dir) // it was deleted, or its creation was not completed
	}
	a, err := s.area(scope)
	if err != nil {
		return err
	}
	if err := s.verifyCodes(a, name, r); err != nil {
		return err
	}
	if err := s.deployChanges(ctx, a, nil, r); err != nil {
		return err
	}
	a.put(name, r)
	return a.sweep(name, r)
}
