package functions

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stepback/local/services/lambda/runner"
	"stepback/local/services/lambda/runtimes"
)

// deploy registers a version of a function with the runner.
func (s *Service) deploy(ctx context.Context, a *area, r *record, c *Configuration) error {
	if c.CodeSha256 == "" {
		f, err := s.local(ctx, a, r, c)
		if err != nil {
			return err
		}
		return a.lambda.Replace(f)
	}
	dir := a.codeDir(c.FunctionName, c.CodeSha256)
	launch := s.launch(ctx, c, dir)
	if opt := filepath.Join(s.optOf(c.Layers), "bootstrap"); strings.HasPrefix(c.Runtime, "provided") && exists(opt) &&
		!exists(launch.Command[0]) {
		launch.Command = []string{opt}
	}
	if runtimes.Ended(c.Runtime) {
		s.opts.Log.Warn("AWS has ended the runtime of a function; it runs with this machine's interpreter",
			"function", c.FunctionArn, "runtime", launch.Interpreter)
	}
	layers := make([]string, len(c.Layers))
	for i, l := range c.Layers {
		layers[i] = l.Arn
	}
	packages := func(ctx context.Context, name string) (string, error) {
		return s.packages.Folder(ctx, c.Runtime, launch.Command[0], name, layers...)
	}
	release := a.use(codeKey{c.FunctionName, c.CodeSha256})
	err := a.lambda.Replace(runner.Function{
		Name: c.FunctionName, Version: c.Version, Command: launch.Command, Dir: dir,
		Env:     s.variables(a, launch.Env, c),
		Runtime: c.Runtime, Entry: c.Handler, Interpreter: launch.Interpreter,
		Timeout: time.Duration(c.Timeout) * time.Second, MemoryMB: c.MemorySize,
		Environments: s.opts.Environments, LogGroup: c.LoggingConfig.LogGroup, AnyAnswer: true,
		Packages: packages, Released: release, Traced: c.TracingConfig.Active(),
	})
	if err != nil {
		release()
		return err
	}
	return nil
}

// launch returns how to start a version whose code is in a directory. If the interpreter of its runtime is missing,
// which existed when the function was created, each invocation reports that.
func (s *Service) launch(ctx context.Context, c *Configuration, dir string) runtimes.Launch {
	launch, err := s.runtimes.Launch(ctx, c.Runtime, dir, c.MemorySize)
	if err != nil {
		s.opts.Log.Warn("a function cannot run", "function", c.FunctionArn, "reason", err)
		return runtimes.Launch{Command: []string{c.Runtime}}
	}
	return launch
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// limit sets the maximum concurrency of a function.
func (a *area) limit(r *record) {
	most := runner.DefaultConcurrency
	if r.Latest.CodeSha256 == "" {
		most = unlimitedConcurrency
	}
	a.lambda.SetConcurrency(r.Latest.FunctionName, *cmp.Or(r.Reserved, &most))
}
