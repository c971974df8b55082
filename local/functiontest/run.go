package functiontest

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"stepback/engine/clock"
	"stepback/engine/durable"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/internal/lazyregexp"
	"stepback/local"
	"stepback/local/functiontest/recording"
	"stepback/local/services/lambda/functions"
	"stepback/stepbacktest/machinetest"
	"stepback/tasks/lambda/invocation"
)

// Result is the outcome of a test.
type Result struct {
	File *File
	Test *Test
	// Failures describes each expectation that was not met, and what happened instead. It is empty if the test passed.
	Failures []string
	// Notes describes responses that the test lists and no operation asked for. They do not make the test fail.
	Notes []string
	// Execution is the execution that was run, and Events is its history; nil if the test ended before the execution.
	Execution *journal.Execution
	Events    []history.Event
	// Operations are the operations that ran, in the order in which they started.
	Operations []*recording.Operation
	// Log is the end of the function's log.
	Log []string
	// Real is the real time that the test took.
	Real time.Duration
}

// Passed reports whether every expectation was met.
func (r *Result) Passed() bool { return len(r.Failures) == 0 }

// Report returns the result for people and CI systems.
func (r *Result) Report() machinetest.Report {
	return machinetest.Report{File: r.File.Name, Line: r.Test.Line, Name: r.Test.Name, Subject: r.File.Function.Handler,
		Failures: r.Failures, Notes: r.Notes, Real: r.Real}
}

// RefusedError reports that a function cannot be tested at all.
type RefusedError struct {
	// File and Line are the place at which the test file describes the function.
	File string
	Line int
	Why  string
}

// Error implements error.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s:%d: function: %s", e.File, e.Line, e.Why)
}

// patience is the maximum real time of a test.
const patience = time.Minute

// memoryMB is the memory of the function, Lambda's maximum: a test is no place to find out that it needs more.
const memoryMB = 10_240

// shims are the plugins that replace the bodies of steps, by language.
//
//go:embed shim
var shims embed.FS

// RunTest runs the test with an index in Names. trace prints the history of its execution and the function's log. The
// errors are those of Run.
func (f *File) RunTest(ctx context.Context, i int) (report machinetest.Report, trace func(io.Writer), err error) {
	r, err := f.Run(ctx, &f.Tests[i])
	if err != nil {
		return report, nil, err
	}
	return r.Report(), r.Trace, nil
}

