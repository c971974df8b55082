package local

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"stepback/aws"
	"stepback/engine"
	"stepback/engine/history"
	"stepback/engine/journal"
)

// Resumed is an execution that an earlier process left running.
type Resumed = engine.Resumed

// engines holds the engines of all accounts and regions, which share one clock and one journal.
type engines struct {
	platform *Platform
	activity func(arn string) (bool, error)
	follow   func(*journal.Execution, []history.Event)
	log      *slog.Logger

	opening    sync.Mutex   // serializes the creation of engines
	recovering atomic.Int32 // engines that look for the executions of an earlier process

	mu   sync.Mutex
	made map[aws.Scope]*engine.Engine
}

func newEngines(p *Platform, activity func(arn string) (bool, error)) *engines {
	return &engines{platform: p, activity: activity, log: p.cfg.Log, made: map[aws.Scope]*engine.Engine{}}
}

// open returns the engine of an account and region. A newly created engine resumes the executions that an earlier
// process left running.
//
//nolint:contextcheck,nolintlint // an engine is opened for everybody, not for the one who asked first
func (s *engines) open(scope aws.Scope) (*engine.Engine, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	if e := s.of(scope); e != nil {
		return e, nil
	}
	p := s.platform
	e, err := engine.New(engine.Config{
		Clock: p.Clock, Patience: p.cfg.Patience, Overran: p.cfg.Overran, Journal: p.Journal, Region: scope.Region,
		Account: scope.Account, Log: s.log, Objects: p.objects, TempDir: p.Dir,
		Formats:      itemFormats(),
		Integrations: p.around.integrations(scope, p.Faults, p.invoker(scope), p.Clock, s.await),
		Mocks:        p.around.testCases(), Activity: s.activity, Follow: s.follow,
		Observe: both(p.tracer.Observe, p.cfg.Observe), Track: p.track, Recovered: s.recovered,
		Seed: p.cfg.EngineSeed,
	})
	if err != nil {
		return nil, err
	}
	s.recovering.Add(1)
	p.metrics.hold()
	s.mu.Lock()
	s.made[scope] = e
	s.mu.Unlock()
	if err := p.restorePacing(scope, e); err != nil {
		return e, err
	}
	if p.cfg.RecoverInBackground {
		return e, e.RecoverInBackground(s.found)
	}
	found, err := e.Recover(context.Background())
	if err != nil {
		return e, err
	}
	s.found(len(found.Executions), found, nil)
	return e, nil
}

// found notes the end of an engine's recovery and logs how many executions continue. If the journal cannot be read, the
// platform is broken, and metric data are not declared complete.
func (s *engines) found(resumed int, found *engine.Recovered, err error) {
	if err != nil {
		s.platform.reportBroken(err)
		return
	}
	if resumed > 0 {
		s.log.Info("executions resumed", "executions", resumed, "children", found.Children)
	}
	s.recovering.Add(-1)
	s.platform.metrics.release()
}

// recovered counts the ended child executions of recovered executions that no earlier process has counted and stored,
// and calls Config.Resumed for each execution.
func (s *engines) recovered(ctx context.Context, found *engine.Recovered) error {
	parents := make([]string, 0, len(found.Executions)+len(found.Left))
	for _, x := range found.Executions {
		parents = append(parents, x.ARN)
	}
	for _, x := range found.Left {
		parents = append(parents, x.ARN)
	}
	for _, arn := range parents {
		if err := s.platform.metrics.countChildren(ctx, arn); err != nil {
			return err
		}
	}
	for _, x := range found.Executions {
		if s.platform.cfg.Resumed != nil {
			s.platform.cfg.Resumed(x)
		}
	}
	return nil
}

// await waits for an execution, possibly in another account.
func (s *engines) await(ctx context.Context, _ *engine.Task, arn string) error {
	e := s.of(scopeOf(arn))
	if e == nil {
		return nil
	}
	return e.Await(ctx, arn)
}

// scopeOf returns the account and region of an ARN.
func scopeOf(arn string) aws.Scope {
	a, _ := aws.ParseARN(arn)
	return a.Scope()
}

// of returns the engine of an account and region; nil if nothing runs there.
func (s *engines) of(scope aws.Scope) *engine.Engine {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.made[scope]
}

// all returns every engine.
func (s *engines) all() []*engine.Engine {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.made))
}

// byScope returns every engine by its account and region.
func (s *engines) byScope() map[aws.Scope]*engine.Engine {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.made)
}

// stopPolls ends the polls of activity workers with the response that there are no tasks.
func (s *engines) stopPolls() {
	for _, e := range s.all() {
		e.StopPolls()
	}
}

// closing makes the engines ignore failures of tasks from now on, since functions lose the services that they call;
// the next engine runs those tasks again.
func (s *engines) closing() {
	for _, e := range s.all() {
		e.Closing()
	}
}

// close closes the engines. Running executions continue when the journal is opened again.
func (s *engines) close() {
	for _, e := range s.all() {
		e.Close()
	}
}

// both returns an observer that calls both; either may be nil.
func both(first, second func(*journal.Execution, []history.Event)) func(*journal.Execution, []history.Event) {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return func(x *journal.Execution, events []history.Event) {
		first(x, events)
		second(x, events)
	}
}
