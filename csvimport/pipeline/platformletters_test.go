package pipeline_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"stepback/csvimport/pipeline"
	"stepback/local"
	"stepback/outbox/deadletters"
)

// platform opens a platform with a console that shows all dead letters.
func platform(t *testing.T) *local.Platform {
	t.Helper()
	p, err := local.Open(t.Context(), local.Config{
		Console: local.Console{Who: "ann", LetterStores: (&pipeline.PlatformLetters{}).LetterStores},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func ask(t *testing.T, p *local.Platform, method, path, body string, headers ...string) (text string, header http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, p.Endpoint+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= http.StatusBadRequest {
		t.Fatalf("%s %s: %d %s %v", method, path, answer.StatusCode, all, err)
	}
	return string(all), answer.Header
}

// call calls an operation of a service whose protocol is JSON.
func call(t *testing.T, p *local.Platform, target, in string, out any) {
	t.Helper()
	text, _ := ask(t, p, http.MethodPost, "/", in, "X-Amz-Target", target, "Content-Type", "application/x-amz-json-1.0")
	if err := json.Unmarshal([]byte(text), out); err != nil {
		t.Fatalf("%s: %s", target, text)
	}
}

const brokenItems = `{"StartAt":"Each","States":{"Each":{"Type":"Map","Label":"L","ItemsPath":"$.items","ToleratedFailurePercentage":100,
	"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"Check","States":{
	"Check":{"Type":"Choice","Choices":[{"Variable":"$.good","BooleanEquals":true,"Next":"Good"}],"Default":"Bad"},
	"Good":{"Type":"Succeed"},"Bad":{"Type":"Fail","Error":"Rotten","Cause":"an item"}}},"End":true}}}`

// The console shows failed items of a Map and the messages of a dead-letter queue. The test edits one, tries a
// redrive, redrives it and discards another.
func TestPlatformLettersInTheConsole(t *testing.T) {
	t.Parallel()
	p := platform(t)
	definition, err := json.Marshal(brokenItems)
	if err != nil {
		t.Fatal(err)
	}
	var machine struct{ StateMachineARN string }
	call(t, p, "AWSStepFunctions.CreateStateMachine", `{"name":"fruit","roleArn":"arn:aws:iam::000000000000:role/r","definition":`+
		string(definition)+`}`, &machine)
	var started struct{ ExecutionARN string }
	call(t, p, "AWSStepFunctions.StartExecution", `{"stateMachineArn":"`+machine.StateMachineARN+
		`","input":"{\"items\":[{\"good\":true},{\"good\":false},{\"n\":3,\"good\":false}]}"}`, &started)
	e, err := p.Engine()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Wait(t.Context(), started.ExecutionARN); err != nil {
		t.Fatal(err)
	}
	queueOf(t, p)

	list, _ := ask(t, p, "GET", "/_stepback/deadletters", "")
	for _, want := range []string{"map-items", "failed items of Maps", "queue-orders-dead", "dead-letter queue"} {
		if !strings.Contains(list, want) {
			t.Errorf("the list of stores lacks %s", want)
		}
	}
	if strings.Contains(list, "import-rows") {
		t.Error("there are stores of imports, and no import")
	}
	letterStore, _ := ask(t, p, "GET", "/_stepback/deadletters/map-items", "")
	if !strings.Contains(letterStore, "Rotten") || !strings.Contains(letterStore, `<td class="num" data-l="letters">2</td>`) {
		t.Errorf("the store lacks its letters: %s", letterStore)
	}
	_, token, _ := strings.Cut(letterStore, `name="token" value="`)
	token, _, _ = strings.Cut(token, `"`)
	letters := lettersOf(t, p, "map-items")
	one, other := letters[0], letters[1]
	act := func(verb string, pairs ...string) string {
		t.Helper()
		form := url.Values{"token": {token}, "store": {"map-items"}, "back": {"/_stepback/deadletters"}}
		for i := 0; i < len(pairs); i += 2 {
			form.Set(pairs[i], pairs[i+1])
		}
		_, header := ask(t, p, "POST", "/_stepback/act/"+verb, form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
		text, _ := ask(t, p, "GET", header.Get("Location"), "")
		_, text, _ = strings.Cut(text, `class="notice" role="status">`)
		text, _, _ = strings.Cut(text, "<")
		return html.UnescapeString(text)
	}
	if got := act("edit-letter", "id", one, "payload", "{"); !strings.HasPrefix(got, "Not done: ") || !strings.Contains(got, "line 1") {
		t.Errorf("an edit that is no JSON: %s", got)
	}
	if got := act("edit-letter", "id", one, "payload", `{"good":true}`, "why", "ripe by now"); !strings.HasPrefix(got, "The edited payload is saved") {
		t.Error(got)
	}
	page, _ := ask(t, p, "GET", "/_stepback/deadletters/map-items/"+url.PathEscape(one), "")
	for _, want := range []string{`<div class="minus">`, `<div class="plus">`, "ripe by now", "ann"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of an edited letter lacks %s", want)
		}
	}
	if got := act("letters", "id", one, "do", "try"); got != "Dry run, nothing was done. Letters would be redriven: 1.\n"+one+" would be redriven" {
		t.Error(got)
	}
	if got := act("letters", "id", one, "do", "redrive"); got != "Letters redriven: 1.\n"+one+" redriven" {
		t.Error(got)
	}
	if got := act("letters", "id", one, "do", "redrive"); !strings.Contains(got, "not dead") {
		t.Error(got)
	}
	if got := act("letters", "id", other, "do", "discard"); !strings.HasPrefix(got, "Not done: ") {
		t.Errorf("discarded without a reason: %s", got)
	}
	if got := act("letters", "all", "1", "do", "discard", "why", "rotten", "error", "Rotten"); got != "Letters discarded: 1.\n"+other+" discarded" {
		t.Error(got)
	}
	if got := lettersOf(t, p, "map-items"); len(got) != 0 {
		t.Errorf("letters are left: %v", got)
	}
	if got := lettersOf(t, p, "queue-orders-dead"); len(got) != 1 {
		t.Errorf("in the queue are %v", got)
	}
}

func lettersOf(t *testing.T, p *local.Platform, letterStore string) (ids []string) {
	t.Helper()
	var view struct {
		Kind    deadletters.Kind
		Letters []struct{ ID string }
	}
	text, _ := ask(t, p, "GET", "/_stepback/deadletters/"+letterStore+"?format=json", "")
	if err := json.Unmarshal([]byte(text), &view); err != nil || view.Kind == "" {
		t.Fatalf("%s: %v", text, err)
	}
	for _, l := range view.Letters {
		ids = append(ids, l.ID)
	}
	return ids
}

// queueOf creates a queue with a dead-letter queue that contains a message.
func queueOf(t *testing.T, p *local.Platform) {
	t.Helper()
	var made struct{ QueueURL string }
	call(t, p, "AmazonSQS.CreateQueue", `{"QueueName":"orders-dead"}`, &made)
	call(t, p, "AmazonSQS.SendMessage", `{"QueueUrl":"`+made.QueueURL+`","MessageBody":"{\"n\":1}"}`, &struct{}{})
	policy := `{\"deadLetterTargetArn\":\"arn:aws:sqs:us-east-1:000000000000:orders-dead\",\"maxReceiveCount\":\"3\"}`
	call(t, p, "AmazonSQS.CreateQueue", `{"QueueName":"orders","Attributes":{"RedrivePolicy":"`+policy+`"}}`, &made)
}

// A fresh platform has no bucket, no queue and no execution, and asking for its stores creates none.
func TestStoresOfAFreshPlatform(t *testing.T) {
	t.Parallel()
	p := platform(t)
	letterStores, err := (&pipeline.PlatformLetters{}).LetterStores(t.Context(), p)
	if err != nil || len(letterStores) != 1 || letterStores[0].Name != "map-items" {
		t.Fatalf("%v %v", letterStores, err)
	}
	groups, err := letterStores[0].Store.Groups(context.Background(), deadletters.Filter{})
	if err != nil || len(groups) != 0 {
		t.Errorf("%v %v", groups, err)
	}
	if buckets, _ := ask(t, p, "GET", "/", "", "Authorization", "AWS4-HMAC-SHA256 "+
		"Credential=local/20261127/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"); strings.Contains(buckets, "<Bucket>") {
		t.Errorf("looking has made a bucket: %s", buckets)
	}
}
