package runner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"stepback/aws"
	"stepback/local/services/lambda/runner"
	"stepback/tasks/lambda/invocation"
)

// runners returns, for each runner, the function that runs the handler of a name.
var runners = map[string]func(name string) runner.Function{
	"in-process": func(name string) runner.Function {
		return runner.Function{Name: "F", Handler: handlers[name], Timeout: 30 * time.Second}
	},
	"process": process,
}

func process(name string) runner.Function {
	return runner.Function{Name: "F", Command: []string{os.Args[0]}, Timeout: 30 * time.Second,
		Env: map[string]string{"HANDLER": name, "OWN": "x"}}
}

func serve(t testing.TB, f runner.Function, opts runner.Options) *runner.Service {
	t.Helper()
	s := runner.New(opts)
	if err := s.Register(f); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

// forBoth runs the test with each runner.
func forBoth(t *testing.T, test func(t *testing.T, function func(string) runner.Function)) {
	t.Helper()
	for name, function := range runners {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, function)
		})
	}
}

var requestID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)

func TestAnswers(t *testing.T) {
	t.Parallel()
	forBoth(t, func(t *testing.T, function func(string) runner.Function) {
		for _, c := range []struct{ handler, payload, functionError, want string }{
			{"echo", `{"a":[1,"x",null]}`, "", `{"a":[1,"x",null]}`},
			{"echo", ``, "", `{}`},
			{"nothing", `{}`, "", `null`},
			{"plain", `{}`, "Unhandled", `{"errorMessage":"plain","errorType":"errorString"}`},
			{"wrapped", `{}`, "Unhandled", `{"errorMessage":"outer: inner","errorType":"wrapError"}`},
			{"own", `{}`, "Unhandled", `{"errorMessage":"mine \u003c\u0026\u003e","errorType":"myError"}`},
			{"named", `{}`, "Unhandled", `{"errorMessage":"connection refused","errorType":"DatabaseConnectionError"}`},
			{"bounds", `{}`, "Unhandled",
				`{"errorMessage":"json: cannot unmarshal object into Go value of type []int","errorType":"UnmarshalTypeError"}`},
			{"context", `{}`, "", `{"arn":"arn:aws:lambda:us-east-1:000000000000:function:F","deadline":true,"id":true}`},
			{"big", `{}`, "Unhandled", `{"errorType":"Function.ResponseSizeTooLarge","errorMessage":"Response payload size (6291558 bytes) exceeded maximum allowed payload size (6291556 bytes)."}`},
			{"not-json", `{}`, "Unhandled",
				`{"errorType":"Runtime.SerializationError","errorMessage":"The function answered 5 bytes that are not JSON; they begin with \"{oops\". Return a value that encodes to JSON."}`},
		} {
			s := serve(t, function(c.handler), runner.Options{})
			out, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: "F", Payload: []byte(c.payload)})
			if err != nil {
				t.Errorf("%s: %v", c.handler, err)
				continue
			}
			if string(out.Payload) != c.want || out.FunctionError != c.functionError ||
				out.StatusCode != http.StatusOK || out.ExecutedVersion != "$LATEST" {
				t.Errorf("%s: %d %q %.300s\nwant %s", c.handler, out.StatusCode, out.FunctionError, out.Payload, c.want)
			}
			if !requestID.MatchString(out.RequestID) {
				t.Errorf("request id %q", out.RequestID)
			}
		}
	})
}

