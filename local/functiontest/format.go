package functiontest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stepback/internal/lazyregexp"
	"stepback/internal/strictyaml"
	"stepback/internal/testfile"
	"stepback/jsonvalue"
	"stepback/local/functiontest/recording"
	"stepback/stepbacktest/machinetest"
)

// File is a parsed test file.
type File struct {
	// Name is the name of the test file as shown in messages.
	Name     string
	Function Function
	Tests    []Test

	results []*Result // of the tests that have run
}

// Function is the function under test.
type Function struct {
	// Line is the line of the test file at which the function is described.
	Line int
	// Handler is the function's Handler, such as orders.handler, and Runtime its runtime, such as nodejs22.x.
	Handler, Runtime string
	// Folder is the absolute path of the directory with the code, as Lambda unpacks it.
	Folder string
	// Sources are the files in which the coverage looks for steps, by their paths.
	Sources []string
	// Environment contains the function's environment variables.
	Environment map[string]string
	// Timeout limits an invocation, in real time. ExecutionTimeout limits an execution, in virtual time.
	Timeout, ExecutionTimeout time.Duration
}

// Test is one execution with its expected outcome.
type Test struct {
	Name string
	Line int
	// Input is JSON text.
	Input string
	// Mocks contains the responses by operation, in the order of the file.
	Mocks []Mock
	// Seed determines the random numbers of the function's process, and with them the jitter of retries.
	Seed   uint64
	Expect Expect
}

// Mock lists the responses of the operations with a name, in order.
type Mock struct {
	Name      string
	Line      int
	Responses []Response
}

// Response is the response of one attempt of an operation, or of several in a row.
type Response struct {
	// Line is the line of the test file at which the response begins.
	Line int
	// In restricts the response to operations in a child context, branch or iteration with this name; empty means no
	// restriction.
	In string
	// Return is the result. A response with Error fails instead, one that hangs leaves a callback to its timeout, and
	// one that crashes ends the function's process during a step. Text is the result of a callback as it is sent;
	// otherwise Return is sent as JSON.
	Return      jsonvalue.Value
	Text        *string
	Error       string
	Cause       string
	Hang, Crash bool
	// After is the virtual time after which a callback or a chained invoke responds.
	After time.Duration
	// Times is the number of attempts that get it; 0 means all that follow.
	Times int
}

// Expect is the expected outcome. Fields that are not set are not checked.
type Expect struct {
	machinetest.Ending
	Path       []string
	Ran, Never []string
	Attempts   []Number
	Waits      []Waits
}

// Number is an expected number of attempts of the operations with a name.
type Number struct {
	Name string
	N    int
}

// Waits are the expected waits of the operations with a name.
type Waits struct {
	Name  string
	Waits []time.Duration
}

// The limits of a test file: the maximum size of a text, and the maximum number of tests and of list elements.
const (
	textSize = 1 << 20
	nameSize = 256
	most     = 10_000
)

// The limits and defaults of the function's timeouts. mostExecution is Lambda's limit.
const (
	defaultTimeout = time.Minute
	mostTimeout    = 15 * time.Minute
	mostExecution  = 366 * 24 * time.Hour
)

// Parse parses a test file, which is in the directory dir. read reads a file that the test file names; its path is
// relative to dir. The error is strictyaml's Problems, with line and column.
func Parse(name string, text []byte, dir string, read func(path string) ([]byte, error)) (*File, error) {
	r, v := strictyaml.Read(name, text)
	o := v.Object("function", "tests")
	if err := r.Err(); err != nil {
		return nil, err
	}
	f := &File{Name: name, Function: function(o.Need("function"), dir)}
	for _, t := range o.Need("tests").List(1, most) {
		f.Tests = append(f.Tests, test(t, read))
	}
	return f, r.Err()
}

