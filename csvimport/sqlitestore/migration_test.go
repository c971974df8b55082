package sqlitestore

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"stepback/csvimport"
	"stepback/csvimport/ledger"
	"stepback/internal/checksumvfs"
	"stepback/internal/sqlitewal"
	outboxstore "stepback/outbox/sqlitestore"
)

// TestMigrationOfRows opens a database of version 2 with rows of two runs and of none, closed rows, and gaps, in
// several blocks and files, and checks each row.
func TestMigrationOfRows(t *testing.T) {
	t.Parallel()
	register(t)
	path := filepath.Join(t.TempDir(), "users.db")
	db, err := sql.Open("sqlite", dsn(path, Full))
	if err != nil {
		t.Fatal(err)
	}
	old := append([]string{}, migrations[:2]...)
	old = append(old, "PRAGMA user_version = 2", "INSERT INTO import_files VALUES (1, 'b', 'k', 'e'), (2, 'b', 'k2', 'e')",
		"INSERT INTO import_runs VALUES (1, 1, 'r'), (2, 1, 'other'), (3, 2, 'r')")
	inc := csvimport.Increment{UserID: "u", LoginCount: 1}
	const rows = 700
	for row := range rows {
		for file := 1; file <= 2; file++ {
			run := "NULL"
			if row%5 < 3 {
				run = [...]string{"1", "2", "NULL"}[row%5]
			}
			if file == 2 && run != "NULL" {
				run = "3"
			}
			fingerprint := fmt.Sprint(inc.Fingerprint())
			if row%5 == 3 {
				fingerprint = "NULL"
			}
			if row%5 < 4 {
				old = append(old, fmt.Sprintf("INSERT INTO import_rows VALUES (%d, %d, %s, %s)", file, row, fingerprint, run))
			}
		}
	}
	for _, statement := range old {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), path, Full)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want := [5]csvimport.Outcome{csvimport.Applied, csvimport.AlreadyApplied, csvimport.AlreadyApplied, "",
		csvimport.Applied}
	var all []csvimport.Row
	for row := range int64(rows) {
		all = append(all, csvimport.Row{Number: row, Increment: inc})
	}
	got, err := s.ApplyBatch(t.Context(), csvimport.Run{File: csvimport.Source{Bucket: "b", Key: "k", ETag: "e"},
		Name: "r"}, all)
	if err != nil {
		t.Fatal(err)
	}
	for row, a := range got {
		if a.Outcome != want[row%5] || (a.Err != nil) != (row%5 == 3) {
			t.Errorf("row %d is answered %+v", row, a)
		}
	}
	if err := s.Export(t.Context(), func(u csvimport.User) error {
		if u.LoginCount != rows/5 {
			t.Errorf("%d rows were counted, want %d", u.LoginCount, rows/5)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// TestMigration opens databases of every earlier schema version.
func TestMigration(t *testing.T) {
	t.Parallel()
	inc := csvimport.Increment{UserID: "u", LoginCount: 1}
	run := csvimport.Run{File: csvimport.Source{Bucket: "b", Key: "k", ETag: "e"}, Name: "r"}
	register(t)
	for from := 1; from <= 3; from++ {
		path := filepath.Join(t.TempDir(), "users.db")
		db, err := sql.Open("sqlite", dsn(path, Full))
		if err != nil {
			t.Fatal(err)
		}
		old := append([]string{}, migrations[:from]...)
		old = append(old, fmt.Sprintf("PRAGMA user_version = %d", from), "INSERT INTO users VALUES ('u', 1, 0, 1)",
			"INSERT INTO import_files VALUES (1, 'b', 'k', 'e')")
		if from < 3 {
			old = append(old, fmt.Sprintf("INSERT INTO import_rows (file_id, row, fingerprint) VALUES (1, 0, %d)",
				inc.Fingerprint()))
		} else {
			old = append(old, "DROP TABLE import_rows", fmt.Sprintf("INSERT INTO import_blocks VALUES (1, 0, x'%x')",
				(&ledger.Block{ledger.Counted(0, inc.Fingerprint())}).Append(nil)))
		}
		for _, statement := range old {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), path, Full)
		if err != nil {
			t.Fatal(err)
		}
		for row, want := range []csvimport.Outcome{csvimport.AlreadyApplied, csvimport.Applied} {
			if got, err := s.Apply(t.Context(), run, int64(row), inc); err != nil || got != want {
				t.Errorf("version %d, row %d: %s, %v; want %s", from, row, got, err, want)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		pages, sums, err := checksumvfs.CheckPages(t.Context(), path, 1)
		if err != nil || !sums || pages != nil {
			t.Errorf("version %d: pages without checksums after the migration: %v, %v, %v", from, pages, sums, err)
		}
		if err := Check(t.Context(), path); err != nil {
			t.Error(err)
		}
	}
}

func register(t *testing.T) {
	t.Helper()
	if err := checksumvfs.Register(); err != nil {
		t.Fatal(err)
	}
}

// TestADatabaseInUseIsNotConverted opens a database of version 3 that another program has open, which knows of no
// checksums. It stays as it is until it is opened alone.
func TestADatabaseInUseIsNotConverted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "users.db")
	other, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	other.SetMaxOpenConns(1)
	for _, statement := range append(migrations[:], "DROP TABLE import_rows", "PRAGMA user_version = 3") {
		if _, err := other.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	use := func() {
		t.Helper()
		s, err := Open(t.Context(), path, Full)
		if err != nil {
			t.Fatal(err)
		}
		run := csvimport.Run{File: csvimport.Source{Bucket: "b", Key: "k", ETag: "e"}, Name: "r"}
		if got, err := s.Apply(t.Context(), run, 0, csvimport.Increment{UserID: "u", LoginCount: 1}); err != nil ||
			got != csvimport.Applied {
			t.Errorf("%s, %v", got, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	use()
	if _, err := other.ExecContext(t.Context(), "UPDATE users SET version = version"); err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{false, true} {
		pages, sums, err := checksumvfs.CheckPages(t.Context(), path, 1)
		if err != nil || sums != want || pages != nil {
			t.Errorf("pages have checksums: %v, want %v (%v, %v)", sums, want, pages, err)
		}
		if err := Check(t.Context(), path); err != nil {
			t.Error(err)
		}
		use()
	}
}

// TestADatabaseBegunByAnother opens a new file that another program begins without checksums while it is opened: after
// this one has asked for them, and before it writes. The database gets them as soon as it is opened alone.
func TestADatabaseBegunByAnother(t *testing.T) {
	t.Parallel()
	register(t)
	for name, stays := range map[string]bool{"which stays": true, "which leaves": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "users.db")
			db, err := sql.Open("sqlite", dsn(path, Full))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			db.SetMaxOpenConns(1) // migrate uses the connection that has asked
			if err := checksumvfs.Reserve(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			other, err := outboxstore.Open(t.Context(), path, outboxstore.Config{})
			if err != nil {
				t.Fatal(err)
			}
			leave := sync.OnceFunc(func() {
				if err := other.Close(); err != nil {
					t.Error(err)
				}
			})
			defer leave()
			if !stays {
				leave()
			}
			if err := sqlitewal.Use(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			if err := migrate(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			state := func() (v int, sums bool) {
				t.Helper()
				sums, err := checksumvfs.Reserved(t.Context(), db)
				if err == nil {
					err = db.QueryRowContext(t.Context(), "PRAGMA user_version").Scan(&v)
				}
				if err != nil {
					t.Fatal(err)
				}
				return v, sums
			}
			if v, sums := state(); stays && (v != 3 || sums) || !stays && (v != 4 || !sums) {
				t.Errorf("version %d, checksums %v", v, sums)
			}
			leave()
			if err := migrate(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			if v, sums := state(); v != 4 || !sums {
				t.Errorf("opened alone: version %d, checksums %v; want 4, true", v, sums)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if pages, sums, err := checksumvfs.CheckPages(t.Context(), path, 1); err != nil || !sums || pages != nil {
				t.Errorf("at rest: %v, %v, %v; want checksums and no damaged page", pages, sums, err)
			}
		})
	}
}
