package outboxtest

import (
	"bytes"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"stepback/outbox"
	"stepback/outbox/deadletters"
)

func testTransaction(t *testing.T, o *Table) {
	whole := outbox.Message{
		ID: id(1), Topic: "import.finished", Key: "ユーザー",
		Payload: []byte("\x00\xff"), ContentType: "application/octet-stream",
		Headers:     map[string]string{"A": "b", "Ü": "\"x\""},
		TraceParent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", TraceState: "v=1",
	}
	o.write(t, whole)
	if err := o.Write(t.Context(), false, message(2, "")); err != nil {
		t.Fatal(err)
	}
	all := o.claim(t, "l", 10)
	if len(all) != 1 {
		t.Fatalf("%d messages are there, want the one that was committed", len(all))
	}
	d := all[0]
	if !bytes.Equal(d.Payload, whole.Payload) || !maps.Equal(d.Headers, whole.Headers) {
		t.Errorf("payload %q, headers %q", d.Payload, d.Headers)
	}
	want(t, "ID", d.ID, whole.ID)
	want(t, "topic", d.Topic, whole.Topic)
	want(t, "key", d.Key, whole.Key)
	want(t, "content type", d.ContentType, whole.ContentType)
	want(t, "traceparent", d.TraceParent, whole.TraceParent)
	want(t, "tracestate", d.TraceState, whole.TraceState)
	if err := o.Write(t.Context(), true, message(1, "")); err == nil {
		t.Error("an ID can be written twice")
	}
	many := []outbox.Message{{Topic: "t"}, {Topic: "t"}, {Topic: "t", Payload: []byte("null")}}
	o.write(t, many...)
	if many[0].ID == "" || many[0].ID == many[1].ID {
		t.Errorf("IDs given are %q and %q", many[0].ID, many[1].ID)
	}
	if all := o.claim(t, "m", 10); len(all) != 3 || all[0].ID != many[0].ID || all[2].ID != many[2].ID ||
		all[0].ContentType != outbox.JSON {
		t.Errorf("%d messages, want three in the order in which they were written", len(all))
	}
}

func testInvalidMessages(t *testing.T, o *Table) {
	for field, m := range map[string]outbox.Message{
		"ID":            {ID: "7", Topic: "t"},
		"topic":         {},
		"key":           {Topic: "t", Key: "a\x00b"},
		"payload":       {Topic: "t", Payload: make([]byte, outbox.MaxPayload+1)},
		"headers":       {Topic: "t", Headers: map[string]string{"a": "b\r\nSet-Cookie: c"}},
		"content type":  {Topic: "t", ContentType: "a\nb"},
		"trace context": {Topic: "t", TraceParent: strings.Repeat("a", 300)},
	} {
		err := o.Write(t.Context(), true, message(1, ""), m)
		invalid, ok := errors.AsType[*outbox.InvalidMessageError](err)
		if !ok || invalid.Field != field {
			t.Errorf("%s: error is %v", field, err)
		}
	}
	if all := o.claim(t, "l", 10); len(all) != 0 {
		t.Errorf("%d messages were written", len(all))
	}
}

func testLargestPayload(t *testing.T, o *Table) {
	large := message(1, "")
	large.Payload = bytes.Repeat([]byte("x"), outbox.MaxPayload)
	o.write(t, large)
	if all := o.claim(t, "l", 10); len(all) != 1 || !bytes.Equal(all[0].Payload, large.Payload) {
		t.Error("10 MB do not come back as they were written")
	}
}

