package pipeline

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"stepback/internal/ownerfile"
)

func TestVariablesInADirectory(t *testing.T) {
	t.Parallel()
	dir, err := filepath.Abs("copy")
	if err != nil {
		t.Fatal(err)
	}
	was := filepath.Join(filepath.Dir(dir), "was")
	own, other := "sqlite:"+databaseFile(was), "sqlite:"+filepath.Join(filepath.Dir(dir), "other", "users.db")
	for _, c := range []struct{ before, address, directory, want string }{
		{was, own, dir, "sqlite:" + databaseFile(dir)},
		{was, own + unsynced, dir, "sqlite:" + databaseFile(dir) + unsynced},
		{was, other, dir, other},
		{was, "postgres://h/d", dir, "postgres://h/d"},
	} {
		env := map[string]string{configurationVariable: c.before, databaseVariable: c.address, "OTHER": "x"}
		kept := maps.Clone(env)
		want := map[string]string{configurationVariable: c.directory, databaseVariable: c.want, "OTHER": "x"}
		if got := inDirectory(env, "copy"); !maps.Equal(got, want) || !maps.Equal(env, kept) {
			t.Errorf("%s: %v", c.address, got)
		}
	}
	env := map[string]string{configurationVariable: dir, databaseVariable: own}
	if got := inDirectory(env, dir); !maps.Equal(got, env) {
		t.Errorf("in its place: %v", got)
	}
}

// TestTheOutboxDoesNotBeginTheDatabase sends the messages of a database that an import has created and not begun yet.
// The import begins it, with checksums of its pages.
func TestTheOutboxDoesNotBeginTheDatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "users.db")
	for range 2 { // missing, then empty
		if err := drain(t.Context(), nil, "sqlite:"+path, true); err != nil {
			t.Error(err)
		}
		if err := ownerfile.Create(path); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 0 {
		t.Errorf("the outbox has written to the file: %v, %v", info, err)
	}
}