// function reads the description of the function: its members, or the handler alone.
func function(v strictyaml.Value, dir string) Function {
	f := Function{Line: v.Line(), Environment: map[string]string{}, Timeout: defaultTimeout,
		ExecutionTimeout: mostExecution}
	folder := dir
	at := v
	if v.IsScalar() {
		f.Handler = v.Text(nameSize)
	} else {
		o := v.Object("handler", "code", "runtime", "environment", "timeout", "executionTimeout", "sources")
		at = o.Need("handler")
		f.Handler, f.Runtime = at.Text(textSize), o.Get("runtime").Text(textSize)
		for _, m := range o.Get("environment").Members() {
			f.Environment[m.Name] = m.Text(textSize)
		}
		f.Timeout = o.Get("timeout").DurationOr(defaultTimeout, time.Second, mostTimeout)
		f.ExecutionTimeout = o.Get("executionTimeout").DurationOr(mostExecution, time.Second, mostExecution)
		if code := o.Get("code"); code.Present() {
			folder = below(dir, code.Text(textSize))
			if info, err := os.Stat(folder); err != nil || !info.IsDir() {
				code.Problem("there is no directory %s; name the directory with the function's code, built if it is TypeScript", folder)
				return f
			}
		}
		if runtime := o.Get("runtime"); runtime.Present() && !recording.Testable(f.Runtime) {
			runtime.Problem("%s", untested(f.Runtime))
			return f
		}
		if sources := o.Get("sources"); sources.Present() {
			for _, one := range sources.List(1, most) {
				source := below(dir, one.Text(textSize))
				if info, err := os.Stat(source); err != nil || !info.Mode().IsRegular() {
					one.Problem("there is no file %s", source)
				}
				f.Sources = append(f.Sources, source)
			}
		}
	}
	var err error
	if f.Folder, err = filepath.Abs(folder); err != nil {
		v.Problem("%v", err)
		return f
	}
	if f.Handler == "" {
		return f // reported
	}
	source, why := f.find()
	if why != "" {
		at.Problem("%s", why)
	}
	if f.Sources == nil && source != "" {
		f.Sources = []string{source}
	}
	return f
}

