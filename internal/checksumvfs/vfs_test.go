package checksumvfs_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"modernc.org/sqlite"

	"stepback/internal/checksumvfs"
)

func open(t *testing.T, path, options string) *sql.DB {
	t.Helper()
	if err := checksumvfs.Register(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path+"?vfs="+checksumvfs.Name+options)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func exec(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%.60s: %v", s, err)
		}
	}
}

// fill creates a table with 500 rows, an index and large values, which take overflow pages.
func fill(t *testing.T, db *sql.DB) {
	t.Helper()
	exec(t, db, "PRAGMA journal_mode = WAL", "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)", "CREATE INDEX i ON t (v)",
		`WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 500)
			INSERT INTO t SELECT x, printf('value %d %s', x, hex(zeroblob(x % 7 * 900))) FROM n`)
}

// sum reads all values of the table, in order, and returns an error or a text that depends on each byte.
func sum(ctx context.Context, db *sql.DB) (string, error) {
	rows, err := db.QueryContext(ctx, "SELECT id, v FROM t NOT INDEXED ORDER BY id")
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var all strings.Builder
	for rows.Next() {
		var id int64
		var v string
		if err := rows.Scan(&id, &v); err != nil {
			return "", err
		}
		fmt.Fprintln(&all, id, v)
	}
	return all.String(), rows.Err()
}

