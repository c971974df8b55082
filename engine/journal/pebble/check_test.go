package pebble_test

import (
	"encoding/binary"
	"strings"
	"testing"

	store "github.com/cockroachdb/pebble/v2"
	"github.com/klauspost/compress/s2"

	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/journal/journaltest"
	"stepback/engine/journal/pebble"
)

// sound creates a store that contains every kind of entry.
func sound(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	j, err := pebble.Open(dir, pebble.Config{Retention: -1})
	if err != nil {
		t.Fatal(err)
	}
	family(t, j, "a", journaltest.Begun("").Start.Add(1e9))
	running := journaltest.Begun("m:running")
	journaltest.Commit(t, j, journaltest.First(running))
	journaltest.Commit(t, j, journaltest.Second(running))
	journaltest.Commit(t, j, journaltest.Last(journaltest.Begun("m:short"), history.Failed))
	journaltest.Commit(t, j, long(journaltest.Begun("m:long")))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// long is journaltest.Last with a history that is not stored with the description.
func long(x *journal.Execution) *journal.Record {
	r := journaltest.Last(x, history.Failed)
	r.All[1].Data = strings.Repeat("long", 1024)
	return r
}

// damage changes a store without using the journal.
func damage(t *testing.T, dir string, change func(db *store.DB) error) {
	t.Helper()
	db, err := store.Open(dir, &store.Options{FormatMajorVersion: store.FormatNewest, Logger: quiet{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := change(db); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(string, ...any) {}

func TestCheck(t *testing.T) {
	t.Parallel()
	set := func(key string, value []byte) func(*store.DB) error {
		return func(db *store.DB) error { return db.Set([]byte(key), value, store.Sync) }
	}
	remove := func(key string) func(*store.DB) error {
		return func(db *store.DB) error { return db.Delete([]byte(key), store.Sync) }
	}
	x := journaltest.Begun("m:short")
	r := journaltest.Last(x, history.Failed)
	text := history.AppendBinary(nil, []history.Event{r.All[0], r.All[2]}, nil)
	gap := s2.Encode(nil, text)
	// the value of an execution with a short history: 0, the description, the history, the length of the description
	description := x.AppendBinary(nil, nil)
	short := append(append([]byte{0}, description...), text...)
	shortGap := s2.Encode(nil, binary.BigEndian.AppendUint32(short, uint32(len(description))))
	for name, c := range map[string]struct {
		change func(*store.DB) error
		want   []string // one of each problem
	}{
		"nothing": {func(*store.DB) error { return nil }, nil},
		"a description that is cut": {set("x/m:a", s2.Encode(nil, []byte("\x03abc"))),
			[]string{"m:a: journal: a stored execution is truncated", `"r/run:a": m:a`, "the end of m:a"}},
		"a value that is no value":   {set("x/m:running", []byte("!")), []string{"m:running: s2:"}},
		"a lost history":             {remove("h/m:long"), []string{"m:long: its history: journal: no such execution"}},
		"a history with a gap":       {set("h/m:long", gap), []string{`"m:long": event number 2 has the ID 3`}},
		"a short history with a gap": {set("x/m:short", shortGap), []string{`"m:short": event number 2 has the ID 3`}},
		"a short history that is cut": {set("x/m:short", s2.Encode(nil, short)),
			[]string{"m:short: a stored execution is truncated or damaged"}},
		"a value that ends too early": {set("x/m:short", s2.Encode(nil, []byte{0, 0, 0})),
			[]string{"m:short: a stored execution is truncated or damaged"}},
		"a lost step": {remove("s/m:running\x00\x00\x00\x00\x00\x00\x00\x00\x00"),
			[]string{"m:running: step 0 is missing", "event number 1 has the ID 2"}},
		"a step of an ended one": {set("s/m:a\x00\x00\x00\x00\x00\x00\x00\x00\x00", gap),
			[]string{"m:a has ended but still has steps", "stored signals are truncated"}},
		"a lost Map Run":              {remove("r/run:a"), []string{"no such execution: run:a"}},
		"an execution out of nowhere": {set("h/m:b", gap), []string{"no such execution: m:b"}},
		"an unknown key": {set("unknown", nil),
			[]string{`the key "unknown" is not a key of stepback`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := sound(t)
			damage(t, dir, c.change)
			j, err := pebble.Open(dir, pebble.Config{Retention: -1})
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			var problems []string
			found, err := j.Check(t.Context(), func(err error) { problems = append(problems, err.Error()) })
			if err != nil || found.MapRuns > 2 || found.Executions < 4 {
				t.Errorf("%+v, %v", found, err)
			}
			all := strings.Join(problems, "\n")
			if len(c.want) == 0 && all != "" {
				t.Errorf("problems of a sound store:\n%s", all)
			}
			for _, want := range c.want {
				if !strings.Contains(all, want) {
					t.Errorf("no word of %q in\n%s", want, all)
				}
			}
		})
	}
}
