// Package outboxtest is the test suite for every outbox.Store, with its dead letters and a relay on top.
package outboxtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"stepback/outbox"
	"stepback/outbox/deadletters"
)

// Table is an outbox in an empty database, with its dead letters.
type Table struct {
	Store   outbox.Store
	Letters deadletters.Store
	// Write writes messages in a transaction of the application, which it then commits or rolls back.
	Write func(ctx context.Context, commit bool, messages ...outbox.Message) error
}

// Open returns a Table over an empty database, which is closed when the test ends.
type Open func(t testing.TB) *Table

// RunWrite runs only the tests of writing. Use it for a second Write function of a store that passes Run.
func RunWrite(t *testing.T, open Open) {
	runAll(t, open, map[string]func(*testing.T, *Table){
		"Transaction":     testTransaction,
		"InvalidMessages": testInvalidMessages,
		"LargestPayload":  testLargestPayload,
		"Delayed":         testDelayed,
		"Order":           testOrder,
	})
}

// Run runs the suite.
func Run(t *testing.T, open Open) {
	runAll(t, open, map[string]func(*testing.T, *Table){
		"Transaction":         testTransaction,
		"InvalidMessages":     testInvalidMessages,
		"LargestPayload":      testLargestPayload,
		"Outcomes":            testOutcomes,
		"LeaseEnds":           testLeaseEnds,
		"Extend":              testExtend,
		"Abandon":             testAbandon,
		"Release":             testRelease,
		"Delayed":             testDelayed,
		"Limits":              testLimits,
		"NobodyWaitsForever":  testNobodyWaitsForever,
		"Order":               testOrder,
		"OrderAfterDeath":     testOrderAfterDeath,
		"LongQueueIsParked":   testLongQueueIsParked,
		"RandomOrder":         testRandomOrder,
		"ConcurrentClaims":    testConcurrentClaims,
		"Tidy":                testTidy,
		"Stats":               testStats,
		"Letters":             testLetters,
		"LettersOfAFilter":    testLettersOfAFilter,
		"TwoOperators":        testTwoOperators,
		"Edit":                testEdit,
		"Discard":             testDiscard,
		"Listen":              testListen,
		"Relay":               testRelay,
		"ManyRelays":          testManyRelays,
		"RelayDrains":         testRelayDrains,
		"RelayTakesOver":      testRelayTakesOver,
		"RedriveThroughRelay": testRedriveThroughRelay,
	})
}

func runAll(t *testing.T, open Open, all map[string]func(*testing.T, *Table)) {
	for name, test := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// message returns a small message identified by its ID.
func message(n int, key string) outbox.Message {
	return outbox.Message{
		ID: id(n), Topic: "test", Key: key, Payload: fmt.Appendf(nil, `{"n":%d}`, n),
	}
}

func id(n int) string { return fmt.Sprintf("00000000-0000-7000-8000-%012d", n) }

// number returns the number of a message created by message.
func number(t testing.TB, id string) int {
	t.Helper()
	var n int
	if _, err := fmt.Sscanf(id[len(id)-12:], "%d", &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (o *Table) write(t testing.TB, messages ...outbox.Message) {
	t.Helper()
	if err := o.Write(t.Context(), true, messages...); err != nil {
		t.Fatal(err)
	}
}

// writeAll writes messages with the numbers from…to, both included, each in a separate transaction.
func (o *Table) writeAll(t testing.TB, from, to int, key string) {
	t.Helper()
	for n := from; n <= to; n++ {
		o.write(t, message(n, key))
	}
}

// claim claims up to limit messages with a lease of one hour.
func (o *Table) claim(t testing.TB, lease string, limit int) []*outbox.Delivery {
	t.Helper()
	return o.claimFor(t, lease, limit, time.Hour)
}

// claimFor calls Claim until it returns messages or there are no more.
func (o *Table) claimFor(t testing.TB, lease string, limit int, d time.Duration) []*outbox.Delivery {
	t.Helper()
	for i := 0; ; i++ {
		claimed, err := o.Store.Claim(t.Context(), outbox.Claim{
			Lease: fmt.Sprint(lease, i), For: d, Limit: limit, PerKey: limit, Bytes: 1 << 30,
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(claimed.Messages) > 0 || !claimed.More {
			return claimed.Messages
		}
		if i == 1000 {
			t.Fatal("Claim says that there is more, and gives none")
		}
	}
}

func (o *Table) settle(t testing.TB, all ...outbox.Settlement) {
	t.Helper()
	n, err := o.Store.Settle(t.Context(), all)
	if err != nil || n != len(all) {
		t.Fatalf("Settle recorded %d outcomes of %d: %v", n, len(all), err)
	}
}

func outcome(d *outbox.Delivery, status outbox.Status) outbox.Settlement {
	return outbox.Settlement{Held: outbox.Held{Seq: d.Seq, Lease: d.Lease}, Key: d.Key, Status: status}
}

func (o *Table) show(t testing.TB, n int) deadletters.Letter {
	t.Helper()
	l, err := o.Letters.Show(t.Context(), id(n))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// numbers returns the numbers of the claimed messages.
func numbers(t testing.TB, all []*outbox.Delivery) string {
	t.Helper()
	ns := make([]int, len(all))
	for i, d := range all {
		ns[i] = number(t, d.ID)
	}
	return fmt.Sprint(ns)
}

func want[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}
