package pebble_test

import (
	"errors"
	"testing"
	"time"

	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/journal/journaltest"
	"stepback/engine/journal/pebble"
)

func TestForgetDefinitions(t *testing.T) {
	t.Parallel()
	j, err := pebble.Open(t.TempDir(), pebble.Config{Retention: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	ended := map[string]time.Time{"old": time.Unix(1000, 0), "new": time.Unix(3000, 0)}
	definitions := map[string]*journal.Definition{}
	for name, stop := range ended {
		d := journal.NewDefinition(name, "role", `{"StartAt":"P"}`, false)
		definitions[name] = d
		x := journaltest.Begun("arn:" + name)
		x.Definition, x.Revision = d.ID, "revision of "+name
		first := journaltest.First(x)
		first.Definition = d
		journaltest.Commit(t, j, first)
		journaltest.Commit(t, j, journaltest.Second(x))
		last := journaltest.Last(x, history.Succeeded)
		x.Stop = stop
		journaltest.Commit(t, j, last)
	}
	if _, err := j.Expire(t.Context(), time.Unix(2000, 0)); err != nil {
		t.Fatal(err)
	}
	n, revisions, err := j.ForgetDefinitions(t.Context())
	if err != nil || n != 1 || len(revisions) != 1 || !revisions["revision of new"] {
		t.Errorf("%d, %v, %v", n, revisions, err)
	}
	if _, err := j.Definition(t.Context(), definitions["old"].ID); !errors.Is(err, journal.ErrNotFound) {
		t.Error(err)
	}
	if _, err := j.Definition(t.Context(), definitions["new"].ID); err != nil {
		t.Error(err)
	}
}
