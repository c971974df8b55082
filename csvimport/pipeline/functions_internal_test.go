package pipeline

import (
	"maps"
	"path/filepath"
	"testing"
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
