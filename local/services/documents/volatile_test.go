package documents_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/local/services/documents"
)

// TestAVolatileStoreHasNoLog applies batches in all ways. They are visible at once, and nothing is written before a
// table is.
func TestAVolatileStoreHasNoLog(t *testing.T) {
	t.Parallel()
	memory := vfs.NewMem()
	s, err := documents.OpenOn("/documents", documents.Disk{FS: memory, Volatile: true})
	if err != nil {
		t.Fatal(err)
	}
	table := s.Table("t")
	for i := range 100 {
		b := begin(t, s)
		b.Put(table, fmt.Sprint(i), []byte("v"))
		if i%2 == 0 {
			err = b.ApplyLater()
		} else {
			err = b.Apply()()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	b := begin(t, s)
	b.Sync()
	if err := b.Apply()(); err != nil {
		t.Error(err)
	}
	if err := begin(t, s).Apply()(); err != nil { // nothing
		t.Error(err)
	}
	if got := keys(t, table, "", ""); len(got) != 100 {
		t.Errorf("%d of 100 are visible", len(got))
	}
	names, err := memory.List("/documents")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if info, err := memory.Stat(filepath.Join("/documents", name)); filepath.Ext(name) == ".log" &&
			(err != nil || info.Size() > 0) {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
