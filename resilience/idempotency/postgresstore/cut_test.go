package postgresstore_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"stepback/csvimport/postgresstore/postgrestest"
	"stepback/resilience/idempotency"
	"stepback/resilience/idempotency/postgresstore"
)

// TestCutInTheMiddle breaks connections in the middle of a guard's statements. Clients ask until they are answered: no
// two runs of a key overlap, once an answer is stored every client gets it, and no key stays blocked.
//
// Guard, clients and pool run in a synctest bubble, whose time stands still while any of them waits for the network. In
// real time a slow machine never finishes: 60 clients share four connections, and an answer that waits longer for one
// of them than the lease of 100 ms is not stored, so its client asks again and the queue never gets shorter.
func TestCutInTheMiddle(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	for _, every := range []int{4, 20} {
		t.Run(fmt.Sprint(every), func(t *testing.T) {
			t.Parallel()
			address := server.Database(t)
			open(t, address) // creates the table
			c := postgrestest.NewCutter(t, address, every)
			synctest.Test(t, func(t *testing.T) { askThrough(t, c) })
			if c.Cuts.Load() < 3 {
				t.Errorf("only %d connections were cut", c.Cuts.Load())
			}
		})
	}
}

// askThrough has three clients ask for each of 20 keys, through the cutter.
func askThrough(t *testing.T, c *postgrestest.Cutter) {
	store, err := postgresstore.Open(t.Context(), c.Address)
	for n := 0; err != nil && n < 100; n++ { // which may be cut, too
		store, err = postgresstore.Open(t.Context(), c.Address)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	guard, err := idempotency.New(store,
		idempotency.Config{Lease: 100 * time.Millisecond, Wait: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for n := range 20 {
		k := &cutKey{guard: guard, name: fmt.Sprint("key ", n)}
		for range 3 {
			all.Go(func() { k.ask(t) })
		}
	}
	all.Wait()
}

// cutKey is a key that clients request until they get an answer.
type cutKey struct {
	guard *idempotency.Guard
	name  string

	running atomic.Bool

	mu     sync.Mutex
	runs   int
	stored string // the stored answer; empty if there is none yet
}

func (k *cutKey) ask(t *testing.T) {
	for {
		result, err := k.guard.Once(t.Context(), k.name, []byte("the same request"),
			func(context.Context) (idempotency.Answer, bool, error) {
				defer k.running.Store(false)
				if !k.running.CompareAndSwap(false, true) {
					t.Errorf("%s runs twice at once", k.name)
				}
				k.mu.Lock()
				defer k.mu.Unlock()
				if k.stored != "" {
					t.Errorf("%s runs again after its answer was stored", k.name)
				}
				k.runs++
				return idempotency.Answer{Status: 200, Body: fmt.Append(nil, "run ", k.runs)}, true, nil
			})
		switch {
		case err == nil && result.Stored:
			k.mu.Lock()
			defer k.mu.Unlock()
			if got := string(result.Answer.Body); k.stored == "" {
				k.stored = got
			} else if got != k.stored {
				t.Errorf("%s is answered %q after %q", k.name, got, k.stored)
			}
			return
		case err == nil, errors.Is(err, idempotency.ErrRunning), errors.Is(err, idempotency.ErrLeaseLost):
		case t.Context().Err() != nil:
			return
		default:
			if errors.Is(err, idempotency.ErrMismatch) || errors.Is(err, idempotency.ErrKey) {
				t.Errorf("%s: %v", k.name, err)
				return
			}
		}
	}
}