// Run runs one test. The error is a *RefusedError if the function cannot be tested, ctx's if ctx ended, or another one
// if the platform cannot be opened.
func (f *File) Run(ctx context.Context, t *Test) (*Result, error) {
	began := time.Now()
	if why := f.Function.outdated(); why != "" {
		return nil, &RefusedError{f.Name, f.Function.Line, why}
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	now := clock.Virtual(began.Truncate(time.Second)) // the SDKs compare its times with those of the machine
	m := newMocks(limited, f, t, now)
	r := &Result{File: f, Test: t}
	err := r.run(m, now)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	broken, problems, hello := m.broken, slices.Clone(m.problems), m.hello
	m.mu.Unlock()
	r.Operations = m.operations()
	switch {
	case broken != "":
		return nil, &RefusedError{f.Name, f.Function.Line, f.Function.explain(broken)}
	case hello == "" && (r.Execution != nil || len(r.Operations) > 0):
		return nil, &RefusedError{f.Name, f.Function.Line, f.Function.silent(r.Execution)}
	case len(problems) > 0:
		r.Failures = problems
	case r.Execution == nil:
		r.Failures = []string{fmt.Sprintf("%s:%d: the execution did not end within %s of real time%s", f.Name, t.Line, patience,
			waitingFor(r.Operations))}
	default:
		r.Failures, r.Notes = m.unused()
		r.Failures = append(r.Failures, r.judge()...)
	}
	r.Real = time.Since(began)
	f.results = append(f.results, r)
	return r, nil
}

// waitingFor returns the end of a message about an execution that has not ended: the operations that are open.
func waitingFor(all []*recording.Operation) string {
	var open []string
	for _, o := range all {
		if o.Open() && o.Kind != recording.Context {
			open = append(open, fmt.Sprintf("%s %s (%d attempts)", o.Kind, o.Name, len(o.Attempts)))
		}
	}
	if len(open) == 0 {
		return ""
	}
	return "; it was at " + strings.Join(open, ", ")
}

// run runs the execution until it ends, or until the test does.
func (r *Result) run(m *mocks, now *clock.Clock) (err error) {
	ended := make(chan struct{})
	var once sync.Once
	p, err := local.Open(m.ctx, local.Config{Clock: now, FollowDurable: m.follow, Chained: m.chained,
		EngineSeed: r.Test.Seed,
		Observe: func(x *journal.Execution, events []history.Event) {
			once.Do(func() {
				copied := *x
				r.Execution, r.Events = &copied, slices.Clone(events)
				close(ended)
			})
		}})
	if err != nil {
		m.stop()
		return err
	}
	defer func() {
		m.stop()
		m.group.Wait()
		r.Log = logOf(p)
		err = errors.Join(err, p.Close())
	}()
	address, err := m.serve()
	if err != nil {
		return err
	}
	env, err := r.environment(p.Dir, address)
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.durable = p.Durable
	m.mu.Unlock()
	f := &r.File.Function
	timeout, name := int64(f.ExecutionTimeout/time.Second), nameOf(r.File.Name)
	err = p.Functions.PutLocal(m.ctx, p.Scope, &functions.LocalInput{Name: name, Folder: f.Folder, Runtime: f.Runtime,
		Handler: f.Handler, Role: "arn:aws:iam::" + p.Scope.Account + ":role/test", Timeout: f.Timeout, MemoryMB: memoryMB,
		Env: env, Durable: &functions.DurableSettings{ExecutionTimeout: &timeout}})
	if err != nil {
		return &RefusedError{r.File.Name, f.Line, words(err)}
	}
	if _, err := p.Functions.Invoke(m.ctx, p.Scope, &invocation.Request{FunctionName: name,
		Qualifier: invocation.Latest, Type: invocation.Event, Payload: []byte(r.Test.Input)}); err != nil {
		return fmt.Errorf("%s:%d: %w", r.File.Name, r.Test.Line, err)
	}
	select {
	case <-ended:
	case <-m.ctx.Done():
	}
	return nil
}

// nameOf returns the name of the function: that of the test file, as far as Lambda allows it.
func nameOf(file string) string {
	const longest = 64
	name, _, _ := strings.Cut(filepath.Base(file), ".")
	name = notInName.ReplaceAllString(name, "-")
	if name == "" {
		return "function"
	}
	return name[:min(len(name), longest)]
}

var notInName = lazyregexp.New(`[^A-Za-z0-9_-]`)

// environment writes the plugin into a directory, and returns the variables that make the SDK load it.
func (r *Result) environment(dir, address string) (map[string]string, error) {
	env := maps.Clone(r.File.Function.Environment)
	env["STEPBACK_TEST"] = address
	env["STEPBACK_TEST_SEED"] = strconv.FormatUint(r.Test.Seed, 10)
	shim, err := fs.Sub(shims, "shim")
	if err != nil {
		return nil, err
	}
	to := filepath.Join(dir, "functiontest")
	if err := os.CopyFS(to, shim); err != nil {
		return nil, err
	}
	if recording.IsPython(r.File.Function.Runtime) {
		join(env, "PYTHONPATH", to, string(filepath.ListSeparator))
		return env, nil
	}
	file := url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(filepath.Join(to, "plugin.mjs")), "/")}
	join(env, "DURABLE_EXECUTION_PLUGINS", file.String(), ",")
	return env, nil
}

// join puts a value before what a variable has.
func join(env map[string]string, name, value, separator string) {
	if old := env[name]; old != "" {
		value += separator + old
	}
	env[name] = value
}

// The SDKs. The one for JavaScript loads plugins that the environment names from version 2.3 on.
const (
	sdkOfJavaScript = "@aws/durable-execution-sdk-js"
	sdkOfPython     = "aws-durable-execution-sdk-python"
	oldestMajor     = 2
	oldestMinor     = 3
)

