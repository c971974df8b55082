package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"stepback/aws"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/itemreader"
	"stepback/engine/itemreader/parquetrows"
	"stepback/engine/journal"
	"stepback/engine/journal/pebble"
	"stepback/services/stepfunctions"
)

type serveCmd struct {
	Listen  string `default:"127.0.0.1:4566" placeholder:"HOST:PORT" help:"Address to listen on; port 0 picks one. Default 127.0.0.1:4566."`
	Data    string `type:"path" default:".stepback" placeholder:"DIR" help:"Data directory: executions, functions, buckets, logs. Default .stepback."`
	Public  bool   `help:"Allow an address that other machines can reach. Nobody is asked for credentials."`
	Account string `default:"000000000000" help:"Account of requests whose access key is not an account's twelve digits."`
	Region  string `default:"us-east-1" help:"Region of requests that are not signed for one."`
	Watch   string `type:"existingdir" placeholder:"DIR" help:"Make a state machine of every *.asl.json, *.asl.yaml and *.asl.yml in this directory, and update it when the file changes."`
	Mock    string `type:"path" env:"SFN_MOCK_CONFIG" placeholder:"FILE" help:"Mock configuration of Step Functions Local: StartExecution on ARN#TESTCASE takes the responses of that test case."`

	substitutions
	embeddedServices
	ObjectCreated map[string]string `name:"object-created" placeholder:"BUCKET=FUNCTION" help:"Hand the \"Object Created\" event of every object that is put into a bucket to a function, as an EventBridge rule does."`

	Retention time.Duration `default:"2160h" placeholder:"DURATION" help:"How long executions are kept after their end. Default 2160h, which is 90 days."`

	Verbose bool `short:"v" help:"Log requests, and why some are refused, to standard error. What goes wrong inside is always logged."`

	reserve int64 // how much of the disk is set aside; 0 means the usual
}

// Help shows examples.
func (serveCmd) Help() string {
	return `Examples:
  stepback serve
  LAMBDA_ENDPOINT=http://127.0.0.1:9001 stepback serve --listen 127.0.0.1:8083 --data /tmp/states
  stepback serve --watch definitions
  stepback serve --object-created uploads=start-import
  AWS_ENDPOINT_URL=http://127.0.0.1:4566 aws stepfunctions list-state-machines
  AWS_ENDPOINT_URL=http://127.0.0.1:4566 aws logs tail /aws/vendedlogs/states/orders --follow
  AWS_ENDPOINT_URL=http://127.0.0.1:4566 aws lambda invoke --function-name greet answer.json

One address serves Step Functions, Lambda (its functions run as processes of this machine), S3 (with the bucket in the path) and
CloudWatch Logs: what executions log by their loggingConfiguration, and functions in /aws/lambda/NAME.
STS tells which account is asking (GetCallerIdentity).
Tasks that invoke functions, and Maps that read and write objects, use these two unless an endpoint is set.

State machines, executions and their histories, functions and objects are kept in the data directory. Executions that are still
running when the process ends, however it ends, go on when it is started again: tasks that were in flight are invoked once more.`
}

// reserve is how much of the disk is set aside so that executions can end when it is full: while it is, new ones are
// refused.
const reserve = 64 << 20

// Run serves until the context ends.
func (c *serveCmd) Run(ctx context.Context, std streams) (err error) {
	if err := c.check(); err != nil {
		return &exitError{exitUsage, err}
	}
	std.err = &oneAtATime{w: std.err}
	log := c.logger(std)
	if err := os.MkdirAll(c.Data, 0o750); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	j, err := pebble.Open(filepath.Join(c.Data, "journal"), pebble.Options{
		Reserve: cmp.Or(c.reserve, reserve), Retention: c.Retention, Broken: stop, Room: c.tell(std),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	values, err := c.values()
	if err != nil {
		return &exitError{exitUsage, err}
	}
	around := newSurroundings()
	if err := around.mock(c.Mock); err != nil {
		return &exitError{exitUsage, err}
	}
	listener, err := c.listen(ctx)
	if err != nil {
		return err
	}
	defer listener.Close()
	store, err := stepfunctions.Keep(ctx, j)
	if err != nil {
		return err
	}
	c.starters = c.ObjectCreated
	made := setting{
		embedded: c.embeddedServices, data: c.Data, listening: listener.Addr(), scope: aws.Scope{Account: c.Account,
			Region: c.Region},
		clock: clock.Real(), journal: j, store: store, around: around, log: log,
	}
	p, err := made.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close(ctx)) }()
	fmt.Fprint(std.err, p.services.listing(c.Data))
	if c.Watch != "" {
		stop, err := watch(ctx, c.Watch, values, p, std.err)
		if err != nil {
			return err
		}
		defer stop()
	}
	err = p.front(c.Public).serve(ctx, listener)
	if cause := context.Cause(ctx); errors.Is(cause, journal.ErrBroken) {
		err = errors.Join(err, cause)
	}
	return err
}

