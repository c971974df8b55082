package outboxtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"stepback/outbox"
	"stepback/outbox/deadletters"
)

// kill writes messages and turns them into dead letters with a reason and an error.
func (o *Table) kill(t testing.TB, reason, name string, messages ...outbox.Message) {
	t.Helper()
	o.write(t, messages...)
	for range messages {
		all := o.claim(t, "killer", len(messages))
		for _, d := range all {
			s := outcome(d, outbox.Dead)
			s.Reason, s.Error, s.Cause = reason, name, "because"
			o.settle(t, s)
		}
	}
}

func testLetters(t *testing.T, o *Table) {
	m := message(1, "")
	m.Headers = map[string]string{
		outbox.HeaderExecution: "arn:aws:states:us-east-1:000000000000:execution:csv-import:e",
	}
	o.kill(t, outbox.ReasonRefused, "InvalidInput", m, message(2, ""), message(3, ""))
	o.kill(t, outbox.ReasonRetriesExhausted, "TimeoutError", message(4, ""))
	groups, err := o.Letters.Groups(t.Context(), deadletters.Filter{})
	if err != nil || len(groups) != 2 {
		t.Fatalf("groups are %+v, %v", groups, err)
	}
	g := groups[0]
	if g.Oldest.IsZero() || g.Newest.Before(g.Oldest) {
		t.Errorf("the letters died between %v and %v", g.Oldest, g.Newest)
	}
	g.Oldest, g.Newest = time.Time{}, time.Time{}
	want(t, "the larger group", g,
		deadletters.Group{Reason: "refused", Error: "InvalidInput", Subject: "test", Count: 3, Sample: id(1)})
	want(t, "the smaller group", groups[1].Count, 1)
	for _, execution := range []string{m.Headers[outbox.HeaderExecution], "e"} {
		of, err := o.Letters.Groups(t.Context(), deadletters.Filter{Execution: execution})
		if err != nil || len(of) != 1 || of[0].Count != 1 {
			t.Errorf("letters of the execution %s: %+v, %v", execution, of, err)
		}
	}
	page, err := o.Letters.List(t.Context(), deadletters.Query{Limit: 3})
	if err != nil || len(page.Letters) != 3 || page.Next == "" {
		t.Fatalf("the first page has %d letters, next %q, %v", len(page.Letters), page.Next, err)
	}
	l := page.Letters[0]
	want(t, "execution", l.Execution, m.Headers[outbox.HeaderExecution])
	want(t, "cause", l.Cause, "because")
	want(t, "payload", string(l.Payload), `{"n":1}`)
	page, err = o.Letters.List(t.Context(), deadletters.Query{Limit: 3, After: page.Next})
	if err != nil || len(page.Letters) != 1 || page.Letters[0].ID != id(4) || page.Next != "" {
		t.Errorf("the second page is %+v, %v", page, err)
	}
	if _, err := o.Letters.List(t.Context(), deadletters.Query{Limit: 3, After: "x"}); err == nil {
		t.Error("a page that there is not can be asked for")
	}
	for _, missing := range []string{id(9), "x", ""} {
		if _, err := o.Letters.Show(t.Context(), missing); !errors.Is(err, deadletters.ErrNotFound) {
			t.Errorf("showing %q: %v", missing, err)
		}
		if err := o.Letters.Redrive(t.Context(), missing, deadletters.By{Who: "me"}); !errors.Is(err,
			deadletters.ErrNotFound) {
			t.Errorf("redriving %q: %v", missing, err)
		}
	}
}