func testOutcomes(t *testing.T, o *Table) {
	o.writeAll(t, 1, 4, "")
	all := o.claim(t, "l", 10)
	want(t, "claimed", numbers(t, all), "[1 2 3 4]")
	if again := o.claim(t, "m", 10); len(again) != 0 {
		t.Errorf("%d messages are claimed twice", len(again))
	}
	failed := outcome(all[1], outbox.Failed)
	failed.After, failed.Error, failed.Cause = time.Hour, "TimeoutError", "too slow"
	dead := outcome(all[2], outbox.Dead)
	dead.Reason, dead.Error, dead.Cause = outbox.ReasonRefused, "InvalidInput", "no"
	outcomes := []outbox.Settlement{outcome(all[0], outbox.Sent), failed, dead, outcome(all[3], outbox.Pending)}
	o.settle(t, outcomes...)
	if n, err := o.Store.Settle(t.Context(), outcomes); n != 0 || err != nil {
		t.Errorf("a repeated Settle changes %d messages, %v", n, err)
	}
	sent := o.show(t, 1)
	want(t, "message 1", sent.State, deadletters.Delivered)
	want(t, "its attempts", sent.Attempts, 0)
	waits := o.show(t, 2)
	want(t, "message 2", waits.State, deadletters.Underway)
	want(t, "its attempts", waits.Attempts, 1)
	want(t, "its error", waits.Error, "TimeoutError")
	want(t, "its cause", waits.Cause, "too slow")
	if wait := waits.NextAttemptAt.Sub(waits.LastAttemptAt).Round(time.Second); wait != time.Hour {
		t.Errorf("it waits %v, want 1h", wait)
	}
	gone := o.show(t, 3)
	want(t, "message 3", gone.State, deadletters.Dead)
	want(t, "its reason", gone.Reason, outbox.ReasonRefused)
	want(t, "its attempts", gone.Attempts, 1)
	if gone.DeadAt.IsZero() {
		t.Error("it has no time of death")
	}
	next := o.claim(t, "n", 10)
	want(t, "claimed next", numbers(t, next), "[4]")
	want(t, "retries of what was not attempted", next[0].Retries, 0)
	d, ok, err := o.Store.NextDue(t.Context())
	if err != nil || !ok || d > time.Hour || d < 59*time.Minute {
		t.Errorf("the next is due in %v, %v, %v; want an hour", d, ok, err)
	}
}

