package outboxtest

import (
	"bytes"
	"maps"
	"sync"
	"testing"
	"time"

	"stepback/outbox"
)

func testLeaseEnds(t *testing.T, o *Table) {
	o.write(t, message(1, ""), message(2, "k"), message(3, "k"))
	first := o.claimFor(t, "a", 10, -time.Second) // expires before it starts
	want(t, "claimed", numbers(t, first), "[1 2 3]")
	second := o.claim(t, "b", 10)
	want(t, "claimed after the end of the lease", numbers(t, second), "[1 2 3]")
	for i, d := range second {
		want(t, "leases that ended", d.Expiries, 1)
		want(t, "retries", d.Retries, 0)
		if n, err := o.Store.Settle(t.Context(), []outbox.Settlement{outcome(first[i], outbox.Dead)}); n != 0 ||
			err != nil {
			t.Errorf("who lost the lease settles %d messages, %v", n, err)
		}
	}
	for _, d := range second {
		o.settle(t, outcome(d, outbox.Sent))
	}
}

func testExtend(t *testing.T, o *Table) {
	o.writeAll(t, 1, 2, "")
	all := o.claimFor(t, "a", 10, -time.Second)
	if err := o.Store.Extend(t.Context(), []outbox.Held{{Seq: all[0].Seq, Lease: all[0].Lease},
		{Seq: all[1].Seq, Lease: "another"}}, time.Hour); err != nil {
		t.Fatal(err)
	}
	want(t, "claimed after one lease was extended", numbers(t, o.claim(t, "b", 10)), "[2]")
	o.settle(t, outcome(all[0], outbox.Sent))
}

func testAbandon(t *testing.T, o *Table) {
	o.writeAll(t, 1, 2, "")
	o.writeAll(t, 3, 4, "k")
	held := o.claim(t, "import#", 10)
	want(t, "claimed", numbers(t, held), "[1 2 3 4]")
	o.writeAll(t, 5, 5, "")
	others := o.claim(t, "import 2#", 10)
	want(t, "claimed by another relay", numbers(t, others), "[5]")
	abandon := func(relay string, messages int) {
		t.Helper()
		if n, err := o.Store.Abandon(t.Context(), relay); err != nil || n != messages {
			t.Errorf("%s abandons %d messages, %v; want %d", relay, n, err, messages)
		}
	}
	abandon("impor", 0)
	abandon("import", 4)
	abandon("import", 0) // they are due
	taken := o.claim(t, "import#", 10)
	want(t, "claimed after they were abandoned", numbers(t, taken), "[1 2 3 4]")
	for _, d := range taken {
		want(t, "leases that ended", d.Expiries, 1)
		o.settle(t, outcome(d, outbox.Sent))
	}
	o.settle(t, outcome(others[0], outbox.Sent))
	abandon("import", 0)
}

func testRelease(t *testing.T, o *Table) {
	o.writeAll(t, 1, 2, "")
	o.writeAll(t, 3, 4, "k")
	held := o.claim(t, "import#", 10)
	want(t, "claimed", numbers(t, held), "[1 2 3 4]")
	lease := held[0].Lease
	o.writeAll(t, 5, 5, "")
	others := o.claim(t, lease, 10) // its lease begins alike
	want(t, "claimed by another claim", numbers(t, others), "[5]")
	o.writeAll(t, 6, 6, "k")
	want(t, "claimed while the key is held", numbers(t, o.claim(t, "other", 10)), "[]")
	release := func(lease string, messages int) {
		t.Helper()
		if n, err := o.Store.Release(t.Context(), lease); err != nil || n != messages {
			t.Errorf("%s releases %d messages, %v; want %d", lease, n, err, messages)
		}
	}
	release("import#", 0)
	release(lease, 4)
	release(lease, 0)
	taken := o.claim(t, "other", 10)
	want(t, "claimed after they were released", numbers(t, taken), "[1 2 3 4 6]")
	for _, d := range taken {
		want(t, "leases that ended", d.Expiries, 0)
		want(t, "failed attempts", d.Retries, 0)
		o.settle(t, outcome(d, outbox.Sent))
	}
	o.settle(t, outcome(others[0], outbox.Sent))

	o.writeAll(t, 7, 7, "")
	failed := outcome(o.claim(t, "a", 10)[0], outbox.Failed)
	failed.After = 0
	o.settle(t, failed)
	release(o.claim(t, "b", 10)[0].Lease, 1)
	again := o.claim(t, "c", 10)
	want(t, "a retry, claimed after it was released", numbers(t, again), "[7]")
	want(t, "its failed attempts", again[0].Retries, 1)
	o.settle(t, outcome(again[0], outbox.Sent))
	release(again[0].Lease, 0)
}

