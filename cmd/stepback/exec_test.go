package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stepback/cmd/stepback/exit"
)

// file writes a file in a directory of its own.
func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const retriedAndCaught = `{"StartAt":"Reserve","States":{
	"Reserve":{"Type":"Task","Resource":"arn:aws:lambda:us-east-1:000000000000:function:reserve",
		"Retry":[{"ErrorEquals":["OutOfStock"],"IntervalSeconds":2,"MaxAttempts":2}],
		"Catch":[{"ErrorEquals":["OutOfStock"],"ResultPath":"$.error","Next":"Pause"}],"End":true},
	"Pause":{"Type":"Wait","Seconds":3600,"Next":"Each"},
	"Each":{"Type":"Map","ItemsPath":"$.items","MaxConcurrency":1,"ItemProcessor":{"StartAt":"One","States":{"One":{"Type":"Pass","Result":"x","End":true}}},"End":true}}}`

func TestExecTracesInVirtualTime(t *testing.T) {
	t.Parallel()
	s := stepback(t, "exec", file(t, "order.asl.json", retriedAndCaught), "--input", `{"items":[1,2]}`,
		"--virtual-time",
		"--lambda", "reserve=cat > /dev/null; echo 'OutOfStock: no more' >&2; exit 3")
	s.ends(t, exit.OK)
	if s.out != "[\"x\",\"x\"]\n" {
		t.Errorf("standard output is %q", s.out)
	}
	const after = `{"items":[1,2],"error":{"Error":"OutOfStock","Cause":"{\"errorMessage\":\"no more\",\"errorType\":\"…`
	want := strings.Split(`started  {"items":[1,2]}
Reserve: Task  {"items":[1,2]}
Reserve: calls arn:aws:lambda:us-east-1:000000000000:function:reserve
OutOfStock: no more
Reserve: failed OutOfStock: {"errorMessage":"no more","errorType":"OutOfStock"}
Reserve: retry 1, 2.000s after the failure
OutOfStock: no more
Reserve: failed OutOfStock: {"errorMessage":"no more","errorType":"OutOfStock"}
Reserve: retry 2, 4.000s after the failure
OutOfStock: no more
Reserve: failed OutOfStock: {"errorMessage":"no more","errorType":"OutOfStock"}
Reserve: caught  `+after+`
Pause: Wait  `+after+`
Pause: done  `+after+`
Each: Map  `+after+`
Each: 2 items
  #0 One: Pass  1
  #0 One: done  "x"
Each: iteration #0 succeeded, 1 of 2 have
  #1 One: Pass  2
  #1 One: done  "x"
Each: iteration #1 succeeded, 2 of 2 have
Each: done  ["x","x"]
SUCCEEDED after 1h0m6s, 27 events
`, "\n")
	got := strings.Split(s.err, "\n")
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) || withoutTime(got[i]) != want[i] {
			t.Fatalf("line %d of the trace differs:\n%s", i+1, s.err)
		}
	}
}

// withoutTime removes the time from a line of the trace. The duration of a command is real even in virtual time.
func withoutTime(line string) string {
	if cut, rest, ok := strings.Cut(line, "s  "); ok && strings.HasPrefix(strings.TrimSpace(cut), "+") {
		return rest
	}
	return line
}

