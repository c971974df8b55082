package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"stepback/aws/objects"
	"stepback/csvimport"
	"stepback/csvimport/database"
	"stepback/csvimport/handlers"
	"stepback/csvimport/importrows"
	"stepback/csvimport/process"
	"stepback/csvimport/s3objects"
	"stepback/engine/clock"
	"stepback/engine/journal"
	"stepback/engine/journal/diskspace"
	"stepback/local"
	"stepback/local/services/lambda/functions"
	"stepback/outbox"
	"stepback/statemachine"
	"stepback/tasks/faults"
)

// The names of the functions, and of their code built into this program.
const (
	validateFunction  = "csv-validate"
	processFunction   = "csv-process"
	aggregateFunction = "csv-aggregate"
)

// The environment variables that the functions read, here as on AWS.
const (
	databaseVariable  = "DATABASE_URL"
	maxBytesVariable  = "CSV_MAX_BYTES"
	waitLimitVariable = "WAIT_LIMIT"
	partsVariable     = "CSV_PART_BYTES"
	endpointVariable  = "AWS_ENDPOINT_URL"
)

// function describes one of the import's functions: its name, the folder of its bootstrap, and its timeout. The
// timeout is slightly longer than that of the function's state, so that the state's timeout applies.
type function struct {
	name, folder string
	timeout      time.Duration
}

var importFunctions = []function{
	{validateFunction, "validate", 310 * time.Second},
	{processFunction, "process", 40 * time.Second},
	{aggregateFunction, "aggregate", 130 * time.Second},
}

// environments is the maximum number of processes of a function.
const environments = 4

// Functions returns the three functions of the import, for local.Config.BuiltIn. A platform that has them can
// resume the imports of the data directory dir and start new ones. The functions log to log, which may be nil, and log
// errors also to their own log groups. full, which may be nil, is called when the disk of their SQLite database is
// full.
func Functions(dir string, log *slog.Logger, full func()) map[string]functions.BuiltIn {
	return functionsAt(log, full, &Config{Dir: dir}, nil)
}

// inDirectory returns the variables of a function in the data directory dir. A directory that was moved, copied or
// restored elsewhere after the function was deployed uses its own database, not that of the directory it came from.
func inDirectory(env map[string]string, dir string) map[string]string {
	before := env[configurationVariable]
	if dir, err := filepath.Abs(dir); err == nil && before != "" && before != dir {
		env = maps.Clone(env)
		env[configurationVariable] = dir
		path, options, ok := database.SQLitePath(env[databaseVariable])
		if ok && path == databaseFile(before) {
			env[databaseVariable] = "sqlite:" + databaseFile(dir)
			if options != "" {
				env[databaseVariable] += "?" + options
			}
		}
	}
	return env
}

// Batches returns the states of the import whose invocations carry several rows, for local.Config.Batches.
func Batches() []faults.Batch {
	return []faults.Batch{{
		State: statemachine.ApplyBatch, Items: statemachine.ProcessSingleUserRecord,
		Split: process.Split, Without: process.Without,
	}}
}

// functionsAt is like Functions, with a clock (nil means real time) and with the wrappers that a configuration puts
// between functions and database.
func functionsAt(log *slog.Logger, full func(), c *Config, now func() time.Time) map[string]functions.BuiltIn {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if now == nil {
		now = time.Now
	}
	stores := &stores{full: full, wrap: c.Store, open: map[string]*shared{}}
	guards := newGuards(now, c.calls(), c.Circuit)
	all := map[string]functions.BuiltIn{
		validateFunction: func(s functions.Surroundings) (functions.Program, error) {
			sizes, err := handlers.SizesFrom(func(name string) string { return s.Env[name] })
			return functions.Program{Handler: handlers.Guarded(guards.of("objects", statemachine.ValidateCSVFile, s),
				handlers.Validate(objectsOf(s.Env), lettersOf(s.Env), sizes, tee(log, s)))}, err
		},
		processFunction: func(s functions.Surroundings) (functions.Program, error) {
			store := stores.take(s.Env[databaseVariable])
			guard := guards.of(store.callee(), statemachine.ProcessSingleUserRecord, s)
			waiting, err := handlers.WaitingFrom(func(name string) string { return s.Env[name] })
			waiting.Now = now
			return functions.Program{Handler: waiting.Limited(handlers.Guarded(guard,
				handlers.Process(store, tee(log, s)))), Released: store.release}, err
		},
		aggregateFunction: func(s functions.Surroundings) (functions.Program, error) {
			store := stores.take(s.Env[databaseVariable])
			guard := guards.of(store.callee(), statemachine.ProcessSingleUserRecord, s)
			return functions.Program{Handler: handlers.Guarded(guard,
				handlers.Aggregate(objectsOf(s.Env), store, now, tee(log, s))),
				Released: store.release}, nil
		},
	}
	if c.Dir != "" {
		for name, build := range all {
			all[name] = func(s functions.Surroundings) (functions.Program, error) {
				s.Env = inDirectory(s.Env, c.Dir)
				return build(s)
			}
		}
	}
	return all
}

