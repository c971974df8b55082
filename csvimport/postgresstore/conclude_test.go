package postgresstore_test

import (
	"testing"

	"stepback/csvimport/postgresstore/postgrestest"
	"stepback/csvimport/storetest"
	outboxstore "stepback/outbox/postgresstore"
)

func TestConclude(t *testing.T) {
	url := postgrestest.Start(t).Database(t)
	store := open(t, url)
	defer store.Close()
	box, err := outboxstore.Open(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	storetest.Conclude(t, store, box)
}
