package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"stepback/asl/jsonvalue"
	"stepback/aws"
	"stepback/csvimport"
	"stepback/csvimport/database"
	"stepback/csvimport/handlers"
	"stepback/csvimport/s3objects"
	"stepback/engine/clock"
	"stepback/local/faults"
	"stepback/services/lambda/runner"
	integration "stepback/tasks/lambda"
)

// functions are the three Lambda functions of the import, as handlers in this process or as processes of their own,
// with the faults that befall them.
type functions struct {
	service  *runner.Service
	injector *faults.Injector
	logs     *runner.FileLogs
	store    csvimport.Store
	faulty   bool // some invocations suffer

	failures  atomic.Int64
	lastError atomic.Value // string: the name of the latest failure
}

const (
	validateFunction  = "csv-validate"
	processFunction   = "csv-process"
	aggregateFunction = "csv-aggregate"
)

// limits are the functions' own timeouts, a little above those of their states, so that the state's decides; and how
// many processes a function may have.
var limits = map[string]struct {
	timeout   time.Duration
	processes int
}{
	validateFunction:  {310 * time.Second, 1},
	processFunction:   {40 * time.Second, 4},
	aggregateFunction: {130 * time.Second, 1},
}

func openFunctions(_ context.Context, cfg *Config, endpoint string, c *clock.Clock) (*functions, error) {
	logs, err := runner.OpenFileLogs(filepath.Join(cfg.Dir, "logs", "lambda"), 0)
	if err != nil {
		return nil, err
	}
	f := &functions{logs: logs, faulty: len(cfg.Faults) > 0}
	options := runner.Options{Region: region, Account: account}
	if cfg.Bootstraps != "" {
		options.Logs = logs
	}
	f.service = runner.New(options)
	if cfg.Bootstraps != "" {
		err = f.registerProcesses(cfg, endpoint)
	} else {
		err = f.registerHandlers(cfg, endpoint)
	}
	if err != nil {
		return nil, errors.Join(err, f.close()) //nolint:contextcheck // closing has its own limit
	}
	f.injector = faults.New(faults.Service{Lambda: f.service}, cfg.Seed, cfg.Faults, c)
	return f, nil
}

// registerHandlers runs the functions in this process. They log what went wrong through the pipeline's own log.
func (f *functions) registerHandlers(cfg *Config, endpoint string) error {
	f.store = roomy{database.NewLazy(cfg.Database), cfg.DiskFull}
	objects := s3objects.New(awss3.New(awss3.Options{
		Region: region, BaseEndpoint: sdk.String(endpoint), UsePathStyle: true, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	}))
	handlerOf := map[string]any{
		validateFunction:  handlers.Validate(objects, cfg.MaxBytes, cfg.Log),
		processFunction:   handlers.Process(f.store, cfg.Log),
		aggregateFunction: handlers.Aggregate(objects, f.store, cfg.Log),
	}
	for name, h := range handlerOf {
		if err := f.register(cfg, runner.Function{Name: name, Handler: h}); err != nil {
			return err
		}
	}
	return nil
}

// registerProcesses runs the functions as the bootstrap binaries that AWS gets.
func (f *functions) registerProcesses(cfg *Config, endpoint string) error {
	env := map[string]string{
		"DATABASE_URL": cfg.Database, "AWS_ENDPOINT_URL_S3": endpoint,
		"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local",
	}
	if cfg.MaxBytes > 0 {
		env["CSV_MAX_BYTES"] = strconv.FormatInt(cfg.MaxBytes, 10)
	}
	for name, dir := range map[string]string{validateFunction: "validate", processFunction: "process",
		aggregateFunction: "aggregate"} {
		bootstrap := filepath.Join(cfg.Bootstraps, dir, "bootstrap")
		if _, err := os.Stat(bootstrap); err != nil {
			return fmt.Errorf("the bootstrap of %s is missing (make lambdas builds it): %w", name, err)
		}
		l := runner.Function{Name: name, Command: []string{bootstrap}, Env: env, Environments: limits[name].processes}
		if err := f.register(cfg, l); err != nil {
			return err
		}
	}
	return nil
}

// register makes one function known. The engine bounds how many run at once, so nothing is throttled here.
func (f *functions) register(cfg *Config, l runner.Function) error {
	l.Timeout, l.Concurrency = limits[l.Name].timeout, 1<<20
	if cfg.adjust != nil {
		cfg.adjust(&l)
	}
	return f.service.Register(l)
}

// timeless is an event without what tells when its execution began, so that a seed decides the same faults in every
// run.
func timeless(event []byte) []byte {
	v, err := jsonvalue.Parse(string(event))
	if err != nil || v.Kind() != jsonvalue.Object {
		return event
	}
	b := jsonvalue.NewObject(v.Len())
	for i, name := range v.Keys() {
		if name != "run" && name != "startTime" {
			b.Set(name, v.At(i))
		}
	}
	return []byte(b.Value().JSON())
}

// closeTimeout bounds the wait for functions that do not end by themselves.
const closeTimeout = 5 * time.Second

func (f *functions) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	errs := []error{f.service.Close(ctx)}
	if f.store != nil {
		errs = append(errs, f.store.Close())
	}
	return errors.Join(append(errs, f.logs.Close())...)
}

// Invoke implements the engine's lambda Invoker.
func (f *functions) Invoke(ctx context.Context, c *integration.Call) (*integration.Answer, error) {
	call := faults.Call{State: c.State, Attempt: int(c.Attempt), FunctionName: c.Function, Payload: c.Payload}
	if f.faulty {
		call.Drawn = timeless(c.Payload)
	}
	out, err := f.injector.Invoke(ctx, call)
	if err != nil {
		var api *aws.Error
		if errors.As(err, &api) {
			f.fail("Lambda." + api.Code)
		}
		return nil, err
	}
	if out.FunctionError != "" {
		f.fail(errorType(out.Payload))
	}
	return &integration.Answer{
		StatusCode: out.StatusCode, FunctionError: out.FunctionError, Payload: out.Payload,
		ExecutedVersion: out.ExecutedVersion, RequestID: out.RequestID,
	}, nil
}

func (f *functions) fail(name string) {
	f.lastError.Store(name)
	f.failures.Add(1)
}

// failed is how many invocations have failed, and the name of the latest failure. Those that were given up by their
// state's timeout are not among them.
func (f *functions) failed() (n int64, name string) {
	n = f.failures.Load()
	name, _ = f.lastError.Load().(string)
	return n, name
}

// errorType is the name of the error that a function answered.
func errorType(answer []byte) string {
	var failure struct {
		ErrorType string `json:"errorType"`
	}
	if json.Unmarshal(answer, &failure) != nil || failure.ErrorType == "" {
		return "an error without a name"
	}
	return failure.ErrorType
}
