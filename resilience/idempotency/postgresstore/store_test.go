package postgresstore_test

import (
	"testing"

	"stepback/csvimport/postgresstore/postgrestest"
	"stepback/resilience/idempotency"
	"stepback/resilience/idempotency/postgresstore"
	"stepback/resilience/idempotency/storetest"
)

func open(t testing.TB, url string) *postgresstore.Store {
	t.Helper()
	s, err := postgresstore.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestSuite(t *testing.T) {
	t.Parallel()
	url := postgrestest.Start(t).Database(t)
	storetest.Run(t, true, func(t *testing.T) idempotency.Store { return open(t, url) })
}

func BenchmarkRequests(b *testing.B) {
	guard, err := idempotency.New(open(b, postgrestest.Start(b).Database(b)+"&pool_max_conns=16"),
		idempotency.Config{})
	if err != nil {
		b.Fatal(err)
	}
	storetest.Requests(b, guard)
}
