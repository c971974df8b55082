package runtimes_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stepback/local/services/lambda/runner"
	"stepback/local/services/lambda/runtimes"
	"stepback/tasks/lambda/invocation"
)

// deployed creates a function from files and returns a service that can invoke it.
func deployed(t *testing.T, runtime, handler string, files map[string]string) *runner.Service {
	t.Helper()
	return deployedWith(t, runtime, handler, files, nil)
}

func deployedWith(t *testing.T, runtime, handler string, files map[string]string,
	packages func(context.Context, string) (string, error)) *runner.Service {
	t.Helper()
	command := map[bool]string{true: "python3", false: "node"}[strings.HasPrefix(runtime, "python")]
	if _, err := exec.LookPath(command); err != nil {
		t.Skip(command + " is not installed")
	}
	code := t.TempDir()
	for name, text := range files {
		path := filepath.Join(code, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	set, err := runtimes.Open(filepath.Join(t.TempDir(), "runtimes"))
	if err != nil {
		t.Fatal(err)
	}
	launch, err := set.Launch(t.Context(), runtime, code, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := runner.New(runner.Options{})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	err = s.Register(runner.Function{
		Name: "F", Command: launch.Command, Env: launch.Env, Dir: code, Runtime: runtime, Entry: handler,
		Timeout: time.Minute, AnyAnswer: true, Packages: packages,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func invoke(t *testing.T, s *runner.Service, payload string) *invocation.Answer {
	t.Helper()
	out, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: "F", Payload: []byte(payload), LogType: "Tail",
		ClientContext: []byte(`{"custom":{"a":"b"}}`)})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// outcome is a function with the expected result of an invocation.
type outcome struct {
	handler, file, text, payload string
	answer                       string // payload on success
	errorType, message           string // on failure
	log                          string // text that the log must contain
}

func (c *outcome) check(t *testing.T, out *invocation.Answer) {
	t.Helper()
	if !strings.Contains(string(out.LogTail), c.log) {
		t.Errorf("log\n%s\nwant %q", out.LogTail, c.log)
	}
	if c.errorType == "" {
		if out.FunctionError != "" || string(out.Payload) != c.answer {
			t.Errorf("%s %s, want %s\n%s", out.FunctionError, out.Payload, c.answer, out.LogTail)
		}
		return
	}
	var e struct{ ErrorType, ErrorMessage string }
	if err := json.Unmarshal(out.Payload, &e); err != nil || out.FunctionError != "Unhandled" ||
		e.ErrorType != c.errorType || !strings.HasPrefix(e.ErrorMessage, c.message) {
		t.Errorf("%s, %v\nwant %s: %s\n%s", out.Payload, err, c.errorType, c.message, out.LogTail)
	}
}

func TestPython(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]outcome{
		"echo": {"app.f", "app.py", "def f(e, c):\n    print('in', e)\n    return {'e': e, 'v': c.function_version}",
			`{"a":"ü"}`,
			`{"e": {"a": "ü"}, "v": "$LATEST"}`, "", "", "in {'a': 'ü'}\n"},
		"nothing":        {"app.f", "app.py", "def f(e, c): pass", `{}`, `null`, "", "", ""},
		"a module below": {"pkg/app.f", "pkg/app.py", "def f(e, c): return __name__", `{}`, `"pkg.app"`, "", "", ""},
		"decimals": {"app.f", "app.py",
			"import decimal\ndef f(e, c): return [decimal.Decimal('1.5'), decimal.Decimal(2)]", `{}`, `[1.5, 2]`, "",
			"", ""},
		"client context": {"app.f", "app.py", "def f(e, c): return c.client_context.custom", `{}`, `{"a": "b"}`, "", "",
			""},
		"logging": {"app.f", "app.py", "import logging\ndef f(e, c): logging.warning('careful')", `{}`, `null`,
			"", "", "[WARNING]\t"},
		"exception": {"app.f", "app.py", "class MyError(Exception): pass\ndef f(e, c): raise MyError('bad')", `{}`,
			"", "MyError", "bad", "[ERROR] MyError: bad\nTraceback"},
		"a stack": {"app.f", "app.py", "def g(): raise ValueError(\n  'x' + str(1))\ndef f(e, c): return 1 + g()", `{}`,
			"", "ValueError", "x1",
			"  File \"/var/task/app.py\", line 3, in f\n    def f(e, c): return 1 + g()\n  File \"/var/task/app.py\", line 1, in g\n    def g(): raise ValueError(\nEND"},
		"trace": {"app.f", "app.py", "import os\ndef f(e, c): return os.environ['_X_AMZN_TRACE_ID'][:7]",
			`{}`, `"Root=1-"`, "", "", ""},
		"no module": {"other.f", "app.py", "", `{}`, "", "Runtime.ImportModuleError",
			"Unable to import module 'other': No module named 'other'", "[ERROR] Runtime.Import"},
		"no handler": {"app.g", "app.py", "", `{}`, "", "Runtime.HandlerNotFound",
			"Handler 'g' missing on module 'app'", ""},
		"bad handler": {"app", "app.py", "", `{}`, "", "Runtime.MalformedHandlerName",
			"Bad handler 'app': not enough values to unpack", ""},
		"syntax": {"app.f", "app.py", "def f(", `{}`, "", "Runtime.UserCodeSyntaxError",
			"Syntax error in module 'app': ", ""},
		"fails at import": {"app.f", "app.py", "raise RuntimeError('early')", `{}`, "", "RuntimeError", "early", ""},
		"not serializable": {"app.f", "app.py", "def f(e, c): return {1, 2}", `{}`, "", "Runtime.MarshalError",
			"Unable to marshal response: Object of type set is not JSON serializable", ""},
		"exits": {"app.f", "app.py", "import os\ndef f(e, c): os._exit(3)", `{}`, "", "Runtime.ExitError",
			"RequestId: ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := invoke(t, deployed(t, "python3.12", c.handler, map[string]string{c.file: c.text}), c.payload)
			out.Payload = []byte(strings.ReplaceAll(string(out.Payload), `\u00fc`, "ü")) // escaped before Python 3.12
			c.check(t, out)
			if strings.Contains(string(out.Payload), os.TempDir()) {
				t.Errorf("a path of this machine in %s", out.Payload)
			}
		})
	}
}

func TestNode(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]outcome{
		"CommonJS": {"app.f", "app.js",
			"exports.f = async (e, c) => { console.log('in', e); return {e, v: c.functionVersion} }", `{"a":1}`,
			`{"e":{"a":1},"v":"$LATEST"}`, "", "", "INFO\tin { a: 1 }\n"},
		"an ES module": {"app.f", "app.mjs", "export const f = async () => 'm'", `{}`, `"m"`, "", "", ""},
		"a stream": {"app.f", "app.mjs",
			"export const f = awslambda.streamifyResponse(async (e, out) => { out.setContentType('text/plain'); out.write('{\"a\":'); await 1; out.end('1}') })",
			`{}`, `{"a":1}`, "", "", ""},
		"a stream that fails": {"app.f", "app.js",
			"exports.f = awslambda.streamifyResponse(async (e, out) => { out.write('1'); throw new TypeError('bad') })",
			`{}`, "", "TypeError", "bad", ""},
		"a stream with no end": {"app.f", "app.js",
			"exports.f = awslambda.streamifyResponse(async (e, out) => { out.write('1') })", `{}`, `1`, "", "", ""},
		"a response with status": {"app.f", "app.js",
			"exports.f = awslambda.streamifyResponse(async (e, out) => awslambda.HttpResponseStream.from(out, {statusCode: 201}).end('x'))", `{}`, "{\"statusCode\":201}\x00\x00\x00\x00\x00\x00\x00\x00x", "", "", ""},
		"trace": {"app.f", "app.js",
			"exports.f = async () => process.env._X_AMZN_TRACE_ID.slice(0, 7)", `{}`, `"Root=1-"`, "", "", ""},
		"a callback": {"app.f", "app.js",
			"exports.f = (e, c, done) => setTimeout(() => done(null, 'late'), 1)", `{}`, `"late"`, "", "", ""},
		"never answers": {"app.f", "app.js", "exports.f = () => {}", `{}`, `null`, "", "", ""},
		"a class method": {"a/app.F.f", "a/app.js", "exports.F = class { static async f() { return 1 } }", `{}`,
			`1`, "", "", ""},
		"client context": {"app.f", "app.js", "exports.f = async (e, c) => c.clientContext.custom", `{}`,
			`{"a":"b"}`, "", "", ""},
		"throws": {"app.f", "app.js",
			"class MyError extends Error { name = 'MyError' }\nexports.f = async () => { throw new MyError('bad') }",
			`{}`, "", "MyError", "bad", "ERROR\tInvoke Error"},
		"callback error": {"app.f", "app.js", "exports.f = (e, c, done) => done(new TypeError('bad'))", `{}`,
			"", "TypeError", "bad", ""},
		"throws a text": {"app.f", "app.js", "exports.f = async () => { throw 'bad' }", `{}`, "", "string",
			"bad", ""},
		"no module": {"other.f", "app.js", "", `{}`, "", "Runtime.ImportModuleError",
			"Error: Cannot find module 'other'", ""},
		"no handler": {"app.g", "app.js", "", `{}`, "", "Runtime.HandlerNotFound",
			"app.g is undefined or not exported", ""},
		"bad handler": {"app", "app.js", "", `{}`, "", "Runtime.MalformedHandlerName", "Bad handler", ""},
		"syntax": {"app.f", "app.js", "exports.f = (", `{}`, "", "Runtime.UserCodeSyntaxError",
			"SyntaxError: ", ""},
		"uncaught": {"app.f", "app.js",
			"exports.f = (e, c, done) => setTimeout(() => { throw new Error('lost') }, 1)", `{}`, "",
			"Runtime.UncaughtException", "lost", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := invoke(t, deployed(t, "nodejs22.x", c.handler, map[string]string{c.file: c.text}), c.payload)
			c.check(t, out)
			if strings.Contains(string(out.Payload), os.TempDir()) {
				t.Errorf("a path of this machine in %s", out.Payload)
			}
		})
	}
}

func TestAnEnvironmentKeepsItsState(t *testing.T) {
	t.Parallel()
	for runtime, text := range map[string]string{
		"python3.12": "n = 0\ndef f(e, c):\n    global n\n    n += 1\n    return n",
		"nodejs22.x": "let n = 0\nexports.f = (e, c, done) => done(null, ++n)",
	} {
		t.Run(runtime, func(t *testing.T) {
			t.Parallel()
			s := deployed(t, runtime, "app.f", map[string]string{"app.py": text, "app.js": text})
			for want := range 3 {
				if out := invoke(t, s, `{}`); string(out.Payload) != string(rune('1'+want)) {
					t.Errorf("%s, want %d", out.Payload, want+1)
				}
			}
		})
	}
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	set, err := runtimes.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", t.TempDir())
	for runtime, want := range map[string]string{
		"python3.12": `functions of the runtime python3.12 need Python on this machine: install Python 3.12, so that "python3" is on the PATH`,
		"nodejs20.x": `functions of the runtime nodejs20.x need Node.js on this machine: install Node.js 20, so that "node" is on the PATH`,
		"java21": `Functions of the runtime java21 do not run in stepback serve, which runs programs for Amazon Linux, and ` +
			`functions for the Node.js and Python of this machine: use one of nodejs18.x, `,
		"nodejs16.x": `functions of the runtime nodejs16.x need Node.js on this machine: install Node.js 16, `,
	} {
		if _, err := set.Launch(t.Context(), runtime, "/code", 128); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", runtime, err)
		}
	}
	if l, err := set.Launch(t.Context(), "provided.al2023", "/code", 128); err != nil ||
		l.Command[0] != filepath.Join("/code", "bootstrap") {
		t.Errorf("%+v, %v", l, err)
	}
}

