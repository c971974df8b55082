package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"stepback/aws"
	"stepback/engine"
	"stepback/internal/atomicfile"
)

// pacingFile is the file of a data directory that has the holds of retries and the limits of calls.
const pacingFile = "pacing.json"

// storedPacing serializes changes of holds and limits, and of their file.
type storedPacing struct{ mu sync.Mutex }

// pacingOf has the holds and limits of all engines, by account and region.
type pacingOf map[string]*pacingIn

// pacingIn has the holds and limits of one engine.
type pacingIn struct {
	Holds  []engine.Hold      `json:"holds,omitempty"`
	Limits []engine.CallLimit `json:"limits,omitempty"`
}

// read returns what is stored. A missing file has nothing.
func (s *storedPacing) read(dir string) (pacingOf, error) {
	all := pacingOf{}
	path := filepath.Join(dir, pacingFile)
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return all, nil
	case err != nil:
		return nil, err
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w; remove it to release all retries and remove all limits", path, err)
	}
	return all, nil
}

func pacingKey(scope aws.Scope) string { return scope.Account + "/" + scope.Region }

// restorePacing gives an engine the stored holds and limits, before it recovers its executions.
func (p *Platform) restorePacing(scope aws.Scope, e *engine.Engine) error {
	p.pacing.mu.Lock()
	defer p.pacing.mu.Unlock()
	all, err := p.pacing.read(p.Dir)
	if err != nil || all[pacingKey(scope)] == nil {
		return err
	}
	for _, h := range all[pacingKey(scope)].Holds {
		e.Hold(h)
	}
	for _, l := range all[pacingKey(scope)].Limits {
		err = errors.Join(err, e.LimitCalls(l))
	}
	return err
}

// restoreDurableHolds gives the durable executions the stored holds, before they continue.
func (p *Platform) restoreDurableHolds() error {
	p.pacing.mu.Lock()
	defer p.pacing.mu.Unlock()
	all, err := p.pacing.read(p.Dir)
	for key, of := range all {
		account, region, _ := strings.Cut(key, "/")
		for _, h := range of.Holds {
			p.Durable.Hold(aws.Scope{Account: account, Region: region}, h)
		}
	}
	return err
}

// Hold holds the retries that h selects in an account and region until Release, also after a restart: those of states
// (engine.Engine.Hold) and those of steps of durable functions (durablefunctions.Service.Hold). h.Machine may be the
// ARN of a function.
func (p *Platform) Hold(scope aws.Scope, h engine.Hold) error {
	h.Machine = machineName(h.Machine)
	return p.changePacing(scope, func(e *engine.Engine) error {
		p.Durable.Hold(scope, e.Hold(h))
		return nil
	})
}

// machineName returns the name in the ARN of a Lambda function; another text is returned as it is.
func machineName(machine string) string {
	if of, ok := aws.ParseARN(machine); ok && of.Service == "lambda" {
		machine, _, _ = strings.Cut(strings.TrimPrefix(of.Resource, "function:"), ":")
	}
	return machine
}

// Release ends a hold, and returns how many retries were due. The error is engine.ErrNoHold if there is no such hold.
func (p *Platform) Release(scope aws.Scope, h engine.Hold) (due int, err error) {
	h.Machine = machineName(h.Machine)
	err = p.changePacing(scope, func(e *engine.Engine) error {
		states, err := e.Release(h)
		if err != nil {
			return err
		}
		steps, err := p.Durable.Release(scope, h)
		due = states + steps
		return err
	})
	return due, err
}

// LimitCalls sets a limit of calls in an account and region (engine.Engine.LimitCalls), also after a restart.
func (p *Platform) LimitCalls(scope aws.Scope, l engine.CallLimit) error {
	return p.changePacing(scope, func(e *engine.Engine) error { return e.LimitCalls(l) })
}

// Pacing returns the holds and limits of an account and region. Due counts the retries of states and of steps.
func (p *Platform) Pacing(scope aws.Scope) ([]engine.Held, []engine.LimitedCalls, error) {
	e, err := p.engines.open(scope)
	if err != nil {
		return nil, nil, err
	}
	held := e.Holds()
	for _, of := range p.Durable.Held(scope) {
		if i := slices.IndexFunc(held, func(h engine.Held) bool { return h.Same(&of.Hold) }); i >= 0 {
			held[i].Due += of.Due
		}
	}
	return held, e.CallLimits(), nil
}

func (p *Platform) changePacing(scope aws.Scope, change func(*engine.Engine) error) error {
	e, err := p.engines.open(scope)
	if err != nil {
		return err
	}
	p.pacing.mu.Lock()
	defer p.pacing.mu.Unlock()
	all, err := p.pacing.read(p.Dir)
	if err != nil {
		return err
	}
	if err := change(e); err != nil {
		return err
	}
	key := pacingKey(scope)
	if holds, limits := e.Holds(), e.CallLimits(); len(holds)+len(limits) == 0 {
		delete(all, key)
	} else {
		of := new(pacingIn)
		for _, h := range holds {
			of.Holds = append(of.Holds, h.Hold)
		}
		for _, l := range limits {
			of.Limits = append(of.Limits, l.CallLimit)
		}
		all[key] = of
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	const perm = 0o600
	return atomicfile.Write(filepath.Join(p.Dir, pacingFile), text, perm)
}
