package documents_test

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/local/services/documents"
)

// TestWhatNobodyWaitsForReachesTheDisk applies batches without waiting. They are visible at once, and survive a loss
// of power after the store has had time to sync.
func TestWhatNobodyWaitsForReachesTheDisk(t *testing.T) {
	t.Parallel()
	disk := vfs.NewCrashableMem()
	s, err := documents.Open("/documents", disk)
	if err != nil {
		t.Fatal(err)
	}
	table := s.Table("t")
	for i := range 100 {
		b := begin(t, s)
		b.Put(table, fmt.Sprint(i), []byte("v"))
		if err := b.ApplyLater(); err != nil {
			t.Fatal(err)
		}
		if _, found, err := table.Get(fmt.Sprint(i)); !found || err != nil {
			t.Fatalf("%d: %v, %v", i, found, err)
		}
	}
	if err := begin(t, s).ApplyLater(); err != nil { // nothing
		t.Fatal(err)
	}
	if err := s.Close(); err != nil { // waits for running syncs
		t.Fatal(err)
	}
	after, err := documents.Open("/documents", disk.CrashClone(vfs.CrashCloneCfg{}))
	if err != nil {
		t.Fatal(err)
	}
	defer after.Close()
	if got := keys(t, after.Table("t"), "", ""); len(got) != 100 {
		t.Errorf("%d of 100 are there", len(got))
	}
	if err := begin(t, after).ApplyLater(); err != nil {
		t.Fatal(err)
	}
}