func testLettersOfAFilter(t *testing.T, o *Table) {
	for n := range 250 {
		reason := []string{outbox.ReasonRefused, outbox.ReasonRetriesExhausted}[n%2]
		key := ""
		if n%50 == 0 {
			key = "k"
		}
		o.kill(t, reason, fmt.Sprint("Error", n%3), message(n, key))
	}
	me := deadletters.Operator{Store: o.Letters, Who: "me"}
	count := func(f deadletters.Filter, pace deadletters.Pace) map[deadletters.Outcome]int {
		t.Helper()
		counts := map[deadletters.Outcome]int{}
		if err := me.Redrive(t.Context(), deadletters.Selection{Filter: &f}, pace, "fixed",
			func(r deadletters.Result) error {
				counts[r.Outcome]++
				return nil
			}); err != nil {
			t.Fatal(err)
		}
		return counts
	}
	dry := count(deadletters.Filter{}, deadletters.Pace{DryRun: true})
	want(t, "dry run", fmt.Sprint(dry), "map[would do:250]")
	want(t, "acts after a dry run", len(actsOf(t, o, "")), 0)
	want(t, "of one key", fmt.Sprint(count(deadletters.Filter{Key: "k"}, deadletters.Pace{})), "map[done:5]")
	want(t, "of one error and reason",
		fmt.Sprint(count(deadletters.Filter{Error: "Error1", Reason: outbox.ReasonRefused}, deadletters.Pace{})),
		"map[done:40]")
	want(t, "of no subject", fmt.Sprint(count(deadletters.Filter{Subject: "none"}, deadletters.Pace{})), "map[]")
	want(t, "before they died",
		fmt.Sprint(count(deadletters.Filter{Until: time.Now().Add(-time.Hour)}, deadletters.Pace{})), "map[]")
	want(t, "since then", fmt.Sprint(count(deadletters.Filter{Since: time.Now().Add(-time.Hour)}, deadletters.Pace{})),
		"map[done:205]")
	want(t, "acts", len(actsOf(t, o, "")), 250)
}

