package queue_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stepback/local/services/sqs/queue"
)

const day = 24 * 60 * 60 * 1000

// counting returns a function that generates the receipts 1, 2, 3, …
func counting() func() uint64 {
	n := uint64(0)
	return func() uint64 { n++; return n }
}

func send(q *queue.Queue, now int64, seq uint64, group string, delay int64) {
	q.Put(&queue.Message{Seq: seq, Body: seq, Origin: seq, Group: group, Sent: now, VisibleAt: now + delay})
}

func seqs(messages []*queue.Message) string {
	words := make([]string, len(messages))
	for i, m := range messages {
		words[i] = fmt.Sprint(m.Seq)
	}
	return strings.Join(words, " ")
}

func TestStandardQueue(t *testing.T) {
	t.Parallel()
	q := queue.New(queue.Settings{Retention: day, MaxReceives: 2})
	receipt := counting()
	send(q, 0, 1, "", 0)
	send(q, 0, 2, "", 5000)
	send(q, 0, 3, "", 0)
	receive := func(now int64, n int, hidden int64) string {
		got, dead := q.Receive(now, n, hidden, receipt)
		return strings.TrimSpace(seqs(got) + "; " + seqs(dead))
	}
	if got := q.Counts(0); got != (queue.Counts{Visible: 2, Delayed: 1}) {
		t.Errorf("counts %+v", got)
	}
	for _, step := range []struct {
		now  int64
		n    int
		want string
	}{
		{0, 1, "1;"}, {1, 10, "3;"}, {4999, 10, ";"}, {5000, 10, "2;"}, {30_000, 10, "1;"}, {30_001, 10, "3;"},
		{60_000, 10, "2; 1"}, {60_001, 10, "; 3"}, {90_000, 10, "; 2"},
	} {
		if got := receive(step.now, step.n, 30_000); got != step.want {
			t.Errorf("at %d: %q, want %q", step.now, got, step.want)
		}
	}
	send(q, 100_000, 4, "", 0)
	receive(100_000, 1, 10_000)
	if m, err := q.Hide(105_000, 4, 99, 20_000); err != nil || m.VisibleAt != 125_000 {
		t.Errorf("hidden: %+v %v", m, err)
	}
	if _, err := q.Hide(105_000, 4, 99, queue.MaxHidden); !errors.Is(err, queue.ErrTooLong) {
		t.Errorf("hidden for long: %v", err)
	}
	if at, ok := q.Next(105_000); at != 125_000 || !ok {
		t.Errorf("next %d %v", at, ok)
	}
	if _, err := q.Hide(106_000, 4, 99, 0); err != nil {
		t.Error(err)
	}
	if m, err := q.Hide(106_000, 4, 99, 1000); err != nil || !m.InFlight || m.VisibleAt != 107_000 {
		t.Errorf("hidden once more: %+v %v", m, err)
	}
	if _, err := q.Hide(106_000, 4, 99, 0); err != nil || q.Counts(106_000) != (queue.Counts{Visible: 1}) {
		t.Errorf("visible: %v, %+v", err, q.Counts(106_000))
	}
	if m, err := q.Delete(106_000, 4, 1); m == nil || err != nil {
		t.Errorf("delete by an old receipt: %v %v", m, err)
	}
	if m, err := q.Delete(106_000, 4, 1); m != nil || err != nil {
		t.Errorf("delete again: %v %v", m, err)
	}
	if _, err := q.Hide(106_000, 4, 1, 0); !errors.Is(err, queue.ErrGone) {
		t.Errorf("gone: %v", err)
	}
	send(q, 200_000, 5, "", 0)
	if got := seqs(q.Expire(200_000 + day - 1)); got != "" {
		t.Errorf("expired early: %s", got)
	}
	if got := seqs(q.Expire(200_000 + day)); got != "5" {
		t.Errorf("expired: %s", got)
	}
}

func TestFIFOQueue(t *testing.T) {
	t.Parallel()
	q := queue.New(queue.Settings{FIFO: true, Retention: day, MaxReceives: 2})
	receipt := counting()
	for seq, group := range map[uint64]string{1: "a", 2: "b", 3: "a", 4: "a", 5: "b"} {
		send(q, 0, seq, group, 0)
	}
	receive := func(now int64, n int) string {
		got, dead := q.Receive(now, n, 30_000, receipt)
		return strings.TrimSpace(seqs(got) + "; " + seqs(dead))
	}
	if got := receive(0, 2); got != "1 3;" { // receipts 1 and 2
		t.Errorf("first: %s", got)
	}
	if got := receive(0, 1); got != "2;" { // receipt 3
		t.Errorf("the other group: %s", got)
	}
	if got := receive(1, 10); got != ";" {
		t.Errorf("both groups are in flight: %s", got)
	}
	if _, err := q.Delete(2, 1, 7); !errors.Is(err, queue.ErrExpired) {
		t.Errorf("a wrong receipt: %v", err)
	}
	if m, err := q.Delete(2, 1, 1); m == nil || err != nil {
		t.Errorf("delete: %v %v", m, err)
	}
	if got := receive(3, 10); got != ";" {
		t.Errorf("3 is in flight: %s", got)
	}
	if _, err := q.Hide(4, 3, 2, 0); err != nil {
		t.Error(err)
	}
	if got := receive(5, 10); got != "3 4;" { // receipts 4 and 5
		t.Errorf("the group again: %s", got)
	}
	if _, err := q.Delete(30_000, 2, 3); !errors.Is(err, queue.ErrExpired) {
		t.Errorf("an expired receipt: %v", err)
	}
	if got := receive(40_000, 10); got != "2 5 4; 3" { // 3 has been received twice; 4 follows it
		t.Errorf("the dead one makes room: %s", got)
	}
	q.Remember(0, "k", 9)
	if seq, ok := q.Duplicate(queue.Interval-1, "k"); seq != 9 || !ok {
		t.Errorf("duplicate: %d %v", seq, ok)
	}
	if _, ok := q.Duplicate(queue.Interval, "k"); ok {
		t.Error("a duplicate after five minutes")
	}
	if gone := q.Forget(queue.Interval); !slices.Equal(gone, []string{"k"}) {
		t.Errorf("forgotten: %v", gone)
	}
}

