package sqlitestore

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"stepback/csvimport"
)

// TestMigration opens databases of every earlier schema version.
func TestMigration(t *testing.T) {
	t.Parallel()
	inc := csvimport.Increment{UserID: "u", LoginCount: 1}
	run := csvimport.Run{File: csvimport.Source{Bucket: "b", Key: "k", ETag: "e"}, Name: "r"}
	for from := 1; from < schemaVersion; from++ {
		path := filepath.Join(t.TempDir(), "users.db")
		db, err := sql.Open("sqlite", dsn(path, Full))
		if err != nil {
			t.Fatal(err)
		}
		old := append([]string{}, migrations[:from]...)
		old = append(old, fmt.Sprintf("PRAGMA user_version = %d", from), "INSERT INTO users VALUES ('u', 1, 0, 1)",
			"INSERT INTO import_files VALUES (1, 'b', 'k', 'e')",
			fmt.Sprintf("INSERT INTO import_rows (file_id, row, fingerprint) VALUES (1, 0, %d)", inc.Fingerprint()))
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
	}
}
