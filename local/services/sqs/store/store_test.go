package store_test

import (
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/local/services/sqs/queue"
	"stepback/local/services/sqs/store"
)

func begin(t *testing.T, s *store.Store) *store.Batch {
	t.Helper()
	b, err := s.Begin()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What was synced survives a crash that keeps nothing else.
func TestWhatWasSyncedSurvivesACrash(t *testing.T) {
	t.Parallel()
	disk := vfs.NewCrashableMem()
	s, err := store.Open("/sqs", disk)
	if err != nil {
		t.Fatal(err)
	}
	if names, _ := disk.List("/sqs"); len(names) != 0 {
		t.Errorf("an unused store has %v", names)
	}
	kept := &queue.Message{Seq: 7, Body: 5, Origin: 6, Group: "g", Source: "arn:a", Sent: 1000, Receives: 3,
		FirstReceived: 1001, LastReceived: 1002, VisibleAt: 31_002, InFlight: true, Receipt: 1<<64 - 1}
	gone := &queue.Message{Seq: 8, Body: 8, Origin: 8, Sent: 1000}
	b := begin(t, s)
	b.PutQueue(2, []byte("record"))
	b.PutNext(4096)
	b.PutBody(5, []byte("hello"))
	b.PutState(2, kept)
	b.PutBody(8, []byte("gone"))
	b.PutState(2, gone)
	b.PutDuplicate(2, "key", 1000, 7)
	b.PutDuplicate(3, "other", 1000, 9)
	b.PutMove(11, []byte("move"))
	if err := b.Apply()(); err != nil {
		t.Fatal(err)
	}
	b = begin(t, s)
	b.DeleteMessage(2, gone)
	b.DeleteQueue(3)
	if err := b.Apply()(); err != nil {
		t.Fatal(err)
	}
	b = begin(t, s)
	b.PutBody(12, []byte("not waited for"))
	b.Apply()

	salt := s.Salt()
	after := disk.CrashClone(vfs.CrashCloneCfg{})
	if s, err = store.Open("/sqs", after); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.Salt() != salt || salt == 0 {
		t.Errorf("salt %d, want %d", s.Salt(), salt)
	}
	if next, err := s.Next(); next != 4096 || err != nil {
		t.Errorf("next %d %v", next, err)
	}
	var messages []queue.Message
	if err := s.Messages(func(id uint64, m *queue.Message) {
		if id != 2 {
			t.Errorf("queue %d", id)
		}
		messages = append(messages, *m)
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(messages, []queue.Message{*kept}) {
		t.Errorf("messages %+v", messages)
	}
	if body, err := s.Body(5); string(body) != "hello" || err != nil {
		t.Errorf("body %q %v", body, err)
	}
	if body, err := s.Body(8); body != nil || err != nil {
		t.Errorf("a deleted body %q %v", body, err)
	}
	var others []string
	if err := s.Duplicates(func(id uint64, name string, at int64, seq uint64) {
		if id != 2 || at != 1000 || seq != 7 {
			t.Errorf("duplicate %d %d %d", id, at, seq)
		}
		others = append(others, name)
	}); err != nil {
		t.Fatal(err)
	}
	record := func(_ uint64, record []byte) error { others = append(others, string(record)); return nil }
	if err := s.Queues(record); err != nil {
		t.Fatal(err)
	}
	if err := s.Moves(record); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(others, []string{"key", "record", "move"}) {
		t.Errorf("others %v", others)
	}
}