func TestAttempts(t *testing.T) {
	t.Parallel()
	q := queue.New(queue.Settings{FIFO: true, Retention: day})
	send(q, 0, 1, "a", 0)
	got, _ := q.Receive(0, 1, 30_000, counting())
	q.Attempted(0, "x", got)
	again, ok := q.Again(10_000, "x", 30_000)
	if !ok || seqs(again) != "1" || again[0].Receipt != 1 || again[0].VisibleAt != 40_000 || again[0].Receives != 1 {
		t.Errorf("again: %+v %v", again, ok)
	}
	if _, ok := q.Again(40_000, "x", 30_000); ok {
		t.Error("the message is visible again")
	}
}

// TestQueueKeepsItsPromises sends, receives, deletes and hides at random, and compares every result with a plain
// list.
func TestQueueKeepsItsPromises(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		fifo := rapid.Bool().Draw(t, "fifo")
		q := queue.New(queue.Settings{FIFO: fifo, Retention: 1 << 40})
		type known struct {
			group     string
			visibleAt int64
			receipt   uint64
			inFlight  bool
		}
		there := map[uint64]*known{}
		now, next, receipt := int64(1), uint64(0), counting()
		inFlight := func(k *known) bool { return k.inFlight && k.visibleAt > now }
		t.Repeat(map[string]func(*rapid.T){
			"wait": func(t *rapid.T) { now += rapid.Int64Range(0, 50).Draw(t, "ms") },
			"send": func(t *rapid.T) {
				next++
				k := &known{group: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "group"), visibleAt: now}
				if !fifo {
					k.visibleAt += rapid.Int64Range(0, 30).Draw(t, "delay")
				}
				there[next] = k
				send(q, now, next, k.group, k.visibleAt-now)
			},
			"receive": func(t *rapid.T) {
				n, hidden := rapid.IntRange(1, 4).Draw(t, "n"), rapid.Int64Range(1, 60).Draw(t, "hidden")
				first := map[string]uint64{} // of each group's messages in flight
				for seq, k := range there {
					if before, ok := first[k.group]; fifo && inFlight(k) && (!ok || seq < before) {
						first[k.group] = seq
					}
				}
				blocked := func(seq uint64, k *known) bool {
					before, ok := first[k.group]
					return ok && before < seq
				}
				can := 0
				for seq, k := range there {
					if k.visibleAt <= now && !blocked(seq, k) {
						can++
					}
				}
				got, _ := q.Receive(now, n, hidden, receipt)
				if len(got) != min(n, can) {
					t.Fatalf("%d received of %d that could be", len(got), can)
				}
				for _, m := range got {
					k := there[m.Seq]
					if k == nil || k.visibleAt > now || blocked(m.Seq, k) {
						t.Fatalf("%d was received: %+v", m.Seq, k)
					}
					for seq, other := range there {
						if fifo && other.group == k.group && seq < m.Seq && !inFlight(other) {
							t.Fatalf("%d was received before %d", m.Seq, seq)
						}
					}
					k.visibleAt, k.receipt, k.inFlight = now+hidden, m.Receipt, true
				}
			},
			"delete": func(t *rapid.T) {
				if next == 0 {
					return
				}
				seq := rapid.Uint64Range(1, next).Draw(t, "seq")
				k := there[seq]
				if k == nil {
					return
				}
				_, err := q.Delete(now, seq, k.receipt)
				if expired := fifo && !inFlight(k); expired != errors.Is(err, queue.ErrExpired) {
					t.Fatalf("delete: %v, expired %v", err, expired)
				}
				if err == nil {
					delete(there, seq)
				}
			},
			"hide": func(t *rapid.T) {
				for seq, k := range there {
					if inFlight(k) && rapid.Bool().Draw(t, "this") {
						d := rapid.Int64Range(0, 40).Draw(t, "ms")
						if _, err := q.Hide(now, seq, k.receipt, d); err != nil {
							t.Fatal(err)
						}
						k.visibleAt = now + d
						return
					}
				}
			},
			"": func(t *rapid.T) {
				var want queue.Counts
				for _, k := range there {
					switch {
					case k.visibleAt <= now:
						want.Visible++
					case k.inFlight:
						want.InFlight++
					default:
						want.Delayed++
					}
				}
				if got := q.Counts(now); got != want {
					t.Fatalf("counts %+v, want %+v", got, want)
				}
			},
		})
	})
}
