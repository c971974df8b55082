package console_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"stepback/engine"
	"stepback/local"
)

var pages = []string{
	"", "machines", "machines/orders", "machines/orders?retrying=true", "executions", "executions?retrying=true", "machines/maps?error=Boom%3Ci%3E&since=24h",
	"machines/maps?status=FAILED&since=7d", "machines/orders/edit", "retries", "retries/maps", "deadletters", "lab",
	"lab?machine=maps&p1=0", "services", "services/sqs", "services/s3", "services/sns", "services/lambda", "services/sfn", "chaos", "logs", "find?q=o-1",
}

// signedAsLocal is a header with which a request is the default account's.
const signedAsLocal = "Authorization: AWS4-HMAC-SHA256 Credential=local/20261127/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"

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
		b.stuck: {"Charge: attempt 1 of 6 failed with Lambda.ResourceNotFoundException; the next attempt is at ",
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
	if run := b.page("mapruns/" + url.PathEscape(b.mapRun)); !strings.Contains(run, "<b>3</b> of <b>3</b> items") ||
		!strings.Contains(run, "Rotten") || !strings.Contains(run, "Slowest") {
		t.Errorf("the Map Run's page is %s", run)
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

// TestFiveQuestions checks that one page each shows what is broken now, why it failed, when it retries, and what
// another policy would have done.
func TestFiveQuestions(t *testing.T) {
	t.Parallel()
	b := newBed(t, local.Console{})
	tonight := b.page("")
	for _, want := range []string{"Something needs attention", "Boom&lt;i&gt;", "Lambda.ResourceNotFoundException", "2 of 6"} {
		if !strings.Contains(tonight, want) {
			t.Errorf("the first page lacks %s", want)
		}
	}
	// One click on the latest failure shows where and why it failed.
	if latest := `<a href="/_stepback/executions/` + url.PathEscape(b.broken) + `">why the latest failed</a>`; !strings.Contains(
		strings.ReplaceAll(tonight, "%3a", ":"), latest) {
		t.Errorf("the first page does not lead to %s", latest)
	}
	if failed := b.page("executions/" + url.PathEscape(b.broken)); !strings.Contains(failed, `>Bad &lt;b&gt;</a>, after`) &&
		!strings.Contains(failed, "&lt;script&gt;alert(1)&lt;/script&gt;") {
		t.Error("the page of a failure says neither where nor why")
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
	if got := said(act("retry-now", now)); !strings.HasPrefix(got, "Not done: no pending retry has this ID") {
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
	if got := said(act("redrive", form())); got != "Not done: select executions first" {
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
	if b.checkPage("edit", edited); !strings.Contains(edited.body, "refused") || !strings.Contains(edited.body, "data-line=") {
		t.Error("the editor shows no diagnostics")
	}
	tested := b.ask("POST", "/_stepback/machines/orders/edit", form("definition", stuck, "do", "test", "state", "Charge", "mock", `{"a":1}`), formType)
	if !strings.Contains(tested.body, "<b>SUCCEEDED</b>") {
		t.Error("a state is not tested")
	}

	// These requests must have no effect.
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

// TestPeeks checks the pages of a queue with its messages and a bucket with its objects, and that services which are
// not served have no page.
func TestPeeks(t *testing.T) {
	t.Parallel()
	b := newBed(t, local.Console{})
	b.ask("POST", "/", `{"QueueName":"jobs"}`, "X-Amz-Target: AmazonSQS.CreateQueue", "Content-Type: application/x-amz-json-1.0")
	b.ask("POST", "/", `{"QueueUrl":"http://localhost/000000000000/jobs","MessageBody":"m"}`, "X-Amz-Target: AmazonSQS.SendMessage",
		"Content-Type: application/x-amz-json-1.0")
	b.ask("PUT", "/photos", "", signedAsLocal)
	b.ask("PUT", "/photos/one", "1", signedAsLocal)
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
				r.Cells = r.Cells[1:] // the creation time
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

// TestFaultsComeAndGo adds a fault, which hits a request, and lifts it.
func TestFaultsComeAndGo(t *testing.T) {
	t.Parallel()
	b := newBed(t, local.Console{})
	b.page("chaos")
	act := func(verb string, pairs ...string) string {
		t.Helper()
		v := url.Values{"token": {b.token}, "back": {"/_stepback/chaos"}}
		for i := 0; i < len(pairs); i += 2 {
			v.Set(pairs[i], pairs[i+1])
		}
		r := b.ask("POST", "/_stepback/act/"+verb, v.Encode(), "Content-Type: application/x-www-form-urlencoded")
		return b.ask("GET", r.header.Get("Location"), "").body
	}
	if got := act("add-fault", "fault", "sqs:ListQueus:throttle:1"); !strings.Contains(got, "did you mean ListQueues?") {
		t.Error(got)
	}
	if got := act("add-fault", "fault", "sqs:ListQueues:throttle:1", "for", "5m"); !strings.Contains(got, "<code>sqs:ListQueues:throttle:1</code>") {
		t.Error(got)
	}
	list := func() reply {
		return b.ask("POST", "/", `{}`, "X-Amz-Target: AmazonSQS.ListQueues", "Content-Type: application/x-amz-json-1.0")
	}
	if got := list(); got.status != http.StatusBadRequest || !strings.Contains(got.body, "Rate exceeded") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := act("lift-fault", "id", "1"); !strings.Contains(got, "No active faults.") {
		t.Error(got)
	}
	if got := list(); got.status != http.StatusOK {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestHoldsAndLimits holds retries, releases them, and limits the calls of a function.
func TestHoldsAndLimits(t *testing.T) {
	t.Parallel()
	b := newBed(t, local.Console{})
	b.page("retries")
	act := func(verb string, pairs ...string) string {
		t.Helper()
		v := url.Values{"token": {b.token}, "back": {"/_stepback/retries"}}
		for i := 0; i < len(pairs); i += 2 {
			v.Set(pairs[i], pairs[i+1])
		}
		r := b.ask("POST", "/_stepback/act/"+verb, v.Encode(), "Content-Type: application/x-www-form-urlencoded")
		return b.ask("GET", r.header.Get("Location"), "").body
	}
	const refused = "Not done: name the machine, the error or the state whose retries to hold, or tick all retries"
	if got := act("hold"); !strings.Contains(got, refused) {
		t.Error(got)
	}
	if got := act("hold", "error", " Busy ", "state", "Charge"); !strings.Contains(got, `<td data-l="error">Busy</td><td data-l="state">Charge</td>`) {
		t.Error(got)
	}
	if got := act("release", "error", "Busy"); !strings.Contains(got, "Not done: ") || !strings.Contains(got, `data-l="error">Busy`) {
		t.Error(got)
	}
	if got := act("release", "error", "Busy", "state", "Charge"); !strings.Contains(got, "Released, with 0 due.") || strings.Contains(got, "Held retries") {
		t.Error(got)
	}
	if got := act("limit-calls", "callee", "charge", "rate", "-1"); !strings.Contains(got, "is not understood: give calls per second") {
		t.Error(got)
	}
	if got := act("limit-calls", "callee", "charge", "rate", "2.5"); !strings.Contains(got, `data-l="a second">2.5</td>`) {
		t.Error(got)
	}
	if got := act("limit-calls", "callee", "charge", "rate", "off"); !strings.Contains(got, "Removed the limit of charge.") || strings.Contains(got, "Limited calls") {
		t.Error(got)
	}
	alone := newBed(t, local.Console{ReadOnly: true})
	if got := alone.page("retries"); strings.Contains(got, "Hold retries") {
		t.Error(got)
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
		if strings.Contains(got.body, "4111-1111") {
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
	if got := b.ask("GET", "/", "", signedAsLocal); !strings.Contains(got.body, "ListAllMyBucketsResult") {
		t.Errorf("a client of S3: %s", got.body)
	}
	off := newBed(t, local.Console{Off: true})
	if got := off.ask("GET", "/_stepback/", "", browser); got.status == http.StatusOK {
		t.Errorf("a console that is off: %s", got.body)
	}
}

// TestStream checks that a stream reports a step, and ends when the server does.
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