// outdated says that the function's SDK for JavaScript is too old to load plugins, so that all steps would run. It is
// empty if the SDK is not, or if its version is unknown: it may be in a bundle.
func (f *Function) outdated() string {
	if recording.IsPython(f.Runtime) || len(f.Sources) == 0 {
		return ""
	}
	for dir := filepath.Dir(filepath.Join(f.Folder, filepath.FromSlash(f.Handler))); ; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "node_modules", filepath.FromSlash(sdkOfJavaScript), "package.json"))
		if err != nil {
			if dir == filepath.Dir(dir) {
				return ""
			}
			continue
		}
		var about struct{ Version string }
		var major, minor int
		if json.Unmarshal(text, &about) != nil {
			return ""
		}
		if _, err := fmt.Sscanf(about.Version, "%d.%d", &major, &minor); err != nil || major > oldestMajor ||
			major == oldestMajor && minor >= oldestMinor {
			return ""
		}
		return fmt.Sprintf("version %s of %s in %s does not let tests replace steps; install %d.%d or later: %s", about.Version,
			sdkOfJavaScript, dir, oldestMajor, oldestMinor, f.install())
	}
}

// install says how to install the function's SDK.
func (f *Function) install() string {
	if recording.IsPython(f.Runtime) {
		return fmt.Sprintf("pip install --target %s %s", f.Folder, sdkOfPython)
	}
	return fmt.Sprintf("npm install --prefix %s %s@2", f.Folder, sdkOfJavaScript)
}

// explain says why the function cannot be loaded, and what to do.
func (f *Function) explain(why string) string {
	why, _, _ = strings.Cut(why, "\n")
	text := fmt.Sprintf("the handler %s cannot be loaded: %s", f.Handler, why)
	if strings.Contains(why, sdkOfJavaScript) || strings.Contains(why, strings.ReplaceAll(sdkOfPython, "-", "_")) {
		text += "; install AWS's SDK for durable functions: " + f.install()
	}
	return text
}

// silent says why no plugin has reported: the function is not durable, or its SDK loads none. x is nil if the execution
// has not ended.
func (f *Function) silent(x *journal.Execution) string {
	text := fmt.Sprintf("the handler %s did not use AWS's SDK for durable functions, or one that loads no plugins, so that steps cannot be replaced",
		f.Handler)
	if recording.IsPython(f.Runtime) {
		text += "; decorate it with durable_execution"
	} else {
		text += "; wrap it in withDurableExecution"
	}
	text += ", or install a later version: " + f.install()
	if x != nil && x.Failure.HasName() {
		text += fmt.Sprintf(" (the execution ended with %s: %s)", x.Failure.Name, machinetest.Cut(x.Failure.Cause))
	}
	return text
}

// platformLine matches the lines of a function's log that Lambda writes.
var platformLine = lazyregexp.New(`^(INIT_START|START RequestId|END RequestId|REPORT RequestId)\b`)

// shownLog is the maximum number of lines of a function's log that a result has.
const shownLog = 100

// logOf returns the end of the function's log, as the function has written it.
func logOf(p *local.Platform) []string {
	var lines []string
	for _, g := range p.Logs.Groups(p.Scope, func(name string) bool { return strings.HasPrefix(name, "/aws/lambda/") }) {
		events, err := p.Logs.Read(p.Scope, g.Name, func(string) bool { return true }, 0,
			time.Now().Add(time.Hour).UnixMilli())
		if err != nil {
			continue // the log is an extra
		}
		for _, e := range events {
			if platformLine.MatchString(e.Message) {
				continue
			}
			lines = append(lines, strings.TrimRight(e.Message, "\n"))
		}
	}
	return lines[max(0, len(lines)-shownLog):]
}

// Trace prints the history of the execution, with the time since its start, and the function's log.
func (r *Result) Trace(w io.Writer) {
	names := map[string]string{}
	for _, o := range r.Operations {
		names[o.Operation] = o.Name
	}
	for i := range r.Events {
		e := &r.Events[i]
		line := fmt.Sprintf("    %10s  %s", e.At().Sub(r.Execution.Start), durable.EventType(e.Type))
		if d, err := durable.DetailsOf(e); err == nil {
			line += strings.TrimRight(" "+names[d.ID], " ")
			if d.Error != nil && d.Error.ErrorType != nil {
				line += ": " + machinetest.Cut(errorText(d.Error))
			}
			if d.Delay > 0 {
				line += fmt.Sprintf("; next attempt in %s", d.Delay)
			}
		}
		fmt.Fprintln(w, line)
	}
	for _, line := range r.Log {
		fmt.Fprintf(w, "    | %s\n", line)
	}
}