func actsOf(t testing.TB, o *Table, id string) []deadletters.Act {
	t.Helper()
	all, err := o.Letters.Acts(t.Context(), id, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// testTwoOperators makes two operators redrive the same letters at the same time: each letter is sent once.
func testTwoOperators(t *testing.T, o *Table) {
	const letters = 40
	all, ids := make([]outbox.Message, 0, letters), make([]string, 0, letters)
	for n := range letters {
		all = append(all, message(n, ""))
		ids = append(ids, id(n))
	}
	o.kill(t, outbox.ReasonRefused, "InvalidInput", all...)
	var mu sync.Mutex
	counts := map[deadletters.Outcome]int{}
	var operators sync.WaitGroup
	for _, who := range []string{"ann", "bob"} {
		operators.Go(func() {
			one := deadletters.Operator{Store: o.Letters, Who: who}
			err := one.Redrive(
				t.Context(),
				deadletters.Selection{IDs: ids},
				deadletters.Pace{},
				"",
				func(r deadletters.Result) error {
					mu.Lock()
					defer mu.Unlock()
					counts[r.Outcome]++
					if not, ok := errors.AsType[*deadletters.NotDeadError](r.Err); ok &&
						(not.Last == nil || not.Last.Who == who) {
						t.Errorf("%s gets %v, want the name of the faster operator", who, not)
					}
					return nil
				},
			)
			if err != nil {
				t.Error(err)
			}
		})
	}
	operators.Wait()
	want(t, "outcomes", fmt.Sprint(counts), "map[done:40 not dead:40]")
	want(t, "acts", len(actsOf(t, o, "")), letters)
	sent := 0
	for sent < letters {
		some := o.claim(t, "l", 100)
		if len(some) == 0 {
			break
		}
		sent += len(some)
	}
	want(t, "messages to send", sent, letters)
	want(t, "redrives of the first", o.show(t, 0).Redrives, 1)
}

func testEdit(t *testing.T, o *Table) {
	o.kill(t, outbox.ReasonInvalidPayload, "InvalidInput", message(1, ""))
	me := deadletters.Operator{Store: o.Letters, Who: "me"}
	err := me.Edit(t.Context(), id(1), []byte("{\n \"n\": }"), "")
	if bad, ok := errors.AsType[*deadletters.BadActError](err); !ok || !strings.Contains(bad.Why, "line 2, column 7") {
		t.Errorf("an edit that is no JSON: %v", err)
	}
	if err := me.Edit(t.Context(), id(1), make([]byte, deadletters.MaxPayload+1), ""); err == nil {
		t.Error("an edit of more than 10 MB passes")
	}
	want(t, "acts of refused edits", len(actsOf(t, o, "")), 0)
	if err := me.Edit(t.Context(), id(1), []byte(`{"n":"one"}`), "the receiver wants text"); err != nil {
		t.Fatal(err)
	}
	l := o.show(t, 1)
	want(t, "the original", string(l.Payload), `{"n":1}`)
	want(t, "the edit", string(l.Edited), `{"n":"one"}`)
	all := actsOf(t, o, id(1))
	if len(all) != 1 || all[0].At.IsZero() {
		t.Fatalf("acts are %+v", all)
	}
	a := all[0]
	want(t, "act", fmt.Sprint(a.Who, " ", a.Verb, " ", a.ID, ": ", a.Reason),
		"me edit "+id(1)+": the receiver wants text")
	want(t, "before", string(a.Before), `{"payload":{"n":1}}`)
	want(t, "after", string(a.After), `{"payload":{"n":"one"}}`)
	if err := me.Redrive(t.Context(), deadletters.Selection{IDs: []string{id(1)}}, deadletters.Pace{}, "",
		ignore); err != nil {
		t.Fatal(err)
	}
	sent := o.claim(t, "l", 10)
	if len(sent) != 1 || string(sent[0].Payload) != `{"n":"one"}` || sent[0].Retries != 0 {
		t.Errorf("what is sent: %+v", sent)
	}
	if err := me.Edit(t.Context(), id(1), []byte(`1`), ""); !isNotDead(err) {
		t.Errorf("editing a letter that is being sent: %v", err)
	}
	dead := outcome(sent[0], outbox.Dead)
	o.settle(t, dead)
	if err := me.Edit(t.Context(), id(1), []byte(`{"n":1}`), "take it back"); err != nil {
		t.Fatal(err)
	}
	if l := o.show(t, 1); l.Edited != nil || l.Redrives != 1 {
		t.Errorf("after the edit was taken back: edited %q, redriven %d times", l.Edited, l.Redrives)
	}
	if (&deadletters.Operator{Store: o.Letters}).Edit(t.Context(), id(1), []byte(`1`), "") == nil {
		t.Error("a person without a name edits")
	}
}

func ignore(deadletters.Result) error { return nil }

func isNotDead(err error) bool {
	_, ok := errors.AsType[*deadletters.NotDeadError](err)
	return ok
}

func testDiscard(t *testing.T, o *Table) {
	o.kill(t, outbox.ReasonRefused, "InvalidInput", message(1, "k"), message(2, "k"))
	me := deadletters.Operator{Store: o.Letters, Who: "me"}
	one := deadletters.Selection{IDs: []string{id(1)}}
	if err := me.Discard(t.Context(), one, false, " ", ignore); err == nil ||
		!strings.Contains(err.Error(), "give a reason") {
		t.Errorf("a discard without a reason: %v", err)
	}
	var results []deadletters.Result
	for range 2 {
		if err := me.Discard(t.Context(), one, false, "a test message", func(r deadletters.Result) error {
			results = append(results, r)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	want(t, "results", fmt.Sprint(results[0].Outcome, ", ", results[1].Outcome), "done, not dead")
	want(t, "state", o.show(t, 1).State, deadletters.Discarded)
	if done, err := o.Store.Tidy(t.Context(), outbox.Tidy{Limit: 10}); err != nil || done.Deleted != 1 {
		t.Errorf("Tidy: %+v, %v", done, err)
	}
	all := actsOf(t, o, id(1)) // the record outlives the message
	if len(all) != 1 || all[0].Reason != "a test message" {
		t.Fatalf("acts are %+v", all)
	}
	var before deadletters.Snapshot
	if err := json.Unmarshal(all[0].Before, &before); err != nil || before.Status != "dead" ||
		fmt.Sprint(before.Payload) != "map[n:1]" {
		t.Errorf("the record says it was %+v, %v", before, err)
	}
}

func testListen(t *testing.T, o *Table) {
	ctx, cancel := context.WithCancel(t.Context())
	woken := make(chan struct{}, 100)
	done := make(chan error)
	go func() { done <- o.Store.Listen(ctx, func() { woken <- struct{}{} }) }()
	<-woken // once it listens
	for n := range 3 {
		o.write(t, message(n, ""))
		<-woken
	}
	cancel()
	if err := <-done; err == nil {
		t.Errorf("Listen ends with %v", err)
	}
}
