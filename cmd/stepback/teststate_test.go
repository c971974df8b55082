package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stepback/cmd/stepback/exit"
)

const charging = `{"StartAt":"Charge","States":{
	"Charge":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"f","Payload.$":"$"},
		"ResultSelector":{"paid.$":"$.Payload"},"Next":"Done",
		"Retry":[{"ErrorEquals":["States.Timeout"],"MaxAttempts":2}],"Catch":[{"ErrorEquals":["States.ALL"],"Next":"Refund"}]},
	"Done":{"Type":"Succeed"},
	"Refund":{"Type":"Pass","End":true}}}`

func TestTestState(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{
		"machine.json": charging,
		"state.json":   `{"Type":"Pass","Parameters":{"doubled.$":"States.MathAdd($.n, $.n)"},"Next":"Elsewhere"}`,
		"broken.json":  `{"StartAt":"A","States":{"A":{"Type":"Pass"}}}`,
		"input.json":   `{"n": 21}`,
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		args string // FILE and flags; DIR stands for the test's folder
		code int
		want []string
	}{
		"a state by itself": {"state.json --input @DIR/input.json", exit.OK,
			[]string{"SUCCEEDED, next state Elsewhere\n", `"doubled": 42`}},
		"its data": {`state.json --input {"n":1} --inspection-level DEBUG`, exit.OK,
			[]string{"  afterParameters:\n    {\n      \"doubled\": 2\n    }\n"}},
		"a mocked result": {`machine.json --state Charge --mock {"Payload":{"eur":5}}`, exit.OK,
			[]string{"next state Done", `"eur": 5`}},
		"an error to retry": {"machine.json --state Charge --mock-error States.Timeout --retries 1 --inspection-level DEBUG", exit.Failure, []string{"RETRIABLE\n", "Retry[0], again after 2 s"}},
		"no attempts left":  {"machine.json --state Charge --mock-error States.Timeout --retries 2 --inspection-level DEBUG", exit.OK, []string{"CAUGHT_ERROR, next state Refund", "Catch[0]"}},
		"the API's answer": {"machine.json --state Charge --mock-error Declined --mock-cause broke --json", exit.OK,
			[]string{`"status": "CAUGHT_ERROR"`, `"cause": "broke"`}},
		"a result amiss": {`machine.json --state Charge --mock {"StatusCode":"200"}`, exit.Data,
			[]string{"ValidationException: Mock result schema validation error: Field 'StatusCode' must be a number"}},
		"unless not checked": {`machine.json --state Charge --mock {"StatusCode":"200","Payload":1} --mock-validation NONE`, exit.OK, []string{"SUCCEEDED"}},
		"refused as JSON": {`machine.json --state Charge --mock {"StatusCode":"200"} --json`, exit.Data,
			[]string{`"__type":"ValidationException"`}},
		"no such state": {"machine.json --state Pay", exit.Usage,
			[]string{"has no state Pay: name the one to test with --state, one of Charge, Done, Refund"}},
		"a broken machine": {"broken.json --state A", exit.Data, []string{"broken.json:1:26"}},
		"which state": {"machine.json", exit.Usage,
			[]string{"name the state to test with --state, one of Charge, Done, Refund"}},
		"no such file": {"state.json --input @DIR/none.json", exit.Usage, []string{"none.json"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := strings.Fields(strings.ReplaceAll(c.args, "DIR", dir))
			args[0] = filepath.Join(dir, args[0])
			got := stepback(t, append([]string{"test-state"}, args...)...)
			if got.code != c.code {
				t.Errorf("exit status %d, want %d", got.code, c.code)
			}
			for _, want := range c.want {
				if !strings.Contains(got.out+got.err, want) {
					t.Errorf("no %q in\n%s%s", want, got.out, got.err)
				}
			}
		})
	}
}

func TestTestStateShowsHTTPRequests(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"paid":true}`))
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "state.json")
	if err := os.WriteFile(file, []byte(`{"Type":"Task","Resource":"arn:aws:states:::http:invoke","End":true,"Parameters":{
		"ApiEndpoint":"`+server.URL+`/charge","Method":"GET","InvocationConfig":{"ConnectionArn":"arn:aws:events:us-east-1:1:connection/c/1"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	got := stepback(t, "test-state", file, "--inspection-level", "TRACE")
	for _, want := range []string{
		"  request:\n    {\n      \"protocol\": \"http\",\n      \"method\": \"GET\",\n      \"url\": \"" + server.URL +
			"/charge\",",
		"\"statusCode\": \"200\"", `"body": "{\"paid\":true}"`, "\"paid\": true",
	} {
		if got.code != exit.OK || !strings.Contains(got.out, want) {
			t.Errorf("%d: no %q in\n%s%s", got.code, want, got.out, got.err)
		}
	}
}
