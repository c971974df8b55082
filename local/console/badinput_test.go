package console_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"stepback/engine/history"
	"stepback/local"
)

// An input of 256 KiB is folded, its page has at most 60 kB compressed, and the event's page shows all of it.
func TestLongPayloads(t *testing.T) {
	t.Parallel()
	b := newBed(t, local.Console{})
	long := strings.Repeat("0123456789abcdef", 16<<10-2)
	arn := b.call("StartExecution", map[string]string{"stateMachineArn": machineARN + "maps", "name": "long",
		"input": `{"items":[],"long":"` + long + `"}`})["executionArn"].(string)
	if _, err := b.engine.Wait(t.Context(), arn); err != nil {
		t.Fatal(err)
	}
	path := "executions/" + url.PathEscape(arn)
	for _, query := range []string{"", "?tab=events", "?tab=data", "?tab=events&e=1"} {
		body := b.page(path + query)
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, _ = z.Write([]byte(body)) // writing to a buffer never fails
		_ = z.Close()
		if n := packed.Len(); n > 60_000 {
			t.Errorf("%s: %d bytes compressed", query, n)
		}
		if whole := strings.Contains(body, long); whole != (query == "?tab=events&e=1" || query == "?tab=data") {
			t.Errorf("%s: all of the input is there: %t", query, whole)
		}
	}
}

// TestValuesAreFolded checks that payload values are not on the pages that people keep open: the execution, its list
// of events, lists of executions. They are one click away, and never shown with --redact.
func TestValuesAreFolded(t *testing.T) {
	t.Parallel()
	b := newBed(t, local.Console{})
	arn := "executions/" + url.PathEscape(b.stuck)
	for _, path := range []string{"", "executions", "machines/orders", arn, arn + "?tab=events"} {
		body := b.page(path)
		_, form, _ := strings.Cut(body, "<textarea")
		form, _, _ = strings.Cut(form, "</textarea>")
		if strings.Contains(strings.Replace(body, form, "", 1), "4111-1111") {
			t.Errorf("%s shows a value of the input", path)
		}
	}
	if events := b.page(arn + "?tab=events"); !strings.Contains(events, "{card, note}") {
		t.Error("the list of events does not name the members of the input")
	}
	if data := b.page(arn + "?tab=data"); !strings.Contains(data, "<details><summary>Input of the execution, ") {
		t.Error("the input is not folded")
	}
	redacted := newBed(t, local.Console{Redact: []string{"card"}})
	arn = "executions/" + url.PathEscape(redacted.stuck)
	if data := redacted.page(arn + "?tab=data"); strings.Contains(data, "4111-1111") ||
		!strings.Contains(data, "Members of the input are hidden") {
		t.Error("an execution can be started with what stands in the place of hidden values")
	}
}

// A search by name finds both executions with this name.
func TestNamesThatAreNotUnique(t *testing.T) {
	t.Parallel()
	b := newBed(t, local.Console{})
	second := b.call("StartExecution", map[string]string{"stateMachineArn": machineARN + "maps", "name": "o-1",
		"input": `{"items":[]}`})["executionArn"].(string)
	found := b.page("find?q=o-1")
	for _, arn := range []string{b.stuck, second} {
		if !strings.Contains(found, "/_stepback/executions/"+url.PathEscape(arn)) && !strings.Contains(found, arn) {
			t.Errorf("%s is not found", arn)
		}
		if page := b.page("executions/" + url.PathEscape(arn)); !strings.Contains(page, "<h1>o-1</h1>") {
			t.Errorf("%s has no page", arn)
		}
	}
}

// If an execution ends while its page is open, the page is notified and then offers what is possible now; actions
// that no longer are get refused.
func TestAnExecutionThatEndsWhileItIsLookedAt(t *testing.T) {
	t.Parallel()
	b := newBed(t, local.Console{})
	path := "executions/" + url.PathEscape(b.stuck)
	before := b.page(path)
	lines := b.stream(t.Context(), url.Values{"of": {b.stuck}})
	id := b.pending().ID
	if err := b.engine.StopExecution(t.Context(), b.stuck, history.NewFailure("Enough", "")); err != nil {
		t.Fatal(err)
	}
	awaitChange(t, lines)
	after := b.page(path)
	if !strings.Contains(before, "Stop…") || strings.Contains(after, "Stop…") || !strings.Contains(after, "ABORTED") ||
		!strings.Contains(after, "Redrive…") {
		t.Error("the page does not follow the end")
	}
	form := url.Values{"token": {b.token}, "arn": {b.stuck}, "id": {jsonOf(t, id)}, "back": {"/_stepback/" + path}}
	r := b.ask("POST", "/_stepback/act/retry-now", form.Encode(), "Content-Type: application/x-www-form-urlencoded")
	if said := b.ask("GET", r.header.Get("Location"), ""); !strings.Contains(said.body, "Not done: ") {
		t.Error("a retry of what has ended is not refused")
	}
}

