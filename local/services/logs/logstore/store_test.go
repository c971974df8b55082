package logstore_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stepback/aws"
	"stepback/local/services/logs/logstore"
)

var here = aws.Scope{Account: "000000000000", Region: "us-east-1"}

const group, stream = "/aws/vendedlogs/states/m-Logs", "states/m/2026-01-01-00-00/1a2b3c4d"

// at returns a clock that tests set.
func at(now *time.Time) func() time.Time { return func() time.Time { return *now } }

func open(t *testing.T, dir string, o logstore.Options) *logstore.Store {
	t.Helper()
	s, err := logstore.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func everything(string) bool { return true }

// messages returns the messages of a group's events.
func messages(t *testing.T, s *logstore.Store, from, to int64) []string {
	t.Helper()
	events, err := s.Read(here, group, everything, from, to)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range events {
		found = append(found, e.Message)
	}
	return found
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func event(ms int64, message string) []logstore.Event {
	return []logstore.Event{{Time: ms, Message: message}}
}

func TestEventsAreKept(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.UnixMilli(5000)
	s := open(t, dir, logstore.Options{Now: at(&now)})
	must(t, s.CreateGroup(here, logstore.Group{Name: group, Tags: map[string]string{"k": "v"}}))
	must(t, s.Append(here, group, stream, []logstore.Event{{Time: 2000, Message: "second\n\"quoted\""},
		{Time: 3000, Message: "third"}}))
	must(t, s.Append(here, group, "other", event(1000, "first")))
	must(t, s.CreateStream(here, group, "empty"))
	want := []string{"first", "second\n\"quoted\"", "third"}
	if got := messages(t, s, 0, 9000); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	must(t, s.Close())
	s = open(t, dir, logstore.Options{Now: at(&now)})
	must(t, s.Append(here, group, stream, event(4000, "fourth")))
	if got := messages(t, s, 0, 9000); !slices.Equal(got, append(want, "fourth")) {
		t.Errorf("%q", got)
	}
	if got := messages(t, s, 2000, 3000); !slices.Equal(got, want[1:2]) {
		t.Errorf("%q", got)
	}
	streams, err := s.Streams(here, group, "")
	if err != nil || len(streams) != 3 || streams[0] != (logstore.Stream{Name: "empty", Created: 5000}) ||
		streams[2] != (logstore.Stream{Name: stream, Created: 5000, First: 2000, Last: 4000, Ingestion: 5000}) {
		t.Errorf("%+v %v", streams, err)
	}
	if g, _, err := s.Group(here, group); err != nil || g.Tags["k"] != "v" || g.Created != 5000 || g.Bytes == 0 {
		t.Errorf("%+v %v", g, err)
	}
}

func TestALineThatACrashHasTorn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, logstore.Options{})
	must(t, s.CreateGroup(here, logstore.Group{Name: group}))
	must(t, s.Append(here, group, stream, event(1, "a")))
	must(t, s.Close())
	found, err := filepath.Glob(filepath.Join(dir, "*", "*", "*", "*.log"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	f, err := os.OpenFile(found[0], os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString(`2 2 "to`)
	must(t, errors.Join(err, f.Close()))
	s = open(t, dir, logstore.Options{})
	must(t, s.Append(here, group, stream, event(3, "b")))
	if got := messages(t, s, 0, 9); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%q", got)
	}
}

// TestAFileThatCannotBeWritten puts a directory in place of a stream's file: the events that arrive then are lost,
// later ones are written to another file.
func TestAFileThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, logstore.Options{})
	must(t, s.CreateGroup(here, logstore.Group{Name: group}))
	must(t, s.Append(here, group, stream, event(1, "before")))
	if got := messages(t, s, 0, 10); !slices.Equal(got, []string{"before"}) {
		t.Fatalf("%q", got)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*", "*", "*.log"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	must(t, os.Rename(files[0], files[0]+".kept"))
	must(t, os.Mkdir(files[0], 0o750))
	must(t, s.Append(here, group, stream, event(2, "lost")))
	if _, err := s.Streams(here, group, ""); err != nil { // waits for the write
		t.Fatal(err)
	}
	must(t, os.Remove(files[0]))
	must(t, os.Rename(files[0]+".kept", files[0]))
	must(t, s.Append(here, group, stream, event(3, "after")))
	if got := messages(t, s, 0, 10); !slices.Equal(got, []string{"before", "after"}) {
		t.Errorf("%q", got)
	}
	if now, err := filepath.Glob(filepath.Join(dir, "*", "*", "*", "*.log")); err != nil || len(now) != 2 {
		t.Errorf("the events behind a line that may be torn are in %q, %v", now, err)
	}
}

func TestDeletedGroups(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, logstore.Options{})
	must(t, s.CreateGroup(here, logstore.Group{Name: group}))
	if err := s.CreateGroup(here, logstore.Group{Name: group}); !errors.Is(err, logstore.ErrExists) {
		t.Error(err)
	}
	must(t, s.Append(here, group, stream, event(1, "a")))
	must(t, s.DeleteGroup(here, group))
	for range 2 {
		if _, deleted, err := s.Group(here, group); !deleted || !errors.Is(err, logstore.ErrNoGroup) {
			t.Error(deleted, err)
		}
		if err := s.Append(here, group, stream, event(1, "a")); !errors.Is(err, logstore.ErrNoGroup) {
			t.Error(err)
		}
		must(t, s.Close())
		s = open(t, dir, logstore.Options{})
	}
	must(t, s.CreateGroup(here, logstore.Group{Name: group}))
	if got := messages(t, s, 0, 9); len(got) > 0 {
		t.Error(got)
	}
	if _, deleted, err := s.Group(here, "never"); deleted || !errors.Is(err, logstore.ErrNoGroup) {
		t.Error(deleted, err)
	}
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), logstore.Options{StreamBytes: 4000, GroupBytes: 10_000})
	must(t, s.CreateGroup(here, logstore.Group{Name: group}))
	long := strings.Repeat("x", 100)
	for i := range int64(1000) {
		must(t, s.Append(here, group, string(rune('a'+i/100)), event(i, long)))
		if i%10 == 0 {
			messages(t, s, 0, 1) // forces several batches
		}
	}
	streams, err := s.Streams(here, group, "")
	if err != nil || len(streams) > 5 || len(streams) < 2 || streams[len(streams)-2].Name != "j" ||
		streams[len(streams)-1].Name != logstore.DroppedStream {
		t.Errorf("%+v %v", streams, err)
	}
	if g, _, err := s.Group(here, group); err != nil || g.Bytes > 12_000 || g.Bytes < 4000 {
		t.Errorf("%d bytes, %v", g.Bytes, err)
	}
}

