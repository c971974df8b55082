package console_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/html"

	"stepback/local"
	"stepback/local/services/lambda/durablefunctions"
	"stepback/local/services/lambda/durabletest"
	"stepback/local/services/lambda/functions"
	"stepback/tasks/lambda/invocation"
)

// pay is a durable function: a step that is to be retried after an hour, and then a callback. With the input "bad", its
// step fails for good.
func pay(x *durabletest.Execution, input json.RawMessage) (any, error) {
	o := durabletest.StepOptions{Delay: func(n int, _ *durabletest.Error) time.Duration {
		if string(input) == `"bad"` {
			return 0
		}
		return time.Hour
	}}
	if string(input) == `"broken"` {
		panic("no <i>code</i>")
	}
	_, err := x.Step("charge <i>", o, func(attempt int) (any, error) {
		if attempt == 1 {
			return nil, &durabletest.Error{Type: "Declined<i>", Message: "<script>alert(1)</script>"}
		}
		return map[string]string{"card": "4111-1111"}, nil
	})
	if err != nil {
		return nil, err
	}
	return x.Callback("approval", 600, 60)
}

// durableBed is a bed with the durable function pay.
func durableBed(t *testing.T, c local.Console) *bed {
	t.Helper()
	b := &bed{t: t}
	handler := durabletest.Handler(durabletest.Service(func() *durablefunctions.Service { return b.Durable }), pay)
	p, err := local.Open(context.Background(), local.Config{Console: c, BuiltIn: map[string]functions.BuiltIn{
		"pay": func(functions.Surroundings) (functions.Program, error) {
			return functions.Program{Handler: handler}, nil
		}}})
	if err != nil {
		t.Fatal(err)
	}
	b.Platform = p
	b.end = sync.OnceFunc(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(b.end)
	err = p.Functions.PutLocal(t.Context(), p.Scope, &functions.LocalInput{Name: "pay", BuiltIn: "pay",
		Role: "arn:aws:iam::000000000000:role/r", Durable: &functions.DurableSettings{}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// begin starts an execution of pay and returns its ARN.
func (b *bed) begin(name, input string) string {
	b.t.Helper()
	answer, err := b.Functions.Invoke(b.t.Context(), b.Scope, &invocation.Request{FunctionName: "pay", Qualifier: "$LATEST",
		Type: invocation.Event, DurableExecutionName: name, Payload: []byte(input), Valid: true})
	if err != nil {
		b.t.Fatal(err)
	}
	return answer.DurableExecutionARN
}

// until waits until the page of an execution contains a text, and returns the page.
func (b *bed) until(arn, text string) string {
	b.t.Helper()
	for b.t.Context().Err() == nil {
		if page := b.page("executions/" + url.PathEscape(arn)); strings.Contains(page, text) {
			return page
		}
		runtime.Gosched()
	}
	b.t.Fatalf("no page of %s with %s", arn, text)
	return ""
}

func TestDurablePages(t *testing.T) {
	t.Parallel()
	b := durableBed(t, local.Console{Redact: []string{"card"}})
	arn, bad := b.begin("order-7", `{"card":"4111-1111","note":"<script>alert(1)</script>"}`), b.begin("order-8", `"bad"`)
	waiting := b.until(arn, "attempt 1 failed with Declined&lt;i&gt; at ")
	for _, want := range []string{"Retry now", "next attempt in <b data-until=", "and the execution times out at ", "Stop…",
		`class="wait"`, "times out <b>", "<b>1</b> operation<", "$LATEST"} {
		if !strings.Contains(waiting, want) {
			t.Errorf("the page lacks %s: %s", want, waiting)
		}
	}
	b.until(bad, `<b class="bad">Declined&lt;i&gt;</b>`)
	for path, texts := range map[string][]string{
		"durable":                            {"order-7", "order-8", "RETRYING", "FAILED", "pay", `<option value="pay">`, "2, in <b"},
		"durable?function=pay&retrying=true": {"order-7"},
		"durable?status=FAILED&since=1h":     {"order-8"},
		"durable?error=Declined%3Ci%3E":      {"order-7", "order-8"},
		"durable?function=other":             {"None."},
		"find?q=order-7":                     {"order-7"},
		"lab?machine=pay":                    {"charge &lt;i&gt;", "recorded", "<b>2</b> executions"},
		"retries/pay":                        {"charge &lt;i&gt;"},
		"":                                   {"Something needs attention", "charge &lt;i&gt;", "why the latest failed", "durable?function=pay&amp;error=Declined"},
	} {
		page := b.page(path)
		for _, want := range texts {
			if !strings.Contains(page, want) {
				t.Errorf("%s lacks %s: %s", path, want, page)
			}
		}
		if strings.HasPrefix(path, "durable?") && strings.Contains(page, "order-7") && strings.Contains(page, "order-8") != (len(texts) == 2) {
			t.Errorf("%s: %s", path, page)
		}
	}
	for _, query := range []string{"?tab=events", "?tab=events&e=3", "?tab=events&failed=true", "?tab=data", "?state=charge"} {
		page := b.page("executions/" + url.PathEscape(arn) + query)
		if strings.Contains(page, "4111") {
			t.Errorf("%s shows what is hidden: %s", query, page)
		}
		if query == "?tab=events" && !strings.Contains(page, "StepFailed") {
			t.Error(page)
		}
	}
	if got := b.ask("GET", "/_stepback/executions/"+url.PathEscape(arn)+"?format=test", ""); got.status != http.StatusBadRequest ||
		!strings.Contains(got.body, "this console hides members of them") {
		t.Errorf("%d: %s", got.status, got.body)
	}
	for _, path := range []string{"durable", "executions/" + url.PathEscape(arn)} {
		if got := b.ask("GET", "/_stepback/"+path+"?format=json", ""); !json.Valid([]byte(got.body)) {
			t.Errorf("%s as JSON: %s", path, got.body)
		}
	}
	for path, status := range map[string]int{"executions/" + url.PathEscape(arn+"0"): 404, "durable?after=xyz": 400,
		"durable?since=often": 404, "executions/" + url.PathEscape(strings.Replace(arn, "000000000000", "111111111111", 1)): 404} {
		if got := b.ask("GET", "/_stepback/"+path, ""); got.status != status {
			t.Errorf("%s: %d, want %d", path, got.status, status)
		}
	}
}

func TestDurableActs(t *testing.T) {
	t.Parallel()
	b := durableBed(t, local.Console{})
	act := func(verb string, pairs ...string) string {
		t.Helper()
		form := url.Values{"token": {b.token}}
		for i := 0; i < len(pairs); i += 2 {
			form.Set(pairs[i], pairs[i+1])
		}
		r := b.ask("POST", "/_stepback/act/"+verb, form.Encode(), "Content-Type: application/x-www-form-urlencoded")
		if r.status != http.StatusSeeOther {
			t.Fatalf("%s: %d %s", verb, r.status, r.body)
		}
		_, rest, _ := strings.Cut(b.ask("GET", r.header.Get("Location"), "").body, `class="notice" role="status">`)
		text, _, _ := strings.Cut(rest, "<")
		return html.UnescapeString(text)
	}
	// open returns the ARN of an execution whose callback waits, and the callback's ID.
	open := func(name string) (arn, id string) {
		t.Helper()
		arn = b.begin(name, "{}")
		b.until(arn, "Retry now")
		if said := act("retry-now", "arn", arn, "operation", "none"); !strings.Contains(said, "No STEP with the ID none waits") {
			t.Error(said)
		}
		if said := act("retry-now", "arn", arn, "operation", "1"); said != "The retry has begun." {
			t.Error(said)
		}
		page := b.until(arn, "waits for its callback since ")
		for _, want := range []string{"and times out at ", "Send success", "Send failure", "Send heartbeat", "succeeded, 2 attempts"} {
			if !strings.Contains(page, want) {
				t.Errorf("the page lacks %s: %s", want, page)
			}
		}
		_, rest, _ := strings.Cut(page, `name="id" value="`)
		id, _, _ = strings.Cut(rest, `"`)
		return arn, html.UnescapeString(id)
	}
	arn, id := open("one")
	if said := act("heartbeat-callback", "id", id); said != "The heartbeat was sent." {
		t.Error(said)
	}
	if said := act("succeed-callback", "id", id, "result", "{"); !strings.HasPrefix(said, "Not done: the result is not JSON") {
		t.Error(said)
	}
	if said := act("succeed-callback", "id", id, "result", `{"approved":true}`); said != "The callback has succeeded." {
		t.Error(said)
	}
	b.until(arn, "SUCCEEDED")
	// The execution as a test of the function.
	if got := b.ask("GET", "/_stepback/executions/"+url.PathEscape(arn)+"?format=test", ""); got.status != http.StatusOK ||
		!strings.HasPrefix(got.header.Get("Content-Type"), "text/plain") || !strings.HasPrefix(got.body, "# Recorded from the durable execution one.\n") ||
		!strings.Contains(got.body, `- {error: "Declined<i>", cause: "<script>alert(1)</script>"}`) ||
		!strings.Contains(got.body, `- {return: {"approved":true}`) {
		t.Errorf("%d: %v %s", got.status, got.header, got.body)
	}
	if page := b.page("executions/" + url.PathEscape(arn) + "?tab=data"); !strings.Contains(page, "approved") || strings.Contains(page, "Stop…") {
		t.Error(page)
	}
	if said := act("heartbeat-callback", "id", id); !strings.HasPrefix(said, "Not done: ") {
		t.Error(said)
	}
	arn, id = open("two")
	if said := act("fail-callback", "id", id, "error", "Rejected", "cause", "over budget"); said != "The callback has failed." {
		t.Error(said)
	}
	b.until(arn, "over budget")
	arn, _ = open("three")
	if said := act("stop-durable", "arn", arn, "error", "Mine", "cause", "enough"); said != "Stopped." {
		t.Error(said)
	}
	if page := b.until(arn, "STOPPED"); !strings.Contains(page, "Mine") || strings.Contains(page, "Send success") {
		t.Error(page)
	}
	// A function that fails outside its steps is invoked again, at once on request.
	arn = b.begin("four", `"broken"`)
	page := b.until(arn, "invocation: attempt ")
	for _, want := range []string{" failed with ", "next invocation in <b data-until=", "Retry now", " invocation failed; the last failure was ",
		"no &lt;i&gt;code&lt;/i&gt;", `?tab=events&amp;e=2"`, "Copy as a test case"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s: %s", want, page)
		}
	}
	_, id, _ = strings.Cut(arn, "/durable-execution/four/")
	if said := act("retry-now", "arn", arn, "operation", id); said != "The retry has begun." {
		t.Error(said)
	}
	b.until(arn, " invocations failed; the last failure was ")
	if page := b.page("durable?retrying=true"); !strings.Contains(page, "invocation: ") {
		t.Error(page)
	}
	if page := b.page("executions/" + url.PathEscape(arn) + "?tab=events"); !strings.Contains(page, "no &lt;i&gt;code") {
		t.Error(page)
	}
	if r := b.ask("POST", "/_stepback/act/stop-durable", "arn="+url.QueryEscape(arn), "Content-Type: application/x-www-form-urlencoded"); r.status != http.StatusForbidden {
		t.Errorf("without a token: %d", r.status)
	}
}
