package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/services/stepfunctions"
)

// platform is what state machines run on: the API of Step Functions over engines, and the embedded services beside it.
type platform struct {
	scope    aws.Scope
	services *services
	engines  *engines
	states   *stepfunctions.Service
}

// setting is what a platform is made of.
type setting struct {
	embedded  embeddedServices
	data      string // directory of the embedded services
	listening net.Addr
	scope     aws.Scope // of requests that name no other
	clock     *clock.Clock
	patience  time.Duration // with tasks on a virtual clock; see engine.Config
	journal   journal.Journal
	store     stepfunctions.Store
	around    *surroundings
	follow    func(*journal.Execution, []history.Event) // told of the events of every step; may be nil
	invokers  *invokers                                 // of functions that are not the embedded Lambda's; may be nil
	log       *slog.Logger
}

// open makes the platform, which goes on with the executions that the journal has. It owns the clock from here on, even
// when it fails.
func (s *setting) open(ctx context.Context) (_ *platform, err error) {
	p := &platform{scope: s.scope}
	if p.services, err = s.embedded.open(ctx, s.data, s.listening, s.scope, s.log); err != nil {
		s.clock.Close()
		return nil, err
	}
	p.services.invokers = s.invokers
	p.engines = newEngines(s.clock, s.journal, p.services, s.around, s.log)
	p.engines.activity, p.engines.patience = stepfunctions.HasActivity(s.store), s.patience
	p.states = stepfunctions.New(stepfunctions.Config{
		Open: p.engines.open, Store: s.store, Now: s.clock.Now, Default: s.scope, Log: s.log,
		TestCases: s.around.mocks != nil, Logs: p.services.logs,
	})
	p.engines.follow = both(p.states.Follow, s.follow)
	s.around.embed("sfn", p.states.Handler())
	s.around.embed("lambda", p.services.lambda(s.scope))
	s.around.embed("cloudwatchlogs", p.services.cloudWatchLogs(s.scope))
	s.around.embed("s3", p.services.s3.Handler())
	if err := p.states.Resume(); err != nil {
		return nil, errors.Join(err, p.close(ctx))
	}
	return p, nil
}

// both tells two followers.
func both(first, second func(*journal.Execution, []history.Event)) func(*journal.Execution, []history.Event) {
	if second == nil {
		return first
	}
	return func(x *journal.Execution, events []history.Event) {
		first(x, events)
		second(x, events)
	}
}

// handler serves everything at one address.
func (p *platform) handler(public bool) http.Handler {
	return p.services.handler(p.states.Handler(), p.scope, public)
}

// front is how requests reach the platform over the network.
func (p *platform) front(public bool) front {
	return front{handler: p.handler(public), stopWaiting: p.engines.stopPolls}
}

// close ends the engines, then the functions' processes. It does not close the journal.
func (p *platform) close(ctx context.Context) error {
	p.engines.close()
	return p.services.close(context.WithoutCancel(ctx))
}