// What an interpreter has reported holds for every Set of the process.
func TestAnInterpreterIsAskedOnce(t *testing.T) {
	dir := t.TempDir()
	asked := filepath.Join(dir, "asked")
	shim := "#!/bin/sh\necho yes >> '" + asked + "'\necho /opt/python\necho 3.12.1\n"
	if err := os.WriteFile(filepath.Join(dir, "python3.12"), []byte(shim), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	for range 3 {
		set, err := runtimes.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		l, err := set.Launch(t.Context(), "python3.12", "/code", 128)
		if err != nil || l.Command[0] != "/opt/python" {
			t.Errorf("%+v, %v", l, err)
		}
	}
	if text, err := os.ReadFile(asked); err != nil || string(text) != "yes\n" {
		t.Errorf("asked %q, %v", text, err)
	}
}

// The heap of Node.js is limited by the function's memory, as AWS's runtime does.
func TestTheHeapIsLimited(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("Node.js is not installed")
	}
	set, err := runtimes.Open(filepath.Join(t.TempDir(), "runtimes"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := set.Launch(t.Context(), "nodejs22.x", "/code", 128)
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Command[1 : len(l.Command)-1]; !slices.Equal(got, []string{"--max-semi-space-size=6", "--max-old-space-size=116"}) {
		t.Errorf("%q", got)
	}
}

// keptStream keeps a streamed response.
type keptStream struct{ contentType, text string }

func (k *keptStream) Begin(a *invocation.Answer) error {
	k.contentType = a.ContentType
	return nil
}

func (k *keptStream) Write(p []byte) (int, error) {
	k.text += string(p)
	return len(p), nil
}

func TestNodeStreams(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, contentType, text, functionError string }{
		"text": {"out.setContentType('text/plain'); out.write('a'); await 1; out.end('b')", "text/plain", "ab", ""},
		"prelude": {"awslambda.HttpResponseStream.from(out, {statusCode: 201}).end('x')",
			"application/vnd.awslambda.http-integration-response", "{\"statusCode\":201}\x00\x00\x00\x00\x00\x00\x00\x00x", ""},
		"empty": {"out.end()", "application/octet-stream", "", ""},
		"pipeline": {"await (await import('node:stream/promises')).pipeline(['a', 'b'.repeat(1e5)], out)", "application/octet-stream",
			"a" + strings.Repeat("b", 1e5), ""},
		"fails in the middle": {"await new Promise((r) => out.write('a', r)); throw new TypeError('bad')", "application/octet-stream", "a",
			`{"errorType":"TypeError","errorMessage":"bad"`},
		"fails at once": {"throw new TypeError('bad')", "", "", `{"errorType":"TypeError","errorMessage":"bad"`},
		"crashes in the middle": {"await new Promise((r) => out.write('a', r)); setImmediate(() => { throw new TypeError('bad') }); await new Promise((r) => setTimeout(r, 1e5))",
			"application/octet-stream", "a", `{"errorType":"Runtime.UncaughtException","errorMessage":"bad"`},
		"the content type is late": {"await new Promise((r) => out.write('a', r)); out.setContentType('text/plain')", "application/octet-stream", "a",
			`{"errorType":"InvalidStreamingOperation","errorMessage":"Cannot set content-type, too late."`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := deployed(t, "nodejs22.x", "app.f", map[string]string{
				"app.mjs": "export const f = awslambda.streamifyResponse(async (e, out) => { " + c.body + " })"})
			kept := &keptStream{}
			out, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: "F", Stream: kept, LogType: "Tail"})
			if err != nil {
				t.Fatal(err)
			}
			if kept.contentType != c.contentType || kept.text != c.text ||
				!strings.HasPrefix(string(out.Payload), c.functionError) ||
				(out.FunctionError != "") != (c.functionError != "") {
				t.Errorf(
					"%q %.100q, %s %s\n%s",
					kept.contentType,
					kept.text,
					out.FunctionError,
					out.Payload,
					out.LogTail,
				)
			}
		})
	}
}
