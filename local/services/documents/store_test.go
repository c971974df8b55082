package documents_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/local/services/documents"
)

func begin(t *testing.T, s *documents.Store) *documents.Batch {
	t.Helper()
	b, err := s.Begin()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func keys(t *testing.T, table *documents.Table, prefix, from string) (all []string) {
	t.Helper()
	if err := table.ScanFrom(prefix, from, func(key string, value []byte) error {
		all = append(all, key+"="+string(value))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestWrite stores what the function has put, and nothing if the function fails.
func TestWrite(t *testing.T) {
	t.Parallel()
	s, err := documents.Open("/documents", vfs.NewMem())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	table := s.Table("t")
	refused := errors.New("refused")
	for value, want := range map[string]error{"1": nil, "2": refused} {
		if err := s.Write(func(b *documents.Batch) error {
			b.Put(table, "key-"+value, []byte(value))
			return want
		}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", value, err, want)
		}
	}
	if got := keys(t, table, "", ""); !slices.Equal(got, []string{"key-1=1"}) {
		t.Errorf("stored %v", got)
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	disk := vfs.NewCrashableMem()
	s, err := documents.Open("/documents", disk)
	if err != nil {
		t.Fatal(err)
	}
	events, eventsOld := s.Table("events"), s.Table("events-old")
	if _, found, err := events.Get("bus"); found || err != nil {
		t.Errorf("an unused store: %v, %v", found, err)
	}
	if names, _ := disk.List("/documents"); len(names) != 0 {
		t.Errorf("an unused store has the files %v", names)
	}
	b := begin(t, s)
	b.Put(events, "rule/a", []byte("1"))
	b.Put(events, "rule/b", []byte("2"))
	b.Put(events, "bus/a", []byte("3"))
	b.Put(eventsOld, "rule/a", []byte("4"))
	if err := b.Apply()(); err != nil {
		t.Fatal(err)
	}
	if got := keys(t, events, "rule/", ""); !slices.Equal(got, []string{"rule/a=1", "rule/b=2"}) {
		t.Errorf("rules %v", got)
	}
	if got := keys(t, events, "rule/", "rule/a\x00"); !slices.Equal(got, []string{"rule/b=2"}) {
		t.Errorf("rules after the first %v", got)
	}
	b = begin(t, s)
	b.DeleteAll(events, "rule/")
	b.Delete(eventsOld, "rule/a")
	b.Put(events, "rule/c", []byte("5"))
	if err := b.Apply()(); err != nil {
		t.Fatal(err)
	}
	after := disk.CrashClone(vfs.CrashCloneCfg{})
	again, err := documents.Open("/documents", after)
	if err != nil {
		t.Fatal(err)
	}
	if got := keys(t, again.Table("events"), "", ""); !slices.Equal(got, []string{"bus/a=3", "rule/c=5"}) {
		t.Errorf("after the crash %v", got)
	}
	if got := keys(t, again.Table("events-old"), "", ""); len(got) != 0 {
		t.Errorf("after the crash %v", got)
	}
	for _, s := range []*documents.Store{s, again} {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Begin(); !errors.Is(err, documents.ErrClosed) {
		t.Errorf("a closed store: %v", err)
	}
}