func TestExecTellsHowItEnds(t *testing.T) {
	t.Parallel()
	const failing = `{"StartAt":"F","States":{"F":{"Type":"Fail","Error":"TooMany","Cause":"more than ten"}}}`
	const waiting = `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":3600,"End":true}}}`
	for _, test := range []struct {
		definition string
		args       []string
		code       int
		want       string
	}{
		{failing, nil, exit.Failure, "FAILED after 0s, 3 events in F\n  error: TooMany\n  cause: more than ten\n"},
		{strings.Replace(waiting, `{`, `{"TimeoutSeconds":60,`, 1), []string{"--virtual-time"}, exit.TimedOut,
			"TIMED_OUT after 1m0s"},
		{waiting, []string{"--timeout", "1ms"}, exit.TimedOut,
			"  error: Stopped\n  cause: the execution took longer than --timeout\n"},
		{`{"StartAt":"N","States":{"F":{"Type":"Succeed"}}}`, nil, exit.Data, "error MISSING_TRANSITION_TARGET"},
		{failing, []string{"--input", "{"}, exit.Usage, "--input is not JSON: "},
		{failing, []string{"--input", "@nowhere.json"}, exit.Usage, "--input: nowhere.json: no such file"},
		{failing, []string{"--test-case", "T"}, exit.Usage, "--test-case needs --mock"},
		{failing, []string{"--nested", "x"}, exit.Usage, "--nested x: give NAME=FILE"},
		{failing, []string{"--lambda", "f"}, exit.Usage, "--lambda f: give NAME=COMMAND, NAME=URL or NAME=BOOTSTRAP"},
		{failing, []string{"--lambda", "f=bootstrap:nowhere"}, exit.Usage, "--lambda f=bootstrap:nowhere: nowhere: no such file"},
		{failing, []string{"--lambda", "f=http://"}, exit.Usage, "http:// is not a URL"},
		{failing, []string{"--name", "a b"}, exit.Usage, "InvalidName: "},
	} {
		stepback(t, append([]string{"exec", file(t, "m.asl.json", test.definition)}, test.args...)...).complains(t,
			test.code, test.want)
	}
}

func TestExecStopsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice that the client disconnects
		cancel()
		<-r.Context().Done()
	}))
	defer server.Close()
	s := stepbackUnder(ctx, "exec", file(t, "m.asl.json", retriedAndCaught), "--lambda", "reserve="+server.URL)
	s.complains(t, exit.Stopped, "ABORTED", "cause: stopped by Ctrl-C")
}

func TestExecPostsToURLs(t *testing.T) {
	t.Parallel()
	answers := map[string]func(http.ResponseWriter){
		"/ok":       func(w http.ResponseWriter) { fmt.Fprint(w, `{"a":1}`) },
		"/throttle": func(w http.ResponseWriter) { w.WriteHeader(http.StatusTooManyRequests) },
		"/broken":   func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) },
		"/error": func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"errorType":"Odd","errorMessage":"1"}`)
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request) {
		answers[r.URL.Path](w)
	}))
	defer server.Close()
	const definition = `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:lambda:us-east-1:000000000000:function:f","End":true}}}`
	for path, want := range map[string]string{
		"/ok": "SUCCEEDED", "/throttle": "error: Lambda.TooManyRequestsException",
		"/broken": "error: Lambda.ServiceException", "/error": "error: Odd",
	} {
		s := stepback(t, "exec", file(t, "m.asl.json", definition), "--lambda", "f="+server.URL+path)
		if !strings.Contains(s.err, want) {
			t.Errorf("%s: lacks %q:\n%s", path, want, s.err)
		}
	}
}

func TestExecReadsCommands(t *testing.T) {
	t.Parallel()
	const definition = `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","OutputPath":"$.Payload",` +
		`"Parameters":{"FunctionName":"f:LIVE","Payload.$":"$"},"End":true}}}`
	for command, want := range map[string]string{
		"cat":                                    `{"n":1}`,
		"echo word":                              `"word"`,
		"true":                                   `null`,
		`echo "\"$AWS_LAMBDA_FUNCTION_NAME\""`:   `"f"`,
		`echo '{"errorType":"E","x":1}'; exit 1`: "error: E",
		"exit 7":                                 "error: ExitStatus7",
		"echo two words >&2; exit 7":             "error: ExitStatus7",
		"echo trace >&2; echo ValueError >&2; exit 1": "error: ValueError",
		"kill -9 $$": "error: Killed",
	} {
		s := stepback(t, "exec", file(t, "m.asl.json", definition), "--input", `{"n":1}`, "--lambda", "f="+command)
		if got := strings.TrimSpace(s.out); got != want && !strings.Contains(s.err, want) {
			t.Errorf("%s: %s\n%s", command, s.out, s.err)
		}
	}
}