func TestPanicsAreReportedWithTheirStackAndHarmNobody(t *testing.T) {
	t.Parallel()
	forBoth(t, func(t *testing.T, function func(string) runner.Function) {
		for _, c := range []struct{ handler, payload, errorType, message string }{
			{"panic", `{}`, "string", "at the disco"},
			{"bounds", `[1]`, "boundsError", "runtime error: index out of range [1] with length 1"},
		} {
			s := serve(t, function(c.handler), runner.Options{})
			for range 2 { // the second has a new environment
				out, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: "F", Payload: []byte(c.payload)})
				if err != nil {
					t.Fatal(err)
				}
				var e struct {
					ErrorType, ErrorMessage string
					StackTrace              []struct {
						Path, Label string
						Line        int
					}
				}
				if err := json.Unmarshal(out.Payload, &e); err != nil {
					t.Fatal(err)
				}
				if e.ErrorType != c.errorType || e.ErrorMessage != c.message || out.FunctionError != "Unhandled" {
					t.Errorf("%s: %s", c.handler, out.Payload)
				}
				found := false
				for _, frame := range e.StackTrace {
					found = found || strings.HasSuffix(frame.Path, "main_test.go") && frame.Line > 0
				}
				if !found || len(e.StackTrace) > 32 || strings.Contains(e.StackTrace[0].Label, "panicError") {
					t.Errorf("%s: stack trace %+v", c.handler, e.StackTrace)
				}
			}
		}
	})
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	forBoth(t, func(t *testing.T, function func(string) runner.Function) {
		f := function("waits")
		f.Timeout = 20 * time.Millisecond
		s := serve(t, f, runner.Options{})
		out, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: "F", LogType: "Tail"})
		want := `{"errorType":"Sandbox.Timedout","errorMessage":"RequestId: ID Error: Task timed out after 0.02 seconds"}`
		if err != nil || strings.ReplaceAll(string(out.Payload), out.RequestID, "ID") != want ||
			out.FunctionError != "Unhandled" {
			t.Errorf("%s, %v", out.Payload, err)
		}
		logged := regexp.MustCompile(`(?s)\n[-0-9]+T[:.0-9]+Z ` + out.RequestID +
			` Task timed out after 0\.02 seconds\nEND .*\tStatus: timeout\n$`)
		if !logged.Match(out.LogTail) {
			t.Errorf("log\n%s", out.LogTail)
		}
	})
}

