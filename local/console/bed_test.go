package console_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/html"

	"stepback/engine"
	"stepback/engine/history"
	"stepback/local"
)

// stuck is a state machine that waits an hour to retry a missing function.
const stuck = `{"StartAt":"Charge","States":{"Charge":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke",
	"Parameters":{"FunctionName":"none"},"TimeoutSeconds":60,"Retry":[{"ErrorEquals":["States.ALL"],"IntervalSeconds":3600,
	"MaxAttempts":5}],"End":true}}}`

// broken is a state machine that fails at once.
const broken = `{"StartAt":"Each","States":{"Each":{"Type":"Map","ItemsPath":"$.items","ItemProcessor":{"StartAt":"Bad <b>",
	"States":{"Bad <b>":{"Type":"Fail","Error":"Boom<i>","Cause":"\u202e<script>alert(1)</script>"}}},"End":true}}}`

// several is a state machine with a Map Run of which one child fails.
const several = `{"StartAt":"Each","States":{"Each":{"Type":"Map","Label":"L","ItemsPath":"$.items","ToleratedFailurePercentage":100,
	"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"Check","States":{
	"Check":{"Type":"Choice","Choices":[{"Variable":"$","NumericEquals":1,"Next":"Bad"}],"Default":"Good"},
	"Good":{"Type":"Succeed"},"Bad":{"Type":"Fail","Error":"Rotten","Cause":"one of them"}}},"End":true}}}`

// bed is a test platform with a console and executions of each kind.
type bed struct {
	*local.Platform
	t      *testing.T
	engine *engine.Engine
	token  string
	end    func() // closes the platform, once
	stuck  string // ARN of an execution that retries
	broken string // ARN of one that has failed
	mapRun string // ARN of a Map Run with three children
}

func newBed(t *testing.T, c local.Console) *bed {
	t.Helper()
	p, err := local.Open(context.Background(), local.Config{Console: c})
	if err != nil {
		t.Fatal(err)
	}
	b := &bed{Platform: p, t: t, end: sync.OnceFunc(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})}
	t.Cleanup(b.end)
	if b.engine, err = p.Engine(); err != nil {
		t.Fatal(err)
	}
	b.call("CreateStateMachine", map[string]string{"name": "orders", "definition": stuck, "roleArn": "arn:aws:iam::000000000000:role/r"})
	b.call("CreateStateMachine", map[string]string{"name": "maps", "definition": broken, "roleArn": "arn:aws:iam::000000000000:role/r"})
	b.stuck = b.call("StartExecution", map[string]string{"stateMachineArn": machineARN + "orders", "name": "o-1",
		"input": `{"card":"4111-1111","note":"<script>alert(1)</script>"}`})["executionArn"].(string)
	b.broken = b.call("StartExecution", map[string]string{"stateMachineArn": machineARN + "maps", "name": "m-1",
		"input": `{"items":[1,2],"card":"4111-1111"}`})["executionArn"].(string)
	if _, err := b.engine.Wait(t.Context(), b.broken); err != nil {
		t.Fatal(err)
	}
	b.call("CreateStateMachine", map[string]string{"name": "several", "definition": several, "roleArn": "arn:aws:iam::000000000000:role/r"})
	parent := b.call("StartExecution", map[string]string{"stateMachineArn": machineARN + "several", "input": `{"items":[1,2,3]}`})
	if _, err := b.engine.Wait(t.Context(), parent["executionArn"].(string)); err != nil {
		t.Fatal(err)
	}
	runs, err := b.engine.MapRunsOf(t.Context(), parent["executionArn"].(string))
	if err != nil || len(runs) != 1 {
		t.Fatalf("%v %v", runs, err)
	}
	b.mapRun = runs[0].ARN
	b.pending()
	return b
}

const machineARN = "arn:aws:states:us-east-1:000000000000:stateMachine:"

func (b *bed) call(operation string, in any) map[string]any {
	b.t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		b.t.Fatal(err)
	}
	answer := b.ask("POST", "/", string(body), "X-Amz-Target: AWSStepFunctions."+operation,
		"Content-Type: application/x-amz-json-1.0")
	out := map[string]any{}
	if err := json.Unmarshal([]byte(answer.body), &out); err != nil || answer.status != http.StatusOK {
		b.t.Fatalf("%s: %d %s", operation, answer.status, answer.body)
	}
	return out
}

// pending waits until the stuck execution waits for its retry.
func (b *bed) pending() history.Pending {
	b.t.Helper()
	for b.t.Context().Err() == nil {
		found, err := b.engine.Pending(b.t.Context(), b.stuck)
		if err != nil {
			b.t.Fatal(err)
		}
		if len(found) == 1 && found[0].Kind == history.PendingRetry {
			return found[0]
		}
		runtime.Gosched()
	}
	b.t.Fatal("no retry")
	return history.Pending{}
}

type reply struct {
	status int
	header http.Header
	body   string
}

// ask sends a request with the given headers; a Host header sets the request's host.
func (b *bed) ask(method, path, body string, headers ...string) reply {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.Endpoint+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
		if name == "Host" {
			r.Host = value
		}
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return reply{answer.StatusCode, answer.Header, string(text)}
}

// page fetches a page and checks the properties that all pages share.
func (b *bed) page(path string) string {
	b.t.Helper()
	got := b.ask("GET", "/_stepback/"+path, "")
	if got.status != http.StatusOK {
		b.t.Errorf("%s: %d %s", path, got.status, got.body)
	}
	b.checkPage(path, got)
	return got.body
}

// checkPage checks that a page has no inline scripts or styles and no frames, posts forms only to the console, has
// exactly one h1, and shows no payload as markup. It remembers the form token.
func (b *bed) checkPage(path string, got reply) {
	b.t.Helper()
	if !strings.Contains(got.header.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'; style-src 'self'") {
		b.t.Errorf("%s: the policy is %s", path, got.header.Get("Content-Security-Policy"))
	}
	root, err := html.Parse(strings.NewReader(got.body))
	if err != nil {
		b.t.Fatal(err)
	}
	headings := 0
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		attributes := map[string]string{}
		for _, a := range n.Attr {
			attributes[a.Key] = a.Val
			if a.Key == "style" || strings.HasPrefix(a.Key, "on") || strings.HasPrefix(strings.ToLower(a.Val), "javascript:") {
				b.t.Errorf("%s: <%s %s=%q>", path, n.Data, a.Key, a.Val)
			}
		}
		switch n.Data {
		case "h1":
			headings++
		case "style", "iframe", "object", "b-script":
			b.t.Errorf("%s: <%s>", path, n.Data)
		case "script":
			if attributes["src"] != "/_stepback/assets/console.js" || n.FirstChild != nil {
				b.t.Errorf("%s: a script %v", path, attributes)
			}
		case "form":
			if attributes["method"] == "post" && !strings.HasPrefix(attributes["action"], "/_stepback/") {
				b.t.Errorf("%s: a form for %s", path, attributes["action"])
			}
		case "input":
			if attributes["name"] == "token" {
				b.token = attributes["value"]
			}
		}
	}
	if headings != 1 {
		b.t.Errorf("%s: %d headings", path, headings)
	}
	if strings.Contains(got.body, "<script>alert") || strings.Contains(got.body, "<i>") || strings.Contains(got.body, "ZgotmplZ") {
		b.t.Errorf("%s: markup of a payload is in the page", path)
	}
}