func TestExecStartsNestedMachines(t *testing.T) {
	t.Parallel()
	const parent = `{"StartAt":"N","States":{"N":{"Type":"Task","Resource":"arn:aws:states:::states:startExecution.sync:2","Parameters":{` +
		`"StateMachineArn":"arn:aws:states:us-east-1:000000000000:stateMachine:refund","Name":"r","Input":{"a":1}},"OutputPath":"$.Output","End":true}}}`
	child := file(t, "refund.asl.json", `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":60,"End":true}}}`)
	s := stepback(t, "exec", file(t, "m.asl.json", parent), "--nested", "refund="+child, "--virtual-time")
	s.ends(t, exit.OK, `{"a":1}`)
	for _, want := range []string{"N: submitted; waits for its end\n", "[refund] W: Wait  {",
		"[refund] ended: Succeeded  {", "SUCCEEDED after 1m0s"} {
		if !strings.Contains(s.err, want) {
			t.Errorf("the trace lacks %q:\n%s", want, s.err)
		}
	}
}

func TestExecTakesATestCase(t *testing.T) {
	t.Parallel()
	mocks := file(t, "mocks.json", `{"StateMachines":{"order":{"TestCases":{"Sold":{"Reserve":"Once"}}}},
		"MockedResponses":{"Once":{"0":{"Throw":{"Error":"OutOfStock","Cause":"c"}},"1":{"Return":{"reserved":true}}}}}`)
	s := stepback(t, "exec", file(t, "order.asl.json", retriedAndCaught), "--virtual-time", "--mock", mocks,
		"--test-case", "Sold", "--json", "--name", "one")
	s.ends(t, exit.OK)
	var got struct {
		Name, Status, Output string
		Events               []struct{ Type string }
	}
	if err := json.Unmarshal([]byte(s.out), &got); err != nil {
		t.Fatal(err)
	}
	if got.Name != "one" || got.Status != "SUCCEEDED" || got.Output != `{"reserved":true}` || len(got.Events) != 10 ||
		s.err != "" {
		t.Errorf("%+v\n%s", got, s.err)
	}
}

func TestExecCountsChildExecutions(t *testing.T) {
	t.Parallel()
	const definition = `{"StartAt":"M","States":{"M":{"Type":"Map","ToleratedFailurePercentage":100,"ItemProcessor":{
		"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"C","States":{
			"C":{"Type":"Choice","Choices":[{"Variable":"$","NumericEquals":2,"Next":"Bad"}],"Default":"Good"},
			"Bad":{"Type":"Fail","Error":"Two","Cause":"it is two"},"Good":{"Type":"Pass","End":true}}},"MaxConcurrency":1,"End":true}}}`
	s := stepback(t, "exec", file(t, "m.asl.json", definition), "--input", "[1,2,3,4]", "--virtual-time")
	s.ends(t, exit.OK, "[1,3,4]")
	for _, want := range []string{
		"M: child execution from item 1 on FAILED Two: it is two\n", "M: 1 child execution ended, with 1 item\n",
		"M: 2 child executions ended, with 2 items; 1 failed\n",
		"M: 4 child executions ended, with 4 items; 1 failed\n",
	} {
		if strings.Count(s.err, want) != 1 {
			t.Errorf("the trace has not one %q:\n%s", want, s.err)
		}
	}
}

