package engine

import (
	"slices"
	"testing"
)

// TestQueueKeepsOrderAndNothingElse puts more runs into the queue than it moves to its front at once.
func TestQueueKeepsOrderAndNothingElse(t *testing.T) {
	t.Parallel()
	var q queue
	q.start(0, nil)
	var put, got []*run
	for range 3 {
		for range 3000 {
			r := &run{}
			put = append(put, r)
			q.put(r)
		}
		for range 2000 {
			got = append(got, q.take())
		}
	}
	for len(got) < len(put) {
		got = append(got, q.take())
	}
	if !slices.Equal(got, put) {
		t.Error("the runs come in another order")
	}
	for i, r := range q.runs[:cap(q.runs)] {
		if r != nil {
			t.Fatalf("place %d of %d still has a run", i, cap(q.runs))
		}
	}
}