func testOrder(t *testing.T, o *Table) {
	o.write(t, message(1, "a"), message(2, "b"), message(3, "a"), message(4, ""), message(5, "a"), message(6, "b"))
	claimed, err := o.Store.Claim(t.Context(),
		outbox.Claim{Lease: "l", For: time.Hour, Limit: 10, PerKey: 2, Bytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	all := claimed.Messages
	want(t, "claimed, two of a key", numbers(t, all), "[4 1 3 2 6]")
	want(t, "claimed meanwhile", numbers(t, o.claim(t, "m", 10)), "[]")
	// 1 is sent; 3 fails and is due again in an hour; 2 is sent and 6 is released.
	failed := outcome(all[2], outbox.Failed)
	failed.After = time.Hour
	o.settle(t, outcome(all[0], outbox.Sent), outcome(all[1], outbox.Sent), failed, outcome(all[3], outbox.Sent),
		outcome(all[4], outbox.Pending))
	o.writeAll(t, 7, 7, "a")
	next := o.claim(t, "n", 10)
	want(t, "claimed while a waits", numbers(t, next), "[6]")
	o.settle(t, outcome(next[0], outbox.Sent))
	want(t, "claimed while a waits", numbers(t, o.claim(t, "o", 10)), "[]")
}

// testOrderAfterDeath checks that a dead letter no longer holds up its key, and that it is sent in its original
// position when it is redriven.
func testOrderAfterDeath(t *testing.T, o *Table) {
	o.writeAll(t, 1, 3, "k")
	first := o.claim(t, "a", 1)
	want(t, "claimed", numbers(t, first), "[1]")
	want(t, "claimed meanwhile", numbers(t, o.claim(t, "b", 10)), "[]") // 2 and 3 are parked
	dead := outcome(first[0], outbox.Dead)
	dead.Reason = outbox.ReasonRefused
	o.settle(t, dead)
	second := o.claim(t, "c", 1)
	want(t, "claimed after the death of 1", numbers(t, second), "[2]")
	if err := o.Letters.Redrive(t.Context(), id(1), deadletters.By{Who: "me"}); err != nil {
		t.Fatal(err)
	}
	want(t, "claimed while 2 is sent", numbers(t, o.claim(t, "d", 10)), "[]")
	o.settle(t, outcome(second[0], outbox.Sent))
	want(t, "claimed then", numbers(t, o.claim(t, "e", 10)), "[1 3]")
}

// testLongQueueIsParked makes a key with a long queue wait for a retry: other messages are found at once.
func testLongQueueIsParked(t *testing.T, o *Table) {
	const length = 300
	var queue []outbox.Message
	for n := 1; n <= length; n++ {
		queue = append(queue, message(n, "slow"))
	}
	o.write(t, queue...)
	head := o.claim(t, "a", 1)
	failed := outcome(head[0], outbox.Failed)
	failed.After = time.Hour
	o.settle(t, failed)
	o.write(t, message(length+1, "other"))
	want(t, "claimed behind the queue", numbers(t, o.claim(t, "b", 8)), "[301]")
	claimed, err := o.Store.Claim(t.Context(),
		outbox.Claim{Lease: "l", For: time.Hour, Limit: 8, PerKey: 8, Bytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if len(claimed.Messages) > 0 || claimed.More {
		t.Errorf("%d messages are claimed, more: %v; the queue is to be parked", len(claimed.Messages), claimed.More)
	}
}

func testTidy(t *testing.T, o *Table) {
	o.writeAll(t, 1, 4, "")
	all := o.claim(t, "a", 4)
	dead := outcome(all[1], outbox.Dead)
	dead.Reason = outbox.ReasonRefused
	failed := outcome(all[2], outbox.Failed)
	failed.After = 1000 * time.Hour
	o.settle(t, outcome(all[0], outbox.Sent), dead, failed)
	tidy := func(want outbox.Tidied, how outbox.Tidy) {
		t.Helper()
		how.Limit = 100
		if done, err := o.Store.Tidy(t.Context(), how); err != nil || done != want {
			t.Errorf("%+v does %+v, %v; want %+v", how, done, err, want)
		}
	}
	tidy(outbox.Tidied{}, outbox.Tidy{Retention: time.Hour})
	tidy(outbox.Tidied{}, outbox.Tidy{Retention: -1})
	tidy(outbox.Tidied{Deleted: 1}, outbox.Tidy{})
	if _, err := o.Letters.Show(t.Context(), id(1)); !errors.Is(err, deadletters.ErrNotFound) {
		t.Errorf("what was sent is still there: %v", err)
	}
	want(t, "the dead letter", o.show(t, 2).State, deadletters.Dead)
	// No relay sets a wait of 1000 hours, so the clock must have been set back.
	tidy(outbox.Tidied{}, outbox.Tidy{Retention: time.Hour, Longest: 2000 * time.Hour})
	tidy(outbox.Tidied{Mended: 1}, outbox.Tidy{Retention: time.Hour, Longest: 2 * time.Hour})
	want(t, "claimed after it was fixed", numbers(t, o.claim(t, "b", 10)), "[3]")
}

func testStats(t *testing.T, o *Table) {
	if s, err := o.Store.Stats(t.Context()); err != nil || s != (outbox.Stats{}) {
		t.Errorf("an empty outbox has %+v, %v", s, err)
	}
	o.writeAll(t, 1, 4, "")
	o.writeAll(t, 5, 7, "k")
	all := o.claim(t, "a", 4)
	want(t, "claimed", len(all), 4)
	dead := outcome(all[1], outbox.Dead)
	dead.Reason = outbox.ReasonRefused
	failed := outcome(all[2], outbox.Failed)
	failed.After = time.Hour
	o.settle(t, outcome(all[0], outbox.Sent), dead, failed)
	s, err := o.Store.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s.Oldest < 0 || s.Oldest > time.Hour {
		t.Errorf("the oldest has been there for %v", s.Oldest)
	}
	s.Oldest = 0
	want(t, "stats", s, outbox.Stats{Pending: 3, Processing: 1, Failed: 1, Dead: 1})
}
