package storetest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"stepback/csvimport"
	"stepback/outbox"
)

// Conclude tests a store as a csvimport.Concluder, with the outbox in the same database.
func Conclude(t *testing.T, store csvimport.Store, box outbox.Store) {
	t.Helper()
	message := func(run csvimport.Run, topic string) outbox.Message {
		return outbox.Message{ID: csvimport.MessageID(run, topic), Topic: topic, Payload: []byte(`{}`)}
	}
	sent := func() []string {
		var mu sync.Mutex
		var all []string
		relay, err := outbox.New(outbox.Config{Store: box, Sink: outbox.SinkFunc(
			func(_ context.Context, m *outbox.Message) error {
				mu.Lock()
				defer mu.Unlock()
				all = append(all, m.Topic+" "+m.ID)
				return nil
			})})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := relay.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		slices.Sort(all)
		return all
	}
	first := csvimport.Run{File: csvimport.Source{Bucket: "b", Key: "k", ETag: "e"}, Name: "r1"}
	second := first
	second.Name = "r2"
	conclude := func(run csvimport.Run, messages ...outbox.Message) error {
		return csvimport.Conclude(t.Context(), store, run, csvimport.Conclusion{Applied: 1}, messages)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := conclude(first, message(first, "finished"), message(first, "letters")); err != nil {
				t.Errorf("Conclude: %v", err)
			}
		})
	}
	all.Wait()
	want := "finished " + csvimport.MessageID(first, "finished") + ",letters " + csvimport.MessageID(first, "letters")
	if got := strings.Join(sent(), ","); got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
	// A message that cannot be written leaves the run unconcluded.
	if err := conclude(second, message(second, "finished"), outbox.Message{ID: "no UUID", Topic: "t"}); err == nil {
		t.Error("a message without a valid ID was written")
	}
	if got := sent(); len(got) > 0 {
		t.Errorf("sent %v", got)
	}
	if err := conclude(second, message(second, "finished")); err != nil {
		t.Fatal(err)
	}
	if err := conclude(first, message(first, "finished")); err != nil {
		t.Fatal(err)
	}
	if got := sent(); len(got) != 1 || got[0] != "finished "+csvimport.MessageID(second, "finished") {
		t.Errorf("sent %v", got)
	}
}