// created returns a closed database with checksums, and its content.
func created(t *testing.T) (path, content string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "a.db")
	db := open(t, path, "")
	if err := checksumvfs.Reserve(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	fill(t, db)
	content, err := sum(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path, content
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestNoChangedByteIsRead changes bytes all over a database, one at a time. CheckPages must find each of them, and
// reading must fail or return what was written.
func TestNoChangedByteIsRead(t *testing.T) {
	t.Parallel()
	path, want := created(t)
	sound := read(t, path)
	if found, sums, err := checksumvfs.CheckPages(t.Context(), path, 10); err != nil || !sums || found != nil {
		t.Fatalf("the sound database: %v, %v, %v", found, sums, err)
	}
	changed := filepath.Join(t.TempDir(), "b.db")
	refused := 0
	for at := 100; at < len(sound); at += 1 + len(sound)/150 {
		text := append([]byte(nil), sound...)
		text[at] ^= 1 << (at % 8)
		write(t, changed, text)
		found, sums, err := checksumvfs.CheckPages(t.Context(), changed, 10)
		if err != nil || !sums || len(found) != 1 || found[0].Number != int64(at/4096+1) {
			t.Errorf("byte %d: found %v, %v, %v", at, found, sums, err)
		}
		db := open(t, changed, "&immutable=1")
		got, err := sum(t.Context(), db)
		var code *sqlite.Error
		switch {
		case err == nil && got != want:
			t.Errorf("byte %d: other values are read", at)
		case errors.As(err, &code) && code.Code() == checksumvfs.Damaged:
			refused++
		case err != nil:
			t.Errorf("byte %d: %v", at, err)
		}
		_ = db.Close()
	}
	if refused < 50 {
		t.Errorf("%d of 150 changed bytes made reading fail", refused)
	}
}

// TestATableIsNamed damages a page and checks that its table is named.
func TestATableIsNamed(t *testing.T) {
	t.Parallel()
	path, _ := created(t)
	text := read(t, path)
	at := strings.LastIndex(string(text), "value 499 ")
	text[at+6] = '5'
	write(t, path, text)
	found, _, err := checksumvfs.CheckPages(t.Context(), path, 10)
	if err != nil || len(found) != 1 || found[0].Table != "t" && found[0].Table != "i" {
		t.Errorf("found %v, %v", found, err)
	}
}

// TestDatabasesWithoutChecksums opens one that has none: it is read and written as it is, and gets them by VACUUM.
func TestDatabasesWithoutChecksums(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path, "")
	fill(t, db)
	want, err := sum(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	_ = db.Close()
	if _, sums, err := checksumvfs.CheckPages(t.Context(), path, 10); err != nil || sums {
		t.Fatalf("it has checksums: %v, %v", sums, err)
	}
	db = open(t, path, "")
	if on, err := checksumvfs.Reserved(t.Context(), db); err != nil || on {
		t.Errorf("reserved: %v, %v", on, err)
	}
	if err := checksumvfs.Reserve(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	exec(t, db, "VACUUM")
	_ = db.Close()
	db = open(t, path, "")
	if on, err := checksumvfs.Reserved(t.Context(), db); err != nil || !on {
		t.Errorf("reserved after VACUUM: %v, %v", on, err)
	}
	if got, err := sum(t.Context(), db); err != nil || got != want {
		t.Errorf("the values changed: %v", err)
	}
	_ = db.Close()
	if found, sums, err := checksumvfs.CheckPages(t.Context(), path, 10); err != nil || !sums || found != nil {
		t.Errorf("after VACUUM: %v, %v, %v", found, sums, err)
	}
}

// TestPagesOfAForeignProgram changes a database with a program that keeps no checksums.
func TestPagesOfAForeignProgram(t *testing.T) {
	t.Parallel()
	path, _ := created(t)
	foreign, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	exec(t, foreign, "UPDATE t SET v = 'x' WHERE id = 7")
	_ = foreign.Close()
	if found, _, err := checksumvfs.CheckPages(t.Context(), path, 10); err != nil || len(found) == 0 {
		t.Errorf("found %v, %v", found, err)
	}
}

// TestRollbackJournal writes and rolls back without a write-ahead log.
func TestRollbackJournal(t *testing.T) {
	t.Parallel()
	path, want := created(t)
	db := open(t, path, "&_pragma=cache_size(5)")
	exec(t, db, "PRAGMA journal_mode = DELETE", "BEGIN", "UPDATE t SET v = v || 'more'", "ROLLBACK")
	if got, err := sum(t.Context(), db); err != nil || got != want {
		t.Errorf("after the rollback: %v", err)
	}
	exec(t, db, "UPDATE t SET v = 'x' WHERE id > 400", "PRAGMA integrity_check")
	_ = db.Close()
	if found, sums, err := checksumvfs.CheckPages(t.Context(), path, 10); err != nil || !sums || found != nil {
		t.Errorf("%v, %v, %v", found, sums, err)
	}
}

// TestLogs changes bytes of a write-ahead log that a killed process has left. A change before the last transaction is
// found; SQLite alone would drop transactions silently.
func TestLogs(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path, "&_pragma=cache_size(5)")
	if err := checksumvfs.Reserve(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	exec(t, db, "PRAGMA wal_autocheckpoint = 0")
	fill(t, db)
	for i := range 20 {
		exec(t, db, fmt.Sprintf("UPDATE t SET v = 'x' WHERE id = %d", i))
	}
	exec(t, db, "UPDATE t SET v = 'last' WHERE id = 3")
	file, log := read(t, path), read(t, path+"-wal")
	_ = db.Close()

	left := filepath.Join(t.TempDir(), "b.db")
	put := func(log []byte) {
		t.Helper()
		write(t, left, file)
		write(t, left+"-wal", log)
		_ = os.Remove(left + "-shm")
	}
	put(log)
	if err := checksumvfs.CheckLog(left); err != nil {
		t.Fatalf("the sound log: %v", err)
	}
	last := len(log) - 8*(4096+24) // before the frames of the last transaction
	for at := 0; at < last; at += 1 + last/60 {
		text := append([]byte(nil), log...)
		text[at] ^= 1 << (at % 8)
		put(text)
		var damage *checksumvfs.DamagedLogError
		if err := checksumvfs.CheckLog(left); !errors.As(err, &damage) || damage.Path != left+"-wal" ||
			damage.Frame != max(0, (at-32+4120)/4120) {
			t.Errorf("byte %d: %v", at, err)
		}
	}
	// What a kill leaves: the last frame is cut anywhere, or a whole transaction has not been committed.
	for _, n := range []int{0, 20, 32, 40, len(log) - 1, len(log) - 4096, len(log) - 4120, len(log) - 3*4120} {
		put(log[:n])
		if err := checksumvfs.CheckLog(left); err != nil {
			t.Errorf("the log with %d of %d bytes: %v", n, len(log), err)
		}
	}
	if err := checksumvfs.CheckLog(filepath.Join(t.TempDir(), "none.db")); err != nil {
		t.Error(err)
	}
	// Pages in the log do not count: the database has them anew.
	put(log)
	text := append([]byte(nil), file...)
	if len(text) >= 4096 {
		text[4000] ^= 1
		write(t, left, text)
	}
	if found, _, err := checksumvfs.CheckPages(t.Context(), left, 10); err != nil || found != nil {
		t.Errorf("found %v, %v", found, err)
	}
}
