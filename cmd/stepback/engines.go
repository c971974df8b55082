package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"

	"stepback/awsapi/awsjson"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/journal"
)

// engines are the engines of all accounts and regions, over one clock and one journal.
type engines struct {
	clock    *clock.Clock
	journal  journal.Journal
	services *services
	around   *surroundings
	log      *slog.Logger

	mu   sync.Mutex
	made map[awsjson.Scope]*engine.Engine
}

func newEngines(j journal.Journal, s *services, around *surroundings, log *slog.Logger) *engines {
	return &engines{clock: clock.Real(), journal: j, services: s, around: around, log: log, made: map[awsjson.Scope]*engine.Engine{}}
}

// open returns the engine of an account and region.
func (s *engines) open(scope awsjson.Scope) (*engine.Engine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.made[scope]; e != nil {
		return e, nil
	}
	var e *engine.Engine
	await := func(ctx context.Context, arn string) error { return e.Await(ctx, arn) }
	e, err := engine.New(engine.Config{
		Clock: s.clock, Journal: s.journal, Region: scope.Region, Account: scope.Account, Log: s.log, Objects: s.services.objects,
		Integrations: s.around.integrations(scope, s.services.invoker(scope), s.clock, await), Mocks: s.around.testCases(),
	})
	if err == nil {
		s.made[scope] = e
	}
	return e, err
}

// recover goes on with the executions of all accounts and regions that had not ended when the process before did.
func (s *engines) recover(ctx context.Context, w io.Writer) error {
	scopes := map[awsjson.Scope]bool{}
	for u, err := range s.journal.Unfinished(ctx, "") {
		if err != nil {
			return err
		}
		if parts := strings.Split(u.ARN, ":"); len(parts) > 5 { // arn:aws:states:REGION:ACCOUNT:execution:…
			scopes[awsjson.Scope{Region: parts[3], Account: parts[4]}] = true
		}
	}
	for scope := range scopes {
		e, err := s.open(scope)
		if err != nil {
			return err
		}
		found, err := e.Recover(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "stepback: %d executions of account %s in %s go on where they were\n", len(found.Executions), scope.Account, scope.Region)
		for _, l := range found.Left {
			fmt.Fprintf(w, "stepback: %s is left as it was: %v\n", l.ARN, l.Err)
		}
	}
	return nil
}

// close closes the engines. What is running is left to the next process.
func (s *engines) close() {
	for _, e := range s.made {
		e.Close()
	}
	s.clock.Close()
}
