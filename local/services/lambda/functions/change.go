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
	"stepback/internal/atomicfile"
)

// recordFile is where a function's record is, in the function's directory.
const recordFile = "function.json"

// change makes a new record of a function, keeps it, and only then lets it take effect. Edit gets a copy of the one
// there is.
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
	_, old, err := s.find(scope, name, "") // it may have gone meanwhile
	if err != nil {
		return nil, err
	}
	r := old.clone()
	if err := edit(a, r); err != nil {
		return nil, err
	}
	return r, s.commit(ctx, a, name, old, r)
}

// commit puts a record in the place of the old one, which is nil for a new function: it is kept first, then what runs
// functions learns of it, then everybody else.
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

// deployChanges deploys the versions that are new or have another revision, and removes those that have gone.
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

// save writes the record of a function durably. Only its owner may read it: environment variables hold secrets.
func (a *area) save(name string, r *record) error {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	dir := a.functionDir(name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, recordFile), text, 0o600)
}

// readRecord reads a function that was kept; nil when there is none in the directory.
func readRecord(dir string) (*record, error) {
	path := filepath.Join(dir, recordFile)
	text, err := os.ReadFile(path)
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

// revise gives a version that was changed a new revision and time.
func (s *Service) revise(c *Configuration) {
	c.RevisionID = aws.NewID()
	c.LastModified = timestamp(s.opts.Now())
}