func TestTheEndOfTheCallersContextIsItsError(t *testing.T) {
	t.Parallel()
	forBoth(t, func(t *testing.T, function func(string) runner.Function) {
		s := serve(t, function("waits"), runner.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Invoke(ctx, &invocation.Request{FunctionName: "F"}); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}

func TestServiceErrors(t *testing.T) {
	t.Parallel()
	forBoth(t, func(t *testing.T, function func(string) runner.Function) {
		s := serve(t, function("echo"), runner.Options{Region: "eu-west-1", Account: "123456789012"})
		for _, c := range []struct {
			in     *invocation.Request
			code   string
			status int
			text   string
		}{
			{&invocation.Request{FunctionName: "None"}, "ResourceNotFoundException", 404,
				"Function not found: arn:aws:lambda:eu-west-1:123456789012:function:None:$LATEST"},
			{&invocation.Request{FunctionName: "F", Qualifier: "7"}, "ResourceNotFoundException", 404,
				"Function not found: arn:aws:lambda:eu-west-1:123456789012:function:F:7"},
			{&invocation.Request{FunctionName: "F:1", Qualifier: "7"}, "InvalidParameterValueException", 400,
				"The derived qualifier from the function name does not match the specified qualifier."},
			{&invocation.Request{FunctionName: ""}, "InvalidParameterValueException", 400,
				`"" is not a function name or ARN`},
			{&invocation.Request{FunctionName: "F", Payload: []byte("{")}, "InvalidRequestContentException", 400,
				"Could not parse request body into json: the payload is not valid JSON"},
			{&invocation.Request{FunctionName: "F", Payload: bytes.Repeat([]byte("1"), 6<<20+1)},
				"RequestTooLargeException", 413,
				"Request must be smaller than 6291456 bytes for the InvokeFunction operation"},
		} {
			_, err := s.Invoke(t.Context(), c.in)
			var api *aws.Error
			if !errors.As(err, &api) || api.Code != c.code || api.Status != c.status || api.Message != c.text {
				t.Errorf("%s %s: %v", c.in.FunctionName, c.in.Qualifier, err)
			}
		}
		for _, name := range []string{"F", "F:$LATEST", "123456789012:function:F",
			"arn:aws:lambda:eu-west-1:123456789012:function:F",
			"arn:aws:lambda:eu-west-1:123456789012:function:F:$LATEST"} {
			if _, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: name}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestConcurrencyAboveTheLimitIsThrottled(t *testing.T) {
	t.Parallel()
	forBoth(t, func(t *testing.T, function func(string) runner.Function) {
		f := function("waits")
		f.Concurrency = 1
		s := serve(t, f, runner.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		var throttled int
		for range 2 { // one of the two is throttled at once and stops the other
			wg.Go(func() {
				_, err := s.Invoke(ctx, &invocation.Request{FunctionName: "F"})
				var api *aws.Error
				if errors.As(err, &api) && api.Code == "TooManyRequestsException" &&
					api.Status == http.StatusTooManyRequests {
					throttled++
					cancel()
				}
			})
		}
		wg.Wait()
		cancel()
		if throttled != 1 {
			t.Errorf("%d throttled", throttled)
		}
	})
}

func TestManyInvocationsKeepTheirAnswersApart(t *testing.T) {
	t.Parallel()
	forBoth(t, func(t *testing.T, function func(string) runner.Function) {
		f := function("echo")
		f.Environments = 3
		s := serve(t, f, runner.Options{})
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				payload, _ := json.Marshal(strings.Repeat(string(rune('a'+i)), 2000))
				for range 25 {
					out, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: "F", Payload: payload})
					if err != nil || !bytes.Equal(out.Payload, payload) {
						t.Errorf("%d: %.40s, %v", i, out.Payload, err)
					}
				}
			})
		}
		wg.Wait()
	})
}

// keptLogs stores what functions log.
type keptLogs struct {
	mu    sync.Mutex
	texts map[string][]byte
}

// WriteLog implements runner.LogSink.
func (k *keptLogs) WriteLog(to runner.LogStream, lines []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.texts == nil {
		k.texts = map[string][]byte{}
	}
	k.texts[to.Function] = append(k.texts[to.Function], lines...)
}

func (k *keptLogs) of(function string) []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.texts[function]
}

func TestLogs(t *testing.T) {
	t.Parallel()
	forBoth(t, func(t *testing.T, function func(string) runner.Function) {
		logs := &keptLogs{}
		s := serve(t, function("named"), runner.Options{Logs: logs})
		out, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: "F", LogType: "Tail"})
		if err != nil {
			t.Fatal(err)
		}
		text := logs.of("F")
		if !strings.Contains(string(out.LogTail), "connection refused") || !strings.Contains(string(text),
			string(out.LogTail)) {
			t.Errorf("tail %s\nlog %s", out.LogTail, text)
		}
		all := lines(strings.ReplaceAll(string(text), out.RequestID, "ID"))
		if start := "START RequestId: ID Version: $LATEST"; all[0] != start &&
			(!strings.HasPrefix(all[0], "INIT_START ") || all[1] != start) || !strings.Contains(string(text),
			`{"errorMessage":"connection refused"`) {
			t.Errorf("log\n%s", text)
		}
		end := strings.Index(string(text), "END RequestId: "+out.RequestID+"\n")
		report := regexp.MustCompile(`REPORT RequestId: [-0-9a-f]+\tDuration: [0-9.]+ ms\tBilled Duration: [0-9]+ ms\tMemory Size: 128 MB`)
		if at := report.FindStringIndex(string(text)); end < 0 || at == nil || at[0] < end {
			t.Errorf("log\n%s", text)
		}
	})
}

func TestCloseEndsWhatRunsAndRefusesWhatComes(t *testing.T) {
	t.Parallel()
	forBoth(t, func(t *testing.T, function func(string) runner.Function) {
		s := serve(t, function("waits"), runner.Options{})
		done := make(chan error)
		go func() {
			_, err := s.Invoke(context.Background(), &invocation.Request{FunctionName: "F"})
			done <- err
		}()
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		var api *aws.Error
		if err := <-done; !errors.As(err, &api) || api.Code != "ServiceException" {
			t.Errorf("under way: %v", err)
		}
		if _, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: "F"}); !errors.As(err, &api) ||
			api.Status != http.StatusInternalServerError {
			t.Errorf("after: %v", err)
		}
	})
}
