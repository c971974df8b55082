package inventory_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stepback/internal/sealedjson"
	"stepback/local/services/documents"
	"stepback/local/services/inventory"
)

func TestSeal(t *testing.T) {
	t.Parallel()
	for _, object := range []string{`{"a":1}`, "{\n \"a\": {\"b\":\"}\"}\n}", `{}`} {
		sealed := sealedjson.Seal([]byte(object), 7)
		got, generation, found, err := sealedjson.Unseal(sealed)
		if strings.TrimSpace(strings.ReplaceAll(string(got), "\n}", "}")) != strings.ReplaceAll(object, "\n}", "}") ||
			generation != 7 || !found || err != nil {
			t.Errorf("%s: %s %d %v %v", sealed, got, generation, found, err)
		}
		for i := range sealed { // no changed bit is silent
			for bit := range 8 {
				changed := append([]byte(nil), sealed...)
				changed[i] ^= 1 << bit
				if _, _, err := inventory.Verify("f", changed, inventory.Entry{Generation: 7}, true); err == nil {
					t.Errorf("bit %d of byte %d of %s: accepted", bit, i, sealed)
				}
			}
		}
		for n := range sealed {
			if _, _, err := inventory.Verify("f", sealed[:n], inventory.Entry{Generation: 7}, true); err == nil {
				t.Errorf("cut to %d: accepted", n)
			}
		}
	}
	const earlier = `{"a":1}`
	if got, _, err := inventory.Verify("f", []byte(earlier), inventory.Entry{}, false); string(got) != earlier || err != nil {
		t.Errorf("a file of an earlier version: %s %v", got, err)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	open := func() (*documents.Store, *inventory.Files) {
		store, err := documents.Open(filepath.Join(root, "documents"), nil)
		if err != nil {
			t.Fatal(err)
		}
		return store, inventory.Open(store, root)
	}
	shut := func(store *documents.Store, files *inventory.Files) {
		if err := errors.Join(files.Close(), store.Close()); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(root, "a", "b.json")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	store, files := open()
	if _, err := files.ReadFile(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that never existed: %v", err)
	}
	var copies [][]byte
	for _, text := range []string{`{"n":1}`, `{"n":2}`} {
		if err := files.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := files.ReadFile(path); string(got) != text || err != nil {
			t.Errorf("%s %v, want %s", got, err, text)
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		copies = append(copies, whole)
	}
	shut(store, files)
	store, files = open()
	damage := func(want string, do func() error) {
		t.Helper()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		var damaged *inventory.DamagedError
		if _, err := files.ReadFile(path); !errors.As(err, &damaged) || damaged.Path != path ||
			!strings.Contains(damaged.Why, want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	damage("older copy, generation 1 of 2", func() error { return os.WriteFile(path, copies[0], 0o600) })
	damage("checksum", func() error {
		return os.WriteFile(path, []byte(strings.Replace(string(copies[1]), "2", "3", 1)), 0o600)
	})
	damage("missing", func() error { return os.Remove(path) })
	if known, err := files.Below(filepath.Join(root, "a")); len(known) != 1 || known[0] != path || err != nil {
		t.Errorf("%v %v", known, err)
	}
	if err := files.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := files.ReadFile(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a removed file: %v", err)
	}
	shut(store, files)
}
