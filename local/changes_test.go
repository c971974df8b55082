package local

import (
	"testing"

	"stepback/engine/journal"
	"stepback/local/console"
)

func stepOf(arn, mapRun string) *journal.Execution {
	x := &journal.Execution{}
	x.ARN, x.MapRunARN = arn, mapRun
	return x
}

// told reports whether the watcher has been notified.
func told(w console.Watch) bool {
	select {
	case <-w.Changed:
		return true
	default:
		return false
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	c := newChanges()
	all, one, children := c.watch(nil), c.watch([]string{"x-1"}), c.watch([]string{"x-2", "run-1"})
	c.follow(stepOf("x-1", ""), nil)
	if !told(all) || !told(one) || told(children) {
		t.Error("a step is not told to those who look at it")
	}
	c.follow(stepOf("x-1", ""), nil)
	c.follow(stepOf("child", "run-1"), nil)
	if told(all) || told(one) || !told(children) {
		t.Error("who has not asked to be told again is told")
	}
	if n := c.armed.Load(); n != 0 {
		t.Errorf("%d are to be told", n)
	}
	one.Again()
	one.Again()
	if n := c.armed.Load(); n != 1 {
		t.Errorf("%d are to be told", n)
	}
	c.follow(stepOf("x-1", ""), nil)
	if !told(one) {
		t.Error("who has asked to be told again is not told")
	}
	for _, w := range []console.Watch{all, one, children} {
		w.Stop()
		w.Stop()
	}
	if n, m := c.armed.Load(), *c.watchers.Load(); n != 0 || len(m) != 0 {
		t.Errorf("%d are to be told, %v are left", n, m)
	}
	c.end()
	c.end()
	<-all.Ended
}

// BenchmarkFollow measures the cost of a child execution's step while sixteen pages are open, one of which waits for
// something else.
func BenchmarkFollow(b *testing.B) {
	c := newChanges()
	for range 15 {
		c.watch(nil)
	}
	c.watch([]string{"arn:aws:states:us-east-1:000000000000:execution:quiet:q"})
	x := stepOf("arn:aws:states:us-east-1:000000000000:execution:m/L:01234567-89ab-8000-8000-000000000001",
		"arn:aws:states:us-east-1:000000000000:mapRun:m/L:01234567-89ab-8000-8000-000000000000")
	for b.Loop() {
		c.follow(x, nil)
	}
}