func testDelayed(t *testing.T, o *Table) {
	later, past := message(1, ""), message(2, "")
	later.NotBefore, past.NotBefore = time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
	o.write(t, later, past)
	want(t, "claimed", numbers(t, o.claim(t, "a", 10)), "[2]")
	if d, ok, err := o.Store.NextDue(t.Context()); err != nil || !ok || d > time.Hour+time.Minute ||
		d < 50*time.Minute {
		t.Errorf("the next is due in %v, %v, %v; want an hour", d, ok, err)
	}
}

func testLimits(t *testing.T, o *Table) {
	for n := 1; n <= 4; n++ {
		m := message(n, "")
		m.Payload = bytes.Repeat([]byte(" "), 1000)
		o.write(t, m)
	}
	claim := func(limit, bytes int) outbox.Claimed {
		claimed, err := o.Store.Claim(t.Context(),
			outbox.Claim{Lease: "l", For: time.Hour, Limit: limit, PerKey: 1, Bytes: bytes})
		if err != nil {
			t.Fatal(err)
		}
		return claimed
	}
	want(t, "within 1 byte", numbers(t, claim(10, 1).Messages), "[1]")
	want(t, "within 1001 bytes", numbers(t, claim(10, 1001).Messages), "[2 3]")
	one := claim(1, 1<<20)
	want(t, "one", numbers(t, one.Messages), "[4]")
	if one.More {
		if more := claim(10, 1<<20); len(more.Messages) > 0 || more.More {
			t.Error("there is more than everything")
		}
	}
}

// testNobodyWaitsForever keeps writing new messages, and checks that retries and messages with keys are claimed
// nevertheless.
func testNobodyWaitsForever(t *testing.T, o *Table) {
	o.write(t, message(1, ""), message(2, "k"))
	for _, d := range o.claim(t, "a", 10) {
		o.settle(t, outcome(d, outbox.Failed))
	}
	seen := map[int]bool{}
	for round := range 4 {
		o.writeAll(t, 10*round+10, 10*round+19, "")
		for _, d := range o.claim(t, "b", 4) {
			seen[number(t, d.ID)] = true
		}
	}
	if !seen[1] || !seen[2] {
		t.Errorf("after four claims of 4 among 40 new messages, the retry was claimed: %v, that with a key: %v",
			seen[1], seen[2])
	}
}

func testConcurrentClaims(t *testing.T, o *Table) {
	const messages, relays = 400, 4
	all := make([]outbox.Message, 0, messages)
	for n := range messages {
		key := ""
		if n%2 == 0 {
			key = string(rune('a' + n%10))
		}
		all = append(all, message(n, key))
	}
	o.write(t, all...)
	var mu sync.Mutex
	last := map[string]int{}
	seen := map[int]int{}
	var working sync.WaitGroup
	for range relays {
		working.Go(func() {
			for len(seenAll(&mu, seen)) < messages {
				claimed, err := o.Store.Claim(t.Context(),
					outbox.Claim{Lease: "l", For: time.Hour, Limit: 16, PerKey: 3, Bytes: 1 << 20})
				if err != nil {
					t.Error(err)
					return
				}
				outcomes := make([]outbox.Settlement, 0, len(claimed.Messages))
				for _, d := range claimed.Messages {
					mu.Lock()
					n := number(t, d.ID)
					seen[n]++
					if d.Key != "" && last[d.Key] > n {
						t.Errorf("%d of key %s comes after %d", n, d.Key, last[d.Key])
					}
					last[d.Key] = n
					mu.Unlock()
					outcomes = append(outcomes, outcome(d, outbox.Sent))
				}
				if n, err := o.Store.Settle(t.Context(), outcomes); n != len(outcomes) || err != nil {
					t.Errorf("%d outcomes of %d, %v", n, len(outcomes), err)
					return
				}
			}
		})
	}
	working.Wait()
	for n, times := range seen {
		if times != 1 {
			t.Errorf("message %d was claimed %d times", n, times)
		}
	}
}

func seenAll(mu *sync.Mutex, seen map[int]int) map[int]int {
	mu.Lock()
	defer mu.Unlock()
	return maps.Clone(seen)
}
