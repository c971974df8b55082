package functions

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"reflect"
	"time"

	"stepback/aws"
	"stepback/local/services/lambda/runner"
)

// BuiltIn returns the code of a function that is part of this program. It is called when the function is deployed,
// and again when a process reopens the directory.
type BuiltIn func(Surroundings) (Program, error)

// Program is a built-in function's code.
type Program struct {
	// Handler is a handler as lambda.Start accepts it; see runner.Function.
	Handler any
	// Released, if not nil, is called once the handler is no longer used.
	Released func()
	// Timeout overrides the function's timeout, unless it is 0.
	Timeout time.Duration
}

// Surroundings describes the environment of a built-in function.
type Surroundings struct {
	// Env holds the environment variables that a process of the function would have: the function's own variables and
	// the services' addresses.
	Env map[string]string
	// Log appends whole lines to the function's log.
	Log io.Writer
}

// LocalInput describes a function without a deployment package: its code is part of this program, or is on this
// machine.
type LocalInput struct {
	Name string
	// BuiltIn is a name in Options.BuiltIn. Binary is the absolute path of a bootstrap. Folder is the absolute path of
	// the directory with the code of Runtime and Handler, which is used in place. Exactly one of the three is set.
	BuiltIn, Binary, Folder string
	// Runtime and Handler belong to Folder, and are ignored without it.
	Runtime, Handler string
	Role             string
	Timeout          time.Duration // in whole seconds; 0 means Lambda's default of 3
	MemoryMB         int           // 0 leaves it as it is, which for a new function is 128
	Env              map[string]string
	// Durable makes the function durable; nil leaves it as it is, which for a new function is not durable.
	Durable *DurableSettings
}

// PutLocal creates a function without a deployment package, or changes the function of that name, whatever its code
// was. It is stored like any other function. Its invocations are not throttled. A built-in function runs in this
// process: no environment is started for it, and its log holds only the lines that it writes itself. If the function
// already exists and is the same, nothing happens.
func (s *Service) PutLocal(ctx context.Context, scope aws.Scope, in *LocalInput) error {
	if in.Binary == "" && in.Folder == "" && s.opts.BuiltIn[in.BuiltIn] == nil {
		return invalid("There is no built-in code %q.", in.BuiltIn)
	}
	if in.Folder != "" {
		if _, err := s.runtimes.Launch(ctx, in.Runtime, in.Folder, in.MemoryMB); err != nil {
			return invalid("%v", err)
		}
	}
	a, err := s.area(scope)
	if err != nil {
		return err
	}
	done, err := a.claim(ctx, in.Name)
	if err != nil {
		return err
	}
	defer done()
	old := a.record(in.Name)
	r := &record{Latest: initial(scope, in.Name)}
	same := false
	if old != nil {
		r = old.clone()
		same = old.BuiltIn == in.BuiltIn && old.Binary == in.Binary && old.Folder == in.Folder
	}
	r.BuiltIn, r.Binary, r.Folder = in.BuiltIn, in.Binary, in.Folder
	before := r.Latest
	if err := in.settings().apply(&r.Latest); err != nil {
		return err
	}
	r.Latest.CodeSha256, r.Latest.CodeSize = "", 0
	if same && reflect.DeepEqual(r.Latest, before) {
		return nil
	}
	s.revise(&r.Latest)
	return s.commit(ctx, a, in.Name, old, r)
}

func (in *LocalInput) settings() *Settings {
	runtime, handler, timeout := "provided.al2023", "bootstrap", int(in.Timeout/time.Second)
	if in.Folder != "" {
		runtime, handler = in.Runtime, in.Handler
	}
	settings := &Settings{Runtime: &runtime, Handler: &handler, Role: &in.Role,
		Environment: &Environment{Variables: in.Env}, DurableConfig: in.Durable}
	if timeout > 0 {
		settings.Timeout = &timeout
	}
	if in.MemoryMB > 0 {
		settings.MemorySize = &in.MemoryMB
	}
	return settings
}

