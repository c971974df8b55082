package postgresstore_test

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"stepback/csvimport"
	"stepback/csvimport/postgresstore"
	"stepback/csvimport/postgresstore/postgrestest"
	"stepback/csvimport/storetest"
	"stepback/outbox"
)

// TestCutInTheMiddle breaks connections in the middle of all kinds of database requests of an import. Batches,
// settling and the conclusion fail with names that the retry table retries, and are repeated until they are answered;
// each row counts once.
func TestCutInTheMiddle(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	for _, every := range []int{3, 8} {
		t.Run(fmt.Sprint(every), func(t *testing.T) {
			t.Parallel()
			address := server.Database(t)
			direct := open(t, address)
			defer direct.Close()
			c := postgrestest.NewCutter(t, address, every)
			var s *postgresstore.Store
			again(t, func() (err error) {
				s, err = postgresstore.Open(t.Context(), c.Address)
				return err
			})
			defer s.Close()

			const batches, size, users = 40, 25, 60
			want := map[string][2]int64{}
			var work [batches][]csvimport.Row
			for n := range int64(batches * size) {
				inc := csvimport.Increment{UserID: fmt.Sprint("u", n*7%users), LoginCount: n % 5, PostCount: 1}
				work[n/size] = append(work[n/size], csvimport.Row{Number: n, Increment: inc})
				sum := want[inc.UserID]
				want[inc.UserID] = [2]int64{sum[0] + inc.LoginCount, sum[1] + 1}
			}
			var all sync.WaitGroup
			for _, rows := range work {
				all.Go(func() {
					again(t, func() error {
						answers, err := s.ApplyBatch(t.Context(), run, rows)
						for _, a := range answers {
							err = errors.Join(err, a.Err)
						}
						return err
					})
				})
			}
			all.Wait()
			again(t, func() error {
				_, err := s.Settle(t.Context(), run, []int64{batches * size})
				return err
			})
			again(t, func() error {
				return s.Conclude(t.Context(), run, csvimport.Conclusion{Applied: batches * size},
					[]outbox.Message{{Topic: "t", Payload: []byte("1")}})
			})
			if got := storetest.Users(t, direct); !maps.Equal(got, want) {
				t.Errorf("the users are %v\nwant %v", got, want)
			}
			conn, err := pgx.Connect(t.Context(), address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(t.Context())
			var messages int
			if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM outbox_messages").Scan(&messages); err != nil || messages != 1 {
				t.Errorf("the outbox has %d messages, %v; want 1", messages, err)
			}
			if c.Cuts.Load() < 3 {
				t.Errorf("only %d connections were cut", c.Cuts.Load())
			}
		})
	}
}

// again repeats do until it succeeds, and checks that its failures have names.
func again(t *testing.T, do func() error) {
	for t.Context().Err() == nil {
		err := do()
		if err == nil {
			return
		}
		if _, ok := errors.AsType[*csvimport.Failure](err); !ok {
			t.Errorf("%v is no failure by name", err)
			return
		}
	}
}