// TestDroppedEventsAreCounted logs more than a stream keeps, in one batch and in many. The remaining and the dropped
// events add up to all events, the newest ones remain, and the limit is respected.
func TestDroppedEventsAreCounted(t *testing.T) {
	t.Parallel()
	for _, batch := range []int{1, 100, 5000} {
		s := open(t, t.TempDir(), logstore.Options{StreamBytes: 40_000})
		must(t, s.CreateGroup(here, logstore.Group{Name: group}))
		const n = 5000
		for i := 0; i < n; i += batch {
			events := make([]logstore.Event, batch)
			for k := range events {
				events[k] = logstore.Event{Time: int64(i + k), Message: fmt.Sprint("line ", i+k)}
			}
			must(t, s.Append(here, group, stream, events))
		}
		kept, err := s.Read(here, group, func(name string) bool { return name == stream }, 0, math.MaxInt64)
		if err != nil || len(kept) == 0 || kept[len(kept)-1].Message != "line 4999" {
			t.Fatalf("batches of %d: %d events, %v", batch, len(kept), err)
		}
		isNote := func(name string) bool { return name == logstore.DroppedStream }
		notes, err := s.Read(here, group, isNote, 0, math.MaxInt64)
		if err != nil || len(notes) == 0 {
			t.Fatalf("batches of %d: nothing says what was dropped: %v", batch, err)
		}
		dropped := 0
		for _, note := range notes {
			var events, bytes int
			if _, err := fmt.Sscanf(note.Message, "%d events (%d bytes) of the stream "+stream+
				" were dropped: a stream keeps 40000 bytes, the newest", &events, &bytes); err != nil {
				t.Fatalf("%q: %v", note.Message, err)
			}
			dropped += events
		}
		if len(kept)+dropped != n {
			t.Errorf("batches of %d: %d events are there and %d were dropped, of %d", batch, len(kept), dropped, n)
		}
		if g, _, err := s.Group(here, group); err != nil || g.Bytes > 60_000 {
			t.Errorf("batches of %d: %d bytes, %v", batch, g.Bytes, err)
		}
	}
}

// Appending slices that share memory does not modify them.
func TestEventsOfTheCallerStay(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), logstore.Options{})
	must(t, s.CreateGroup(here, logstore.Group{Name: group}))
	shared := make([]logstore.Event, 100)
	for i := range shared {
		shared[i] = logstore.Event{Time: int64(i), Message: fmt.Sprint(i)}
	}
	for i := range shared {
		must(t, s.Append(here, group, stream, shared[i:i+1]))
	}
	messages(t, s, 0, 1)
	for i := range shared {
		if shared[i].Message != fmt.Sprint(i) {
			t.Errorf("event %d is %q", i, shared[i].Message)
		}
	}
}

// BenchmarkLines logs like a function that prints: its output arrives in pieces, and no piece waits for the disk. The
// time per line is the same for few and for many lines.
func BenchmarkLines(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			line := strings.Repeat("y", 50) + "\n"
			for range b.N {
				s, err := logstore.Open(b.TempDir(), logstore.Options{})
				if err != nil {
					b.Fatal(err)
				}
				if err := s.CreateGroup(here, logstore.Group{Name: group}); err != nil {
					b.Fatal(err)
				}
				for range n {
					if err := s.Append(here, group, stream, event(1, line)); err != nil {
						b.Fatal(err)
					}
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/line")
		})
	}
}

func TestRetention(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(0).AddDate(0, 0, 10)
	s := open(t, t.TempDir(), logstore.Options{Now: at(&now)})
	must(t, s.CreateGroup(here, logstore.Group{Name: group}))
	must(t, s.UpdateGroup(here, group, func(g *logstore.Group) { g.RetentionDays = 3 }))
	day := func(n int) int64 { return time.UnixMilli(0).AddDate(0, 0, n).UnixMilli() }
	must(t, s.Append(here, group, stream, []logstore.Event{{Time: day(6), Message: "old"},
		{Time: day(8), Message: "new"}}))
	if got := messages(t, s, 0, day(20)); !slices.Equal(got, []string{"new"}) {
		t.Error(got)
	}
}

func TestScopesDoNotSeeEachOther(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), logstore.Options{})
	must(t, s.CreateGroup(here, logstore.Group{Name: group}))
	there := aws.Scope{Account: here.Account, Region: "eu-west-1"}
	if got := s.Groups(there, everything); len(got) > 0 {
		t.Error(got)
	}
	if err := s.Append(there, group, stream, event(1, "a")); !errors.Is(err, logstore.ErrNoGroup) {
		t.Error(err)
	}
}