// local returns the runner function for a version without a deployment package.
func (s *Service) local(ctx context.Context, a *area, r *record, c *Configuration) (runner.Function, error) {
	f := runner.Function{
		Name: c.FunctionName, Version: c.Version, Timeout: time.Duration(c.Timeout) * time.Second,
		MemoryMB: c.MemorySize, Environments: s.opts.Environments, Env: s.variables(a, nil, c),
		LogGroup: c.LoggingConfig.LogGroup, Traced: c.TracingConfig.Active(),
	}
	if r.Binary != "" {
		f.Command = []string{r.Binary}
		return f, nil
	}
	if r.Folder != "" {
		s.inFolder(ctx, &f, r.Folder, a, c)
		return f, nil
	}
	f.Quiet, f.Environments, f.Concurrency = true, unlimitedConcurrency, unlimitedConcurrency
	build := s.opts.BuiltIn[r.BuiltIn]
	if build == nil {
		missing := fmt.Errorf("the code of %s is built into another program than this one: %q", c.FunctionName,
			r.BuiltIn)
		s.opts.Log.Warn("a function cannot run", "function", c.FunctionArn, "reason", missing)
		f.Handler = func() error { return missing }
		return f, nil
	}
	around := Surroundings{Env: f.Env, Log: functionLog{a, runner.LogStream{Function: c.FunctionName,
		Group: c.LoggingConfig.LogGroup, Name: runner.StreamName(c.Version)}}}
	made, err := build(around)
	if err != nil {
		return f, fmt.Errorf("the function %s: %w", c.FunctionName, err)
	}
	f.Handler, f.Released, f.Timeout = made.Handler, made.Released, cmp.Or(made.Timeout, f.Timeout)
	return f, nil
}

// inFolder completes the runner function of a version whose code is used in place.
func (s *Service) inFolder(ctx context.Context, f *runner.Function, folder string, a *area, c *Configuration) {
	launch := s.launch(ctx, c, folder)
	f.Command, f.Dir, f.AnyAnswer = launch.Command, folder, true
	f.Runtime, f.Entry, f.Interpreter = c.Runtime, c.Handler, launch.Interpreter
	f.Env = s.variables(a, launch.Env, c)
	f.Packages = func(ctx context.Context, name string) (string, error) {
		return s.packages.Folder(ctx, c.Runtime, launch.Command[0], name)
	}
}

// variables returns the environment variables of a version, except those that Lambda sets.
func (s *Service) variables(a *area, ofRuntime map[string]string, c *Configuration) map[string]string {
	env := map[string]string{}
	maps.Copy(env, s.opts.Env)
	env["AWS_ACCESS_KEY_ID"] = a.scope.Account    // so that its calls stay in the account
	if s.opts.Keys != nil && c.CodeSha256 != "" { // functions without a deployment package belong to the platform
		keys, err := s.opts.Keys(c.Role, c.FunctionName)
		if err != nil {
			s.opts.Log.Error("a function has no credentials of its role", "function", c.FunctionArn, "error", err)
			keys = map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}
		}
		maps.Copy(env, keys)
	}
	if c.LoggingConfig.LogFormat == logJSON {
		env["AWS_LAMBDA_LOG_FORMAT"] = logJSON
		env["AWS_LAMBDA_LOG_LEVEL"] = cmp.Or(c.LoggingConfig.ApplicationLogLevel, usualLevel)
	}
	maps.Copy(env, ofRuntime)
	if c.Environment != nil {
		maps.Copy(env, c.Environment.Variables)
	}
	s.layerVariables(c, env)
	return env
}

// unlimitedConcurrency is a concurrency that no engine reaches.
const unlimitedConcurrency = 1 << 20

// functionLog writes whole lines to the log of a function.
type functionLog struct {
	area *area
	to   runner.LogStream
}

// Write implements io.Writer.
func (l functionLog) Write(lines []byte) (int, error) {
	if l.area.sink != nil {
		l.area.sink.WriteLog(l.to, lines)
	}
	return len(lines), nil
}