func below(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// The default runtimes.
const (
	defaultNode   = "nodejs22.x"
	defaultPython = "python3.13"
)

func untested(runtime string) string {
	return fmt.Sprintf("functions of the runtime %s cannot be tested: steps can be replaced in JavaScript (such as %s) and Python (such as %s)",
		runtime, defaultNode, defaultPython)
}

// handlerForm matches a Handler: directories, a file, and the path of the function in it.
var handlerForm = lazyregexp.New(`^[A-Za-z0-9_$@.\-/]+\.[A-Za-z_$][A-Za-z0-9_$.]*$`)

// find returns the file of the handler, and sets the runtime if the test file names none. why says why there is no such
// file, and what to do.
func (f *Function) find() (source, why string) {
	if !handlerForm.MatchString(f.Handler) || strings.Contains(f.Handler, "..") {
		return "", fmt.Sprintf("%q is no handler; write FILE.FUNCTION, such as orders.handler for the function handler of orders.js or orders.py",
			f.Handler)
	}
	slash := strings.LastIndex(f.Handler, "/") + 1
	file, _, _ := strings.Cut(f.Handler[slash:], ".")
	javaScript := filepath.Join(f.Folder, filepath.FromSlash(f.Handler[:slash]), file)
	module := f.Handler[:strings.LastIndex(f.Handler, ".")]
	python := filepath.Join(f.Folder, filepath.FromSlash(strings.ReplaceAll(module, ".", "/")))
	if !recording.IsPython(f.Runtime) {
		for _, end := range []string{".js", ".mjs", ".cjs"} {
			if isFile(javaScript + end) {
				if f.Runtime == "" {
					f.Runtime = defaultNode
				}
				return javaScript + end, ""
			}
		}
	}
	if !recording.IsNode(f.Runtime) {
		for _, end := range []string{".py", "/__init__.py"} {
			if isFile(python + filepath.FromSlash(end)) {
				if f.Runtime == "" {
					f.Runtime = defaultPython
				}
				return python + filepath.FromSlash(end), ""
			}
		}
	}
	for _, end := range []string{".ts", ".mts", ".cts", ".tsx"} {
		if isFile(javaScript + end) {
			return "", javaScript + end + " is TypeScript: build it, and name the directory with the JavaScript as code"
		}
	}
	return "", fmt.Sprintf("the handler %s is missing: %s has no %s.js, .mjs, .cjs or .py; name the directory with the code as code",
		f.Handler, f.Folder, module)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func test(v strictyaml.Value, read func(string) ([]byte, error)) Test {
	o := v.Object("name", "input", "inputFile", "mocks", "seed", "expect")
	t := Test{Name: o.Need("name").Text(nameSize), Line: v.Line(), Input: testfile.Input(o, read),
		Seed: uint64(o.Get("seed").WholeOr(1, 1, 1<<31-1))}
	for _, m := range o.Get("mocks").Members() {
		t.Mocks = append(t.Mocks, Mock{m.Name, m.Line(), responses(m.Value)})
	}
	t.Expect = expect(o.Need("expect"))
	return t
}

// responses reads the responses of an operation: a list, or a single one.
func responses(v strictyaml.Value) []Response {
	if v.IsObject() {
		return []Response{response(v)}
	}
	list := v.List(1, most)
	all := make([]Response, 0, len(list))
	for _, one := range list {
		all = append(all, response(one))
	}
	return all
}

func response(v strictyaml.Value) Response {
	o := v.Object("in", "return", "text", "error", "cause", "hang", "crash", "after", "times")
	a := Response{Line: v.Line(), In: o.Get("in").Text(textSize), Return: o.Get("return").JSON(), Error: o.Get("error").Text(textSize),
		Cause: o.Get("cause").Text(textSize), Hang: o.Get("hang").Bool(), Crash: o.Get("crash").Bool(),
		After: o.Get("after").DurationOr(0, 0, mostExecution), Times: testfile.Times(o.Get("times"))}
	if text := o.Get("text"); text.Present() {
		s := text.Text(textSize)
		a.Text = &s
	}
	kinds := 0
	for _, name := range []string{"return", "text", "error", "hang", "crash"} {
		if o.Get(name).Present() {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		v.Problem("a response needs exactly one of return, text, error, hang and crash")
	case a.Cause != "" && a.Error == "":
		o.Get("cause").Problem("a cause belongs to an error; add error")
	case a.After > 0 && (a.Hang || a.Crash):
		o.Get("after").Problem("only a result or an error can come after a time")
	}
	return a
}

func expect(v strictyaml.Value) Expect {
	o := v.Object("status", "error", "cause", "output", "contains", "path", "ran", "never", "attempts", "waits", "took")
	x := Expect{Ending: machinetest.Ending(testfile.ReadEnding(v, o, mostExecution, "SUCCEEDED", "FAILED", "TIMED_OUT")),
		Path: names(o.Get("path")), Ran: names(o.Get("ran")), Never: names(o.Get("never"))}
	for _, m := range o.Get("attempts").Members() {
		x.Attempts = append(x.Attempts, Number{m.Name, m.Whole(0, 1_000_000)})
	}
	for _, m := range o.Get("waits").Members() {
		w := Waits{Name: m.Name, Waits: []time.Duration{}}
		for _, one := range m.List(0, most) {
			w.Waits = append(w.Waits, one.Duration(0, mostExecution))
		}
		x.Waits = append(x.Waits, w)
	}
	return x
}

// names reads a list of names. It returns nil if v is absent.
func names(v strictyaml.Value) []string {
	if !v.Present() {
		return nil
	}
	all := []string{}
	for _, one := range v.List(0, most) {
		all = append(all, one.Text(textSize))
	}
	return all
}

// Names returns the names of the tests, in the order of the file.
func (f *File) Names() []string {
	all := make([]string, len(f.Tests))
	for i := range f.Tests {
		all[i] = f.Tests[i].Name
	}
	return all
}
