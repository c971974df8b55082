package pebble_test

import (
	"strings"
	"testing"

	store "github.com/cockroachdb/pebble/v2"
	"github.com/klauspost/compress/s2"

	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/journal/journaltest"
	"stepback/engine/journal/pebble"
)

// plant writes keys into a store as another version of stepback might have done.
func plant(t *testing.T, dir string, pairs map[string][]byte) {
	t.Helper()
	db, err := store.Open(dir, &store.Options{FormatMajorVersion: store.FormatNewest, Logger: quiet{}})
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range pairs {
		if err := db.Set([]byte(key), value, store.Sync); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestANewerFormatIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plant(t, dir, map[string][]byte{"v": []byte("6")})
	_, err := pebble.Open(dir, pebble.Config{})
	if err == nil || !strings.Contains(err.Error(), "written by a newer stepback: format 6, this one reads up to 5") {
		t.Errorf("%v", err)
	}
}

func TestTheFirstFormatIsUpgraded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ended, running := journaltest.Begun("arn:1"), journaltest.Begun("arn:2")
	r := journaltest.Last(ended, history.Succeeded)
	plant(t, dir, map[string][]byte{
		"v":       []byte("1"),
		"x/arn:1": s2.Encode(nil, ended.AppendBinary(nil, nil)), "h/arn:1": s2.Encode(nil, history.AppendBinary(nil, r.All, nil)),
		"x/arn:2": s2.Encode(nil, running.AppendBinary(nil, nil)),
	})
	for range 2 {
		j := open(t, dir)
		if x, err := j.Execution(t.Context(), "arn:1"); err != nil || x.Status != history.Succeeded {
			t.Errorf("%+v, %v", x, err)
		}
		if h, err := j.History(t.Context(), "arn:1"); err != nil || len(h) != 3 || h[2].Type != history.ExecutionSucceeded {
			t.Errorf("%+v, %v", h, err)
		}
		x, err := j.Execution(t.Context(), "arn:2")
		if err != nil || x.Status != history.Aborted || x.Failure.Name != "Interrupted" {
			t.Errorf("%+v, %v", x, err)
		}
		if h, err := j.History(t.Context(), "arn:2"); err != nil || len(h) != 2 ||
			h[1].Type != history.ExecutionAborted {
			t.Errorf("%+v, %v", h, err)
		}
		for u, err := range j.Unfinished(t.Context(), "") {
			t.Errorf("unfinished: %+v, %v", u, err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

var _ journal.Journal = (*pebble.Journal)(nil)
