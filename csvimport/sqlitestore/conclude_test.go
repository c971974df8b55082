package sqlitestore_test

import (
	"path/filepath"
	"testing"

	"stepback/csvimport/storetest"
	outboxstore "stepback/outbox/sqlitestore"
)

func TestConclude(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "users.db")
	store := open(t, path)
	defer store.Close()
	box, err := outboxstore.Open(t.Context(), path, outboxstore.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	storetest.Conclude(t, store, box)
}