// tee returns a logger that also writes errors to the function's own log.
func tee(log *slog.Logger, s functions.Surroundings) *slog.Logger {
	own := slog.NewJSONHandler(s.Log, &slog.HandlerOptions{Level: slog.LevelError})
	return slog.New(slog.NewMultiHandler(log.Handler(), own))
}

func objectsOf(env map[string]string) csvimport.Objects {
	return s3objects.New(objects.Local(env[endpointVariable], region))
}

// lettersOf returns the access to the dead letters of the bucket of results.
func lettersOf(env map[string]string) *importrows.Enlister {
	return &importrows.Enlister{Store: objects.Local(env[endpointVariable], region)}
}

// stores holds the databases that functions in this process use. Functions with the same address share a store,
// which is closed when the last of them releases it.
type stores struct {
	full func()
	wrap func(csvimport.Store) csvimport.Store

	mu   sync.Mutex
	open map[string]*shared
}

// shared is a store that several functions use.
type shared struct {
	csvimport.Store
	of      *stores
	address string
	users   int
}

// Conclude implements csvimport.Concluder.
func (s *shared) Conclude(ctx context.Context, run csvimport.Run, c csvimport.Conclusion, messages []outbox.Message) error {
	return csvimport.Conclude(ctx, s.Store, run, c, messages)
}

func (s *stores) take(address string) *shared {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.open[address]
	if one == nil {
		one = &shared{Store: roomy{database.NewLazy(address), s.full}, of: s, address: address}
		if s.wrap != nil {
			one.Store = s.wrap(one.Store)
		}
		s.open[address] = one
	}
	one.users++
	return one
}

// callee returns the database's name for the guards. Functions with the same address have the same name, and so
// share its breaker.
func (s *shared) callee() string {
	sum := sha256.Sum256([]byte(s.address)) // an address may be long and may contain a password
	return "database-" + hex.EncodeToString(sum[:8])
}

// release closes the store if it is no longer used.
func (s *shared) release() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.users--; s.users == 0 {
		delete(s.of.open, s.address)
		_ = s.Close() // everything applied is durable, and the result is not needed
	}
}

// deployFunctions deploys the functions to the platform's Lambda: as code of this process, or as the bootstrap
// binaries used on AWS.
func (p *Pipeline) deployFunctions(ctx context.Context) error {
	env := map[string]string{databaseVariable: p.cfg.Database, configurationVariable: p.cfg.Dir,
		waitLimitVariable: statemachine.WaitLimit(statemachine.DefaultOptions().Timeout).String()}
	if p.cfg.MaxBytes > 0 {
		env[maxBytesVariable] = strconv.FormatInt(p.cfg.MaxBytes, 10)
	}
	if p.cfg.PartBytes > 0 {
		env[partsVariable] = strconv.FormatInt(p.cfg.PartBytes, 10)
	}
	for _, f := range importFunctions {
		in := &functions.LocalInput{Name: f.name, BuiltIn: f.name, Role: role(f.name), Timeout: f.timeout, Env: env}
		if p.cfg.Bootstraps != "" {
			in.BuiltIn, in.Binary = "", filepath.Join(p.cfg.Bootstraps, f.folder, "bootstrap")
			if _, err := os.Stat(in.Binary); err != nil {
				return fmt.Errorf("the bootstrap of %s is missing (make lambdas builds it): %w", f.name, err)
			}
		}
		if err := p.platform.Functions.PutLocal(ctx, p.platform.Scope, in); err != nil {
			return fmt.Errorf("deploying the function %s: %w", f.name, err)
		}
	}
	return nil
}

func role(name string) string { return "arn:aws:iam::" + account + ":role/" + name }

// platform returns the configuration of the pipeline's platform.
func (c *Config) platform() local.Config {
	settings := local.Config{
		Dir: c.Dir, Space: diskspace.Config{Exhausted: c.DiskFull}, Patience: c.Patience, Overran: c.Overran,
		Faults: c.Faults, Seed: c.Seed, Batches: Batches(), Log: c.Log, Environments: environments,
		MetricPeriod: time.Second,
		Version:      c.Version, Control: c.Control, Listener: c.Listener,
	}
	if c.Ephemeral {
		settings.Journal = journal.NewMemory()
	}
	var now func() time.Time
	if c.VirtualTime {
		settings.Clock = clock.Virtual(time.Now())
		now = settings.Clock.Now
	}
	settings.BuiltIn = functionsAt(c.Log, c.DiskFull, c, now)
	if c.Adjust != nil {
		for name, build := range settings.BuiltIn {
			settings.BuiltIn[name] = func(s functions.Surroundings) (functions.Program, error) {
				program, err := build(s)
				c.Adjust(name, &program)
				return program, err
			}
		}
	}
	return settings
}
