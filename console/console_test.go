package console_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/html"

	"stepback/engine"
	"stepback/engine/history"
	"stepback/local"
)

// stuck waits an hour for the retry of a function that is not there.
const stuck = `{"StartAt":"Charge","States":{"Charge":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke",
	"Parameters":{"FunctionName":"none"},"TimeoutSeconds":60,"Retry":[{"ErrorEquals":["States.ALL"],"IntervalSeconds":3600,
	"MaxAttempts":5}],"End":true}}}`

// broken fails at once.
const broken = `{"StartAt":"Each","States":{"Each":{"Type":"Map","ItemsPath":"$.items","ItemProcessor":{"StartAt":"Bad <b>",
	"States":{"Bad <b>":{"Type":"Fail","Error":"Boom<i>","Cause":"\u202e<script>alert(1)</script>"}}},"End":true}}}`

// bed is a platform with a console, and executions of each kind.
type bed struct {
	*local.Platform
	t      *testing.T
	engine *engine.Engine
	token  string
	end    func() // closes the platform, once
	stuck  string // ARN of an execution that retries
	broken string // of one that has failed
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

// ask sends a request with headers; that of Host is the request's.
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

// page reads a page and checks what holds for all of them.
func (b *bed) page(path string) string {
	b.t.Helper()
	got := b.ask("GET", "/_stepback/"+path, "")
	if got.status != http.StatusOK {
		b.t.Errorf("%s: %d %s", path, got.status, got.body)
	}
	b.sound(path, got)
	return got.body
}

// sound holds that a page has nothing inline, names what can be filled in, and keeps to itself.
func (b *bed) sound(path string, got reply) {
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

var pages = []string{
	"", "machines", "machines/orders", "machines/orders?retrying=true", "executions", "executions?retrying=true", "machines/maps?error=Boom%3Ci%3E&since=24h",
	"machines/maps?status=FAILED&since=7d", "machines/orders/edit", "retries", "retries/maps", "deadletters", "lab",
	"lab?machine=maps&p1=0", "services", "services/sqs", "services/s3", "services/sns", "services/lambda", "services/sfn", "logs", "find?q=o-1",
}

func TestPages(t *testing.T) {
	t.Parallel()
	b := newBed(t, local.Console{})
	for _, path := range pages {
		b.page(path)
		if strings.Contains(path, "?") {
			continue
		}
		if got := b.ask("GET", "/_stepback/"+path+"?format=json", ""); !json.Valid([]byte(got.body)) {
			t.Errorf("%s as JSON: %s", path, got.body)
		}
	}
	for arn, texts := range map[string][]string{
		b.stuck: {"Charge: attempt 1 of 6 failed with Lambda.ResourceNotFoundException; the next one comes at ",
			"and it gives up by", "Retry now", "Stop…", `class="node waiting"`, `class="wait"`},
		b.broken: {"Boom&lt;i&gt;", "FAILED", "Redrive…", "Bad &lt;b&gt;", `class="node failed"`},
	} {
		for _, query := range []string{"", "?tab=events", "?tab=events&e=2", "?tab=events&failed=true", "?tab=data", "?state=Charge"} {
			body := b.page("executions/" + url.PathEscape(arn) + query)
			for _, want := range texts {
				if query == "" && !strings.Contains(body, want) {
					t.Errorf("%s lacks %s", arn, want)
				}
			}
		}
	}
	if got := b.ask("GET", "/_stepback/executions/"+b.broken+"?format=test", ""); !strings.Contains(got.body, "status: FAILED") {
		t.Errorf("as a test case: %s", got.body)
	}
	for path, status := range map[string]int{
		"machines/none": 404, "executions/arn:aws:states:us-east-1:000000000000:execution:orders:none": 404, "mapruns/x": 404,
		"nowhere": 404, "machines/orders?after=xyz": 400, "deadletters/none": 404, "machines/orders?since=often": 404,
	} {
		if got := b.ask("GET", "/_stepback/"+path, ""); got.status != status {
			t.Errorf("%s: %d, want %d", path, got.status, status)
		}
	}
}

// TestFiveQuestions finds what is broken now, why it failed, when it retries, and what another policy would have done,
// each on one page.
func TestFiveQuestions(t *testing.T) {
	t.Parallel()
	b := newBed(t, local.Console{})
	tonight := b.page("")
	for _, want := range []string{"Something needs a look", "Boom&lt;i&gt;", "Lambda.ResourceNotFoundException", "2 of 6"} {
		if !strings.Contains(tonight, want) {
			t.Errorf("the first page lacks %s", want)
		}
	}
	var lab struct {
		States []struct {
			State    string
			Recorded struct{ Calls float64 }
			Cells    []struct{ Level string }
		}
	}
	got := b.ask("GET", "/_stepback/lab?machine=orders&format=json", "")
	if err := json.Unmarshal([]byte(got.body), &lab); err != nil || len(lab.States) != 1 ||
		len(lab.States[0].Cells) != 4 ||
		lab.States[0].State != "Charge" || lab.States[0].Cells[0].Level == "" {
		t.Errorf("%v %s", err, got.body)
	}
}

func TestActs(t *testing.T) {
	t.Parallel()
	b := newBed(t, local.Console{})
	b.page("machines/orders")
	form := func(pairs ...string) string {
		v := url.Values{"token": {b.token}}
		for i := 0; i < len(pairs); i += 2 {
			v.Add(pairs[i], pairs[i+1])
		}
		return v.Encode()
	}
	const formType = "Content-Type: application/x-www-form-urlencoded"
	act := func(verb, body string, headers ...string) reply {
		return b.ask("POST", "/_stepback/act/"+verb, body, append(headers, formType)...)
	}
	said := func(r reply) string {
		t.Helper()
		to := r.header.Get("Location")
		if r.status != http.StatusSeeOther || to == "" {
			t.Fatalf("%d %s", r.status, r.body)
		}
		_, rest, _ := strings.Cut(b.ask("GET", to, "").body, `class="notice" role="status">`)
		text, _, _ := strings.Cut(rest, "<")
		return html.UnescapeString(text)
	}
	p := b.pending()
	now := form("arn", b.stuck, "id", "999")
	if got := said(act("retry-now", now)); !strings.HasPrefix(got, "Not done: no retry of this ID") {
		t.Error(got)
	}
	if got := said(act("retry-now", form("arn", b.stuck, "id", "1"+strings.Repeat("0", 3)))); !strings.HasPrefix(got, "Not done") {
		t.Error(got)
	}
	id := json.Number(jsonOf(t, p.ID)).String()
	if got := said(act("retry-now", form("arn", b.stuck, "id", id))); got != "The retry has begun." {
		t.Error(got)
	}
	for b.pending().Retries != 2 {
		runtime.Gosched()
	}
	started := act("start", form("machine", machineARN+"orders", "name", "o-2", "input", `{"a":1}`))
	if to := started.header.Get("Location"); !strings.Contains(to, "orders:o-2") {
		t.Errorf("%d %s", started.status, to)
	}
	if got := said(act("start", form("machine", machineARN+"orders", "input", `{`))); !strings.Contains(got, "InvalidExecutionInput") {
		t.Error(got)
	}
	if got := said(act("redrive-all", form("of", machineARN+"maps", "dry", "1"))); got != "Dry run: 1 can be redriven. Nothing was done." {
		t.Error(got)
	}
	if got := said(act("redrive-all", form("of", machineARN+"maps"))); got != "Redriven: 1. 1 can be redriven." {
		t.Error(got)
	}
	if got := said(act("redrive", form())); got != "Not done: choose executions first" {
		t.Error(got)
	}
	if got := said(act("stop", form("arn", b.stuck, "error", "Enough"))); got != "Stopped." {
		t.Error(got)
	}
	x, err := b.engine.Wait(t.Context(), b.stuck)
	if err != nil || x.Status != engine.Aborted || x.Failure.Name != "Enough" {
		t.Errorf("%+v, %v", x, err)
	}
	if got := said(act("save", form("machine", machineARN+"orders", "definition", strings.Replace(stuck, "3600", "60", 1)))); got != "Saved as version 1." {
		t.Error(got)
	}
	edited := b.ask("POST", "/_stepback/machines/orders/edit", form("definition", strings.Replace(stuck, `"End":true`, `"Nxt":"x"`, 1)), formType)
	if b.sound("edit", edited); !strings.Contains(edited.body, "refused") || !strings.Contains(edited.body, "data-line=") {
		t.Error("the editor shows no diagnostics")
	}
	tested := b.ask("POST", "/_stepback/machines/orders/edit", form("definition", stuck, "do", "test", "state", "Charge", "mock", `{"a":1}`), formType)
	if !strings.Contains(tested.body, "<b>SUCCEEDED</b>") {
		t.Error("a state is not tested")
	}

	// What must not act.
	for name, r := range map[string]reply{
		"without a token":      act("stop", "arn=x"),
		"with another token":   act("stop", "token=x&arn=x"),
		"of another origin":    act("stop", form("arn", "x"), "Origin: https://evil.example"),
		"of another site":      act("stop", form("arn", "x"), "Sec-Fetch-Site: cross-site"),
		"under another name":   act("stop", form("arn", "x"), "Host: evil.example"),
		"in a frame":           b.ask("GET", "/_stepback/", "", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"),
		"fetched by a page":    b.ask("GET", "/_stepback/", "", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: empty"),
		"a name that rebinds":  b.ask("GET", "/_stepback/", "", "Host: evil.example"),
		"stream of a stranger": b.ask("GET", "/_stepback/stream", "", "Sec-Fetch-Site: cross-site"),
	} {
		if r.status != http.StatusForbidden {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
	if got := b.ask("GET", "/_stepback/", "", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate",
		"Sec-Fetch-Dest: document"); got.status != http.StatusOK {
		t.Errorf("a pasted link: %d", got.status)
	}
}

// TestPeeks sees a queue with its messages, a bucket with its objects, and no page about what is not served.
func TestPeeks(t *testing.T) {
	t.Parallel()
	b := newBed(t, local.Console{})
	b.ask("POST", "/", `{"QueueName":"jobs"}`, "X-Amz-Target: AmazonSQS.CreateQueue", "Content-Type: application/x-amz-json-1.0")
	b.ask("POST", "/", `{"QueueUrl":"http://localhost/000000000000/jobs","MessageBody":"m"}`, "X-Amz-Target: AmazonSQS.SendMessage",
		"Content-Type: application/x-amz-json-1.0")
	b.ask("PUT", "/photos", "")
	b.ask("PUT", "/photos/one", "1")
	for path, want := range map[string]string{
		"services/sqs": `{"columns":["messages","in flight","delayed","redrive policy"],"rows":[["jobs","1","0","0","–"]]}`,
		"services/s3":  `{"columns":["made","objects, up to 1,000"],"rows":[["photos","1"]]}`,
	} {
		var view struct {
			Columns []string
			Rows    []struct {
				Name  string
				Cells []string
			}
		}
		got := b.ask("GET", "/_stepback/"+path+"?format=json", "")
		if err := json.Unmarshal([]byte(got.body), &view); err != nil {
			t.Fatalf("%s: %s", path, got.body)
		}
		rows := [][]string{}
		for _, r := range view.Rows {
			if path == "services/s3" {
				r.Cells = r.Cells[1:] // when it was made
			}
			rows = append(rows, append([]string{r.Name[strings.LastIndexByte(r.Name, '/')+1:]}, r.Cells...))
		}
		if text := jsonOf(t, map[string]any{"columns": view.Columns, "rows": rows}); text != want {
			t.Errorf("%s: %s, want %s", path, text, want)
		}
	}
	if got := b.ask("GET", "/_stepback/services/ec2", ""); got.status != http.StatusNotFound {
		t.Errorf("a service that is not served: %d", got.status)
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestReadOnlyAndOff(t *testing.T) {
	t.Parallel()
	b := newBed(t, local.Console{ReadOnly: true, Redact: []string{"card"}})
	for _, path := range append([]string{"executions/" + b.stuck, "executions/" + b.stuck + "?tab=events",
		"executions/" + b.stuck + "?format=json"}, pages...) {
		got := b.ask("GET", "/_stepback/"+path, "")
		if strings.Contains(got.body, `method="post" action="/_stepback/act`) {
			t.Errorf("%s has actions", path)
		}
		if strings.Contains(got.body, "4111") {
			t.Errorf("%s shows what is redacted", path)
		}
	}
	if got := b.ask("POST", "/_stepback/act/stop", "token=x"); got.status != http.StatusForbidden {
		t.Errorf("an act: %d", got.status)
	}
	const browser = "Accept: text/html,application/xhtml+xml"
	if got := b.ask("GET", "/", "", browser); got.status != http.StatusFound || got.header.Get("Location") != "/_stepback/" {
		t.Errorf("a browser at the root: %d", got.status)
	}
	if got := b.ask("GET", "/", ""); !strings.Contains(got.body, "ListAllMyBucketsResult") {
		t.Errorf("a client of S3: %s", got.body)
	}
	off := newBed(t, local.Console{Off: true})
	if got := off.ask("GET", "/_stepback/", "", browser); got.status == http.StatusOK {
		t.Errorf("a console that is off: %s", got.body)
	}
}

// TestStream hears of a step, and ends when the server does.
func TestStream(t *testing.T) {
	t.Parallel()
	b := newBed(t, local.Console{})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.Endpoint+"/_stepback/stream?of="+url.QueryEscape(b.stuck), nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	read := make([]byte, 1024)
	if n, err := answer.Body.Read(read); err != nil || string(read[:n]) != "retry: 2000\n\n" {
		t.Fatalf("%q, %v", read[:n], err)
	}
	if err := b.engine.RetryNow(t.Context(), b.stuck, b.pending().ID); err != nil {
		t.Fatal(err)
	}
	if n, err := answer.Body.Read(read); err != nil || !strings.Contains(string(read[:n]), "event: change") {
		t.Errorf("%q, %v", read[:n], err)
	}
	go b.end()
	for err == nil {
		_, err = answer.Body.Read(read)
	}
	if !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}
