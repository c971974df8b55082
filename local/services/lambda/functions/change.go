package functions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"stepback/aws"
	"stepback/internal/ownerfs"
	"stepback/local/services/inventory"
)

// recordFile is the name of the file with a function's record, in the function's directory.
const recordFile = "function.json"

// change edits a function's record. edit receives a copy of the current record. The new record is saved before it
// takes effect.
func (s *Service) change(ctx context.Context, scope aws.Scope, name string, edit func(*area, *record) error) (*record,
	error) {
	a, _, err := s.find(scope, name, "")
	if err != nil {
		return nil, err
	}
	done, err := a.claim(ctx, name)
	if err != nil {
		return nil, err
	}
	defer done()
	_, old, err := s.find(scope, name, "") // it may have been deleted in the meantime
	if err != nil {
		return nil, err
	}
	r := old.clone()
	if err := edit(a, r); err != nil {
		return nil, err
	}
	return r, s.commit(ctx, a, name, old, r)
}

// commit replaces the record old with r; old is nil for a new function. The record is first saved, then deployed to
// the runner, then made visible.
func (s *Service) commit(ctx context.Context, a *area, name string, old, r *record) error {
	if err := a.save(name, r); err != nil {
		return err
	}
	if err := s.deployChanges(ctx, a, old, r); err != nil {
		return err
	}
	a.put(name, r)
	if err := a.sweep(name, r); err != nil {
		s.opts.Log.Warn("code that is not needed any more could not be removed", "error", err)
	}
	return nil
}

// deployChanges deploys the versions that are new or whose revision has changed, and removes the versions that no
// longer exist.
func (s *Service) deployChanges(ctx context.Context, a *area, old, r *record) error {
	if old == nil {
		old = &record{}
	}
	for _, c := range r.all() {
		if before, ok := old.numbered(c.Version); ok && before.RevisionID == c.RevisionID {
			continue
		}
		if err := s.deploy(ctx, a, r, &c); err != nil {
			return err
		}
	}
	for _, c := range old.Versions {
		if _, ok := r.numbered(c.Version); !ok {
			a.lambda.Remove(c.FunctionName, c.Version)
		}
	}
	a.limit(r)
	return nil
}

// save writes the record of a function durably. Only its owner may read the file: environment variables hold secrets.
func (a *area) save(name string, r *record) error {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	dir := a.functionDir(name)
	if err := os.MkdirAll(dir, ownerfs.Dir); err != nil {
		return err
	}
	return a.files.WriteFile(filepath.Join(dir, recordFile), text, 0o600)
}

// readRecord reads the stored record of a function, or returns nil if the directory has none.
func readRecord(files *inventory.Files, dir string) (*record, error) {
	path := filepath.Join(dir, recordFile)
	text, err := files.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := new(record)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w; remove the directory to forget the function", path, err)
	}
	return r, nil
}

// revise gives a changed version a new revision ID and modification time.
func (s *Service) revise(c *Configuration) {
	c.RevisionID = aws.NewID()
	c.LastModified = timestamp(s.opts.Now())
}