// logger writes to standard error: warnings, or all requests too.
func (c *serveCmd) logger(std streams) *slog.Logger {
	level := slog.LevelWarn
	if c.Verbose {
		level = slog.LevelInfo
	}
	return slog.New(slog.NewTextHandler(std.err, &slog.HandlerOptions{Level: level}))
}

// listen takes the address.
func (c *serveCmd) listen(ctx context.Context) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%w: another program listens there, perhaps LocalStack or another stepback; end it, or give another address with --listen", err)
	}
	return l, err
}

// tell says how much room the disk has.
func (c *serveCmd) tell(std streams) func(pebble.Room) {
	return func(r pebble.Room) {
		fmt.Fprintf(std.err, "stepback: the disk of %s %s\n", c.Data, map[pebble.Room]string{
			pebble.Roomy: "has room again: new executions are taken",
			pebble.Short: "is full: new executions are refused until there is room, those under way go on with what was set aside",
			pebble.Full:  "is full, and what was set aside is used up: executions wait until there is room",
		}[r])
	}
}

// check refuses addresses that other machines can reach, unless they are wanted.
func (c *serveCmd) check() error {
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return fmt.Errorf("--listen %s: give HOST:PORT, for example 127.0.0.1:4566", c.Listen)
	}
	if ip := net.ParseIP(host); c.Public || host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("--listen %s: other machines could reach this address, and nobody is asked for credentials; use 127.0.0.1, or add --public", c.Listen)
}

// engines are the engines of all accounts and regions, over one clock and one journal.
type engines struct {
	clock    *clock.Clock
	patience time.Duration // on a virtual clock
	journal  journal.Journal
	services *services
	around   *surroundings
	activity func(arn string) (bool, error)
	follow   func(*journal.Execution, []history.Event)
	log      *slog.Logger

	mu   sync.Mutex
	made map[aws.Scope]*engine.Engine
}

func newEngines(c *clock.Clock, j journal.Journal, s *services, around *surroundings, log *slog.Logger) *engines {
	return &engines{clock: c, journal: j, services: s, around: around, log: log,
		made: map[aws.Scope]*engine.Engine{}}
}

// open makes the engine of an account and region.
func (s *engines) open(scope aws.Scope) (*engine.Engine, error) {
	e, err := engine.New(engine.Config{
		Clock: s.clock, Patience: s.patience, Journal: s.journal, Region: scope.Region, Account: scope.Account,
		Log: s.log, Objects: s.services.objects,
		Formats:      itemreader.Formats{"PARQUET": itemreader.FormatOf(parquetrows.Open)},
		Integrations: s.around.integrations(scope, s.services.invoker(scope), s.clock, s.await),
		Mocks:        s.around.testCases(), Activity: s.activity, Follow: s.follow,
	})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.made[scope] = e
	s.mu.Unlock()
	return e, s.recover(e)
}

// await waits for an execution, which may be one of another account.
func (s *engines) await(ctx context.Context, _ *engine.Task, arn string) error {
	s.mu.Lock()
	e := s.made[scopeOf(arn)]
	s.mu.Unlock()
	if e == nil {
		return nil
	}
	return e.Await(ctx, arn)
}

// scopeOf is the account and region of an ARN.
func scopeOf(arn string) aws.Scope {
	a, _ := aws.ParseARN(arn)
	return a.Scope()
}

// of returns the engine of an account and region that has been asked for something.
func (s *engines) of(scope aws.Scope) (*engine.Engine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.made[scope]; e != nil {
		return e, nil
	}
	return nil, fmt.Errorf("nothing runs in %s of %s", scope.Region, scope.Account)
}

// recover goes on with what an earlier process left under way.
func (s *engines) recover(e *engine.Engine) error {
	found, err := e.Recover(context.Background())
	if err != nil {
		return err
	}
	for _, x := range found.Left {
		s.log.Error("an execution cannot go on; it is left as it was", "execution", x.ARN, "error", x.Err)
	}
	if n := len(found.Executions); n > 0 {
		s.log.Info("executions go on", "executions", n, "children", found.Children)
	}
	return nil
}

// stopPolls has workers that wait for tasks of activities wait no longer.
func (s *engines) stopPolls() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.made {
		e.StopPolls()
	}
}

// close closes the engines. What is running goes on when the journal is opened again.
func (s *engines) close() {
	s.mu.Lock()
	made := slices.Collect(maps.Values(s.made))
	s.mu.Unlock()
	for _, e := range made {
		e.Close()
	}
	s.clock.Close()
}
