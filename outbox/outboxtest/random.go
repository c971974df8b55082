package outboxtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"stepback/outbox"
	"stepback/outbox/deadletters"
)

// testRandomOrder makes random relays claim, settle, fail, vanish and lose their leases, and random operators
// redrive. After each step it checks that at most one relay holds a key and that its messages come in order; in the
// end everything is sent.
func testRandomOrder(t *testing.T, o *Table) {
	const messages, keys = 120, 5
	rnd := rand.New(rand.NewPCG(1, 2))
	written, steps := 0, 0
	held := map[int64]*outbox.Delivery{}
	done := map[string][]int{}    // for each key, the messages that were sent or were once dead
	redriven := map[string]bool{} // messages that may be out of order
	sent := map[int]int{}
	for len(sent) < messages {
		if steps++; steps > 20_000 {
			t.Fatalf("only %d messages of %d are sent after %d steps", len(sent), messages, steps)
		}
		switch {
		case written < messages && rnd.IntN(3) == 0:
			o.write(t, message(written, fmt.Sprintf("key%d", rnd.IntN(keys))))
			written++
		case rnd.IntN(2) == 0 || len(held) == 0:
			lease := time.Hour
			if rnd.IntN(4) == 0 {
				lease = -time.Second // the relay that gets it has practically vanished
			}
			claimed, err := o.Store.Claim(t.Context(), outbox.Claim{
				Lease: fmt.Sprint("relay", steps), For: lease, Limit: 1 + rnd.IntN(8), PerKey: 1 + rnd.IntN(4), Bytes: 1 << 20,
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range claimed.Messages {
				n := number(t, d.ID)
				if i := slices.IndexFunc(done[d.Key], func(m int) bool { return m > n }); i >= 0 && !redriven[d.ID] {
					t.Fatalf("step %d: %d of %s is claimed after %d is done", steps, n, d.Key, done[d.Key][i])
				}
				if lease < 0 {
					continue
				}
				for _, other := range held {
					if other.Key == d.Key && other.Lease != d.Lease {
						t.Fatalf("step %d: %s is with %s and with %s", steps, d.Key, other.Lease, d.Lease)
					}
				}
				held[d.Seq] = d
			}
		default:
			settleOne(t, o, rnd, held, done, sent)
		}
		if rnd.IntN(10) == 0 {
			page, err := o.Letters.List(t.Context(), deadletters.Query{Limit: 1})
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range page.Letters {
				redriven[l.ID] = true
				if err := o.Letters.Redrive(t.Context(), l.ID, deadletters.By{Who: "somebody"}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for n, times := range sent {
		if times != 1 {
			t.Errorf("message %d was settled as sent %d times", n, times)
		}
	}
}

// settleOne settles the first held message of a random key. It releases the key's other messages unless the first
// was sent or died.
func settleOne(
	t *testing.T,
	o *Table,
	rnd *rand.Rand,
	held map[int64]*outbox.Delivery,
	done map[string][]int,
	sent map[int]int,
) {
	t.Helper()
	seqs := make([]int64, 0, len(held))
	for seq := range held {
		seqs = append(seqs, seq)
	}
	slices.Sort(seqs)
	d := held[seqs[rnd.IntN(len(seqs))]]
	for _, seq := range seqs {
		if held[seq].Key == d.Key {
			d = held[seq]
			break
		}
	}
	status := []outbox.Status{outbox.Sent, outbox.Sent, outbox.Failed, outbox.Dead}[rnd.IntN(4)]
	all := []outbox.Settlement{outcome(d, status)}
	delete(held, d.Seq)
	switch status {
	case outbox.Failed:
		for _, seq := range seqs {
			if other, ok := held[seq]; ok && other.Key == d.Key {
				all = append(all, outcome(other, outbox.Pending))
				delete(held, seq)
			}
		}
	case outbox.Sent:
		sent[number(t, d.ID)]++
		done[d.Key] = append(done[d.Key], number(t, d.ID))
	default:
		all[0].Reason = outbox.ReasonRefused
		done[d.Key] = append(done[d.Key], number(t, d.ID))
	}
	o.settle(t, all...)
}
