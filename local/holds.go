package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"stepback/aws"
	"stepback/engine"
	"stepback/internal/atomicfile"
)

// holdsFile is the file of a data directory that has the holds of retries, by account and region.
const holdsFile = "holds.json"

// storedHolds serializes changes of holds and of their file.
type storedHolds struct{ mu sync.Mutex }

// read returns the stored holds of all accounts and regions. A missing file has none.
func (s *storedHolds) read(dir string) (map[string][]engine.Hold, error) {
	all := map[string][]engine.Hold{}
	path := filepath.Join(dir, holdsFile)
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return all, nil
	case err != nil:
		return nil, err
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w; remove it to release all retries", path, err)
	}
	return all, nil
}

func holdsKey(scope aws.Scope) string { return scope.Account + "/" + scope.Region }

// restoreHolds holds the retries in an engine that the stored holds select, before it recovers its executions.
func (p *Platform) restoreHolds(scope aws.Scope, e *engine.Engine) error {
	p.holds.mu.Lock()
	defer p.holds.mu.Unlock()
	all, err := p.holds.read(p.Dir)
	if err != nil {
		return err
	}
	for _, h := range all[holdsKey(scope)] {
		e.Hold(h)
	}
	return nil
}

// Hold holds the retries that h selects in an account and region (engine.Engine.Hold) until Release, also after a restart.
func (p *Platform) Hold(scope aws.Scope, h engine.Hold) error {
	return p.changeHolds(scope, func(e *engine.Engine) error {
		e.Hold(h)
		return nil
	})
}

// Release ends a hold, and returns how many retries were due. The error is engine.ErrNoHold if there is no such hold.
func (p *Platform) Release(scope aws.Scope, h engine.Hold) (due int, err error) {
	err = p.changeHolds(scope, func(e *engine.Engine) (err error) {
		due, err = e.Release(h)
		return err
	})
	return due, err
}

// Holds returns the holds of an account and region.
func (p *Platform) Holds(scope aws.Scope) ([]engine.Held, error) {
	e, err := p.engines.open(scope)
	if err != nil {
		return nil, err
	}
	return e.Holds(), nil
}

func (p *Platform) changeHolds(scope aws.Scope, change func(*engine.Engine) error) error {
	e, err := p.engines.open(scope)
	if err != nil {
		return err
	}
	p.holds.mu.Lock()
	defer p.holds.mu.Unlock()
	all, err := p.holds.read(p.Dir)
	if err != nil {
		return err
	}
	if err := change(e); err != nil {
		return err
	}
	key := holdsKey(scope)
	delete(all, key)
	for _, h := range e.Holds() {
		all[key] = append(all[key], h.Hold)
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	const perm = 0o600
	return atomicfile.Write(filepath.Join(p.Dir, holdsFile), text, perm)
}
