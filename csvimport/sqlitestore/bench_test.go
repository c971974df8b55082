package sqlitestore

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"stepback/csvimport"
)

// BenchmarkChecksums applies rows in batches of 250, from 80 callers, as an import does; ns/op is that of one row. It
// compares a database with checksums with one of version 3, which another connection prevents from getting them. The
// users are 20,000, which the cache holds, or one for each row.
func BenchmarkChecksums(b *testing.B) {
	for _, users := range []int{20_000, 1 << 30} {
		for _, version := range []int{3, withChecksums} {
			b.Run(fmt.Sprintf("users=%d/version=%d", users, version), func(b *testing.B) {
				path := filepath.Join(b.TempDir(), "users.db")
				if version == 3 {
					other, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)")
					if err != nil {
						b.Fatal(err)
					}
					defer other.Close()
					other.SetMaxOpenConns(1)
					for _, statement := range append(migrations[:], "DROP TABLE import_rows", "PRAGMA user_version = 3") {
						if _, err := other.ExecContext(b.Context(), statement); err != nil {
							b.Fatal(err)
						}
					}
				}
				s, err := Open(b.Context(), path, Full)
				if err != nil {
					b.Fatal(err)
				}
				apply(b, s, users)
				if err := s.Close(); err != nil {
					b.Error(err)
				}
			})
		}
	}
}

func apply(b *testing.B, s *Store, users int) {
	b.Helper()
	const batch, callers = 250, 80
	run := csvimport.Run{File: csvimport.Source{Bucket: "b", Key: "k", ETag: "e"}, Name: "r"}
	r := rand.New(rand.NewPCG(1, 1))
	batches := make(chan []csvimport.Row)
	failed := make(chan error, callers)
	for range callers {
		go func() {
			var err error
			for rows := range batches {
				if _, e := s.ApplyBatch(b.Context(), run, rows); e != nil {
					err = e
				}
			}
			failed <- err
		}()
	}
	b.ResetTimer()
	for n := 0; n < b.N; n += batch {
		rows := make([]csvimport.Row, batch)
		for i := range rows {
			rows[i] = csvimport.Row{Number: int64(n + i), Increment: csvimport.Increment{
				UserID: fmt.Sprintf("user-%d", r.IntN(users)), LoginCount: 1}}
		}
		batches <- rows
	}
	close(batches)
	for range callers {
		if err := <-failed; err != nil {
			b.Error(err)
		}
	}
}