func TestExecTracesRetriesOfParallelStates(t *testing.T) {
	t.Parallel()
	const definition = `{"StartAt":"Book","States":{"Book":{"Type":"Parallel","Branches":[
		{"StartAt":"Flight","States":{"Flight":{"Type":"Wait","Seconds":5,"Next":"Sold"},"Sold":{"Type":"Fail","Error":"NoFlight"}}}],
		"Retry":[{"ErrorEquals":["NoFlight"],"IntervalSeconds":7,"MaxAttempts":1}],"Catch":[{"ErrorEquals":["NoFlight"],"Next":"Off"}],"End":true},
		"Off":{"Type":"Succeed"}}}`
	s := stepback(t, "exec", file(t, "m.asl.json", definition), "--virtual-time")
	s.ends(t, exit.OK)
	const want = `   +0.000s  started  {}
   +0.000s  Book: Parallel  {}
   +0.000s    Flight: Wait  {}
   +5.000s    Flight: done  {}
   +5.000s    Sold: Fail  {}
  +12.000s  Book: retry 1, 7.000s after the failure
  +12.000s    Flight: Wait  {}
  +17.000s    Flight: done  {}
  +17.000s    Sold: Fail  {}
  +17.000s  Book: failed
  +17.000s  Book: caught  {"Error":"NoFlight","Cause":null}
  +17.000s  Off: Succeed  {"Error":"NoFlight","Cause":null}
  +17.000s  Off: done  {"Error":"NoFlight","Cause":null}
SUCCEEDED after 17s, 15 events
`
	if s.err != want {
		t.Errorf("the trace is\n%s", s.err)
	}
}

// If a function hangs in virtual time, its state's timeout of an hour passes as soon as the patience is used up.
func TestExecAFunctionThatHangs(t *testing.T) {
	t.Parallel()
	const definition = `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:lambda:us-east-1:000000000000:function:f","TimeoutSeconds":3600,"End":true}}}`
	s := stepback(t, "exec", file(t, "m.asl.json", definition), "--virtual-time", "--patience", "20ms", "--lambda",
		"f=exec sleep 1000", "--json")
	s.ends(t, exit.Failure, "States.Timeout")
	const said = "stepback: the task of T really took longer than 20ms, so virtual time continued without it; --patience DURATION waits longer\n"
	if !strings.Contains(s.err, said) {
		t.Errorf("%s", s.err)
	}
	stepback(t, "exec", file(t, "m.asl.json", definition), "--virtual-time", "--patience=-1s").complains(t, exit.Usage,
		"--patience -1s is not a positive duration")
}

const twoBranches = `{"StartAt":"Both","States":{"Both":{"Type":"Parallel","End":true,"Branches":[
	{"StartAt":"Address","States":{"Address":{"Type":"Task","Resource":"arn:aws:lambda:us-east-1:000000000000:function:address","End":true}}},
	{"StartAt":"Phone","States":{"Phone":{"Type":"Task","Resource":"arn:aws:lambda:us-east-1:000000000000:function:phone","End":true}}}]}}}`

// States that are aborted because another branch failed are named, although their events do not name them.
func TestExecTracesAbortedBranches(t *testing.T) {
	t.Parallel()
	s := stepback(t, "exec", file(t, "both.asl.json", twoBranches), "--virtual-time",
		"--lambda", "address=sleep 3600", "--lambda", "phone=echo 'Busy: no line' >&2; exit 1")
	s.complains(t, exit.Failure, "Phone: failed Busy", "  Address: aborted\n", "  Phone: aborted\n")
	if n := strings.Count(s.err, "aborted"); n != 2 {
		t.Errorf("%d states are aborted, want 2:\n%s", n, s.err)
	}
}