// stream opens a page's stream and returns its lines.
func (b *bed) stream(ctx context.Context, of url.Values) *bufio.Scanner {
	b.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.Endpoint+"/_stepback/stream?"+of.Encode(), nil)
	if err != nil {
		b.t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = answer.Body.Close() })
	lines := bufio.NewScanner(answer.Body)
	if !lines.Scan() || lines.Text() != "retry: 2000" {
		b.t.Fatalf("the stream begins with %q", lines.Text())
	}
	return lines
}

func awaitChange(t *testing.T, lines *bufio.Scanner) {
	t.Helper()
	for lines.Scan() {
		if lines.Text() == "event: change" {
			return
		}
	}
	t.Error("the stream ends without a change")
}

// A hundred open pages are all notified of one step.
func TestAHundredTabs(t *testing.T) {
	t.Parallel()
	b := newBed(t, local.Console{})
	var tabs sync.WaitGroup
	for i := range 100 {
		of := url.Values{}
		if i%2 == 0 {
			of.Set("of", b.stuck)
		}
		lines := b.stream(t.Context(), of)
		tabs.Go(func() { awaitChange(t, lines) })
	}
	if err := b.engine.RetryNow(t.Context(), b.stuck, b.pending().ID); err != nil {
		t.Fatal(err)
	}
	tabs.Wait()
}

// TestASlowBrowser opens streams without reading them: executions continue, and the server can end.
func TestASlowBrowser(t *testing.T) {
	t.Parallel()
	b := newBed(t, local.Console{})
	for range 4 {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(b.Endpoint, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if _, err := fmt.Fprint(c, "GET /_stepback/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 200 {
		arn := b.call("StartExecution", map[string]string{"stateMachineArn": machineARN + "maps", "name": fmt.Sprint("s-", i),
			"input": `{"items":[]}`})["executionArn"].(string)
		if _, err := b.engine.Wait(t.Context(), arn); err != nil {
			t.Fatal(err)
		}
	}
	b.end()
}

// TestMarkupInEveryPlace puts markup into the names of states, errors, causes, inputs, letters and queues, and into
// request parameters. No page renders it as markup.
func TestMarkupInEveryPlace(t *testing.T) {
	t.Parallel()
	b := newBed(t, local.Console{})
	const evil = `"><script>alert(1)</script><i>`
	for _, path := range []string{
		"find?q=" + url.QueryEscape(evil), "machines/maps?error=" + url.QueryEscape(evil), "executions?error=" + url.QueryEscape(evil),
		"logs?pattern=" + url.QueryEscape(evil), "lab?machine=maps&p1=" + url.QueryEscape(evil),
		"executions/" + url.PathEscape(b.broken) + "?state=" + url.QueryEscape(evil),
		"executions/" + url.PathEscape(b.broken) + "?tab=data&state=" + url.QueryEscape("Bad <b>"),
		"executions/" + url.PathEscape(b.broken) + "?tab=events&e=8", "executions/" + url.PathEscape(b.broken),
	} {
		b.page(path)
	}
	for _, path := range []string{"machines/" + url.PathEscape(evil), "mapruns/" + url.PathEscape(evil),
		"executions/" + url.PathEscape(evil), "deadletters/" + url.PathEscape(evil), "services/" + url.PathEscape(evil)} {
		got := b.ask("GET", "/_stepback/"+path, "")
		if got.status != http.StatusNotFound {
			t.Errorf("%s: %d", path, got.status)
		}
		b.checkPage(path, got)
	}
	// Characters that change the direction of writing only affect their own element.
	page := b.page("executions/" + url.PathEscape(b.broken))
	if at := strings.Index(page, "\u202e"); at >= 0 && !strings.Contains(page[max(0, at-400):at], `dir="auto"`) {
		t.Error("a mark of direction is not kept to its element")
	}
	var view struct{ Cause struct{ Text string } }
	got := b.ask("GET", "/_stepback/executions/"+url.PathEscape(b.broken)+"?format=json", "")
	if err := json.Unmarshal([]byte(got.body), &view); err != nil || !strings.Contains(view.Cause.Text, "<script>") {
		t.Errorf("the JSON has the cause %q, %v", view.Cause.Text, err)
	}
}
