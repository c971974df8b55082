package sqlitestore_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"stepback/csvimport"
	"stepback/csvimport/sqlitestore"
	"stepback/csvimport/storetest"
	"stepback/retry"
)

func open(t testing.TB, path string) *sqlitestore.Store {
	t.Helper()
	s, err := sqlitestore.Open(t.Context(), path, sqlitestore.Full)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSuite(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) csvimport.Store {
		return open(t, filepath.Join(t.TempDir(), "new directory", "users #1?.db"))
	})
}

func TestOpenTogether(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "users.db")
	var all sync.WaitGroup
	for row := range int64(8) {
		all.Go(func() {
			s, err := sqlitestore.Open(t.Context(), path, sqlitestore.Full)
			if err != nil {
				t.Errorf("Open: %v", err)
				return
			}
			if _, err := s.Apply(t.Context(), csvimport.Run{File: csvimport.Source{Bucket: "b", Key: "k", ETag: "e"},
				Name: "r"}, row, csvimport.Increment{UserID: "u", LoginCount: 1}); err != nil {
				t.Errorf("Apply: %v", err)
			}
			if err := s.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
	all.Wait()
	s := open(t, path)
	defer s.Close()
	if got := storetest.Users(t, s)["u"]; got != [2]int64{8, 0} {
		t.Errorf("user has %v, want [8 0]", got)
	}
}

func TestClosed(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "users.db"))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Apply(t.Context(), csvimport.Run{File: csvimport.Source{Bucket: "b", Key: "k", ETag: "e"}, Name: "r"},
		0, csvimport.Increment{UserID: "u"})
	storetest.WantName(t, err, retry.DatabaseConnectionError)
}

func TestNotADatabase(t *testing.T) {
	t.Parallel()
	_, err := sqlitestore.Open(t.Context(), t.TempDir(), sqlitestore.Full)
	storetest.WantName(t, err, retry.StorageError)
}

// BenchmarkApply applies one record per operation, from 64 (and more) concurrent callers.
func BenchmarkApply(b *testing.B) {
	for _, callers := range []int{1, 64, 512} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			s := open(b, filepath.Join(b.TempDir(), "users.db"))
			defer s.Close()
			run := csvimport.Run{File: csvimport.Source{Bucket: "b", Key: "k", ETag: "e"}, Name: "r"}
			var row atomic.Int64
			var all sync.WaitGroup
			b.ReportAllocs()
			for range callers {
				all.Go(func() {
					for {
						n := row.Add(1) - 1
						if n >= int64(b.N) {
							return
						}
						inc := csvimport.Increment{UserID: fmt.Sprintf("user-%06d", n*7919%10000), LoginCount: 3,
							PostCount: 2}
						if _, err := s.Apply(b.Context(), run, n, inc); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}