// Running a definition without its functions, as a first-time user does, reports which ones are missing.
func TestExecSaysWhichFunctionIsMissing(t *testing.T) {
	t.Parallel()
	definition := file(t, "both.asl.json", twoBranches)
	s := stepback(t, "exec", definition, "--lambda", "addr=cat", "--lambda", "phone=sleep 30")
	s.complains(t, exit.Failure, "no implementation of address: give --lambda address=COMMAND, a URL or a bootstrap (stepback exec --help); --lambda has addr, phone\n")
	s = stepback(t, "exec", file(t, "inrow.asl.json", `{"StartAt":"A","States":{
		"A":{"Type":"Task","Resource":"arn:aws:lambda:us-east-1:000000000000:function:stock","Next":"M"},
		"M":{"Type":"Map","Next":"B","ItemProcessor":{"StartAt":"P","States":{
			"P":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"price:live"},"End":true}}}},
		"B":{"Type":"Task","Resource":"arn:aws:lambda:us-east-1:000000000000:function:ship","Next":"C"},
		"C":{"Type":"Task","Resource":"arn:aws:lambda:us-east-1:000000000000:function:stock","Next":"D"},
		"D":{"Type":"Task","Resource":"arn:aws:lambda:us-east-1:000000000000:function:mail","End":true}}}`), "--lambda", "mail=cat")
	s.complains(t, exit.Failure, "no implementation of stock, nor of price, ship (not reached): give --lambda stock=COMMAND")
	s = stepback(t, "exec", definition, "--quiet")
	s.ends(t, exit.Failure)
	if !strings.HasPrefix(s.err, "FAILED\n  error: Lambda.ResourceNotFoundException\n  cause: ") {
		t.Errorf("with --quiet it says %q", s.err)
	}
}

func TestExecJSONHasErrorAndCause(t *testing.T) {
	t.Parallel()
	s := stepback(t, "exec", file(t, "fail.asl.json",
		`{"StartAt":"F","States":{"F":{"Type":"Fail","Error":"Broken","Cause":"by <design>"}}}`), "--json")
	s.ends(t, exit.Failure)
	var got map[string]any
	if err := json.Unmarshal([]byte(s.out), &got); err != nil {
		t.Fatal(err)
	}
	if got["status"] != "FAILED" || got["error"] != "Broken" || got["cause"] != "by <design>" || got["failure"] != nil {
		t.Errorf("the outcome is %s", s.out)
	}
}

const oneTask = `{"StartAt":"Reserve","States":{"Reserve":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke",
	"Parameters":{"FunctionName":"reserve"},"End":true}}}`

// Mocks for another test case, state or machine, or for none, are rejected.
func TestExecRefusesMocksThatMockNothing(t *testing.T) {
	t.Parallel()
	definition := file(t, "order.asl.json", oneTask)
	mocks := file(t, "mocks.json", `{"StateMachines":{"order":{"TestCases":{"Good":{"Reserve":"R"},"Bad":{"Resreve":"R"}}}},
		"MockedResponses":{"R":{"0":{"Return":1}}}}`)
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "--mock needs a test case: give --test-case NAME; order has Bad, Good"},
		{[]string{"--test-case", "Bad"},
			"the test case Bad mocks the state Resreve, which the state machine order does not have; did you mean Reserve?"},
		{[]string{"--test-case", "Goood"},
			"no test case Goood of the state machine order; it has Bad, Good; did you mean Good?"},
		{[]string{"--test-case", "Good", "--machine", "Orders"},
			"no state machine Orders; it has order; did you mean order?: name one of its machines with --machine"},
	} {
		stepback(t, append([]string{"exec", definition, "-q", "--mock", mocks}, test.args...)...).
			complains(t, exit.Usage, test.want)
	}
}

func TestQuietExecSaysWhyItFailed(t *testing.T) {
	t.Parallel()
	definition := file(t, "f.asl.json", `{"StartAt":"F","States":{"F":{"Type":"Fail","Error":"OutOfStock","Cause":"no more"}}}`)
	s := stepback(t, "exec", definition, "-q")
	s.complains(t, exit.Failure)
	if s.err != "FAILED\n  error: OutOfStock\n  cause: no more\n" {
		t.Errorf("standard error is %q", s.err)
	}
}

// run connects to the database first: a port of this machine that is not listening is reported.
func TestRunConnectsToTheDatabaseFirst(t *testing.T) {
	t.Parallel()
	stepback(t, "run", "--data", t.TempDir(), "--db", "postgres://nobody:secret@127.0.0.1:1/x").
		complains(t, exit.Failure, "the database postgres://nobody:xxxxx@127.0.0.1:1/x cannot be used, and nothing was imported")
}
