package pebble_test

import (
	"errors"
	"slices"
	"testing"

	"stepback/engine/journal"
	"stepback/engine/journal/pebble"
)

func TestDocuments(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j, err := pebble.Open(dir, pebble.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{"a/1": "one", "a/2": "two", "b/1": "other"} {
		if err := errors.Join(j.PutDocument(key, []byte("before")), j.PutDocument(key, []byte(value))); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(j.DeleteDocument("a/2"), j.DeleteDocument("a/3"), j.PutDocument("a/0", nil),
		j.Close()); err != nil {
		t.Fatal(err)
	}
	if j, err = pebble.Open(dir, pebble.Config{}); err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if v, err := j.Document("b/1"); string(v) != "other" || err != nil {
		t.Errorf("b/1 is %q, %v", v, err)
	}
	if _, err := j.Document("a/2"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("a/2: %v, want ErrNotFound", err)
	}
	var got []string
	err = j.EachDocument(t.Context(), "a/", func(key string, value []byte) error {
		got = append(got, key+"="+string(value))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a/0=", "a/1=one"}; !slices.Equal(got, want) {
		t.Errorf("documents are %q, want %q", got, want)
	}
}
