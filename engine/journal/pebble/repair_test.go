package pebble_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	store "github.com/cockroachdb/pebble/v2"

	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/journal/journaltest"
	"stepback/engine/journal/pebble"
)

// manyExecutions creates a closed store whose tables have many blocks.
func manyExecutions(t *testing.T, n int) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "journal")
	j := open(t, dir)
	for i := range n {
		x := journaltest.Begun(fmt.Sprintf("arn:%05d", i))
		x.Input = fmt.Sprintf(`{"filler":"%x"}`, strings.Repeat(fmt.Sprint(i*7919), 40))
		r := journaltest.Last(x, history.Succeeded)
		r.Begin, r.Step = true, 0
		journaltest.Commit(t, j, r)
	}
	if err := j.PutDocument("settings", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestAFlippedByteIsRefusedAndRepaired flips one byte in the middle of a table, at several positions.
func TestAFlippedByteIsRefusedAndRepaired(t *testing.T) {
	t.Parallel()
	const n = 400
	for _, share := range []int{20, 45, 70} {
		t.Run(fmt.Sprint(share), func(t *testing.T) {
			t.Parallel()
			dir := manyExecutions(t, n)
			tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
			if err != nil || len(tables) == 0 {
				t.Fatal(tables, err)
			}
			content, err := os.ReadFile(tables[0])
			if err != nil {
				t.Fatal(err)
			}
			content[len(content)*share/100] ^= 1
			if err := os.WriteFile(tables[0], content, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := pebble.Open(dir, pebble.Config{Retention: -1}); err == nil ||
				!strings.Contains(err.Error(), "is damaged") || !strings.Contains(err.Error(), "stepback data repair") {
				t.Fatalf("opened: %v", err)
			}
			told := 0
			found, err := pebble.Repair(t.Context(), dir, func(error) { told++ })
			if err != nil {
				t.Fatal(err)
			}
			if found.Executions < n/2 || found.Executions >= n && found.Unreadable == 0 || told == 0 || found.Aside == "" {
				t.Errorf("%+v, told of %d", found, told)
			}
			j := open(t, dir)
			defer j.Close()
			if _, err := j.Check(t.Context(), func(err error) { t.Error(err) }); err != nil {
				t.Error(err)
			}
			listed := 0
			for _, err := range j.Listed(t.Context(), &journal.List{Of: "m"}) {
				if err != nil {
					t.Fatal(err)
				}
				listed++
			}
			if listed != found.Executions {
				t.Errorf("%d executions are listed, %d were saved", listed, found.Executions)
			}
			if now, err := filepath.Glob(filepath.Join(found.Aside, "*.sst")); err != nil || len(now) != len(tables) {
				t.Errorf("the damaged store has %v, %v", now, err)
			}
		})
	}
}

// Repairing a store without damage keeps everything.
func TestASoundStoreIsRepairedWhole(t *testing.T) {
	t.Parallel()
	dir := sound(t)
	found, err := pebble.Repair(t.Context(), dir, func(err error) { t.Error(err) })
	if err != nil || found.Dropped+found.Unreadable != 0 || found.Executions < 4 {
		t.Fatalf("%+v, %v", found, err)
	}
	j := open(t, dir)
	defer j.Close()
	if _, err := j.Check(t.Context(), func(err error) { t.Error(err) }); err != nil {
		t.Error(err)
	}
	if n, err := j.Expire(t.Context(), time.Now()); n != 3 || err != nil {
		t.Errorf("%d executions expire, %v", n, err)
	}
}

// TestALostTailIsTold cuts the log of a killed store, whose last change was acknowledged.
func TestALostTailIsTold(t *testing.T) {
	t.Parallel()
	dir := killed(t)
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(logs) == 0 {
		t.Fatal(logs, err)
	}
	info, err := os.Stat(logs[len(logs)-1])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(logs[len(logs)-1], info.Size()-1); err != nil {
		t.Fatal(err)
	}
	for range 3 { // it is neither forgotten nor reported twice
		j := open(t, dir)
		lost := j.LostTails()
		var problems []string
		if _, err := j.Check(t.Context(), func(err error) { problems = append(problems, err.Error()) }); err != nil {
			t.Fatal(err)
		}
		if len(lost) != 1 || lost[0].Changes != 2 || len(problems) != 1 || !strings.Contains(problems[0], "2 changes") {
			t.Errorf("%v, %q", lost, problems)
		}
		journaltest.Commit(t, j, journaltest.First(journaltest.Begun(fmt.Sprint("arn:", time.Now().UnixNano()))))
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var told []string
	found, err := pebble.Repair(t.Context(), dir, func(err error) { told = append(told, err.Error()) })
	if err != nil || found.Executions != 3 || len(told) != 1 || !strings.Contains(told[0], "2 changes") {
		t.Fatalf("%+v, %q, %v", found, told, err)
	}
	j := open(t, dir)
	defer j.Close()
	if lost := j.LostTails(); len(lost) != 0 {
		t.Errorf("after a repair: %v", lost)
	}
}

// TestAnEarlierVersionsAnchor opens a store with the anchor of an earlier version, which counted groups of records.
func TestAnEarlierVersionsAnchor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		said string
		lost int
	}{
		"as many":          {`{"groups":7}`, 0},
		"more":             {`{"groups":8}`, 1},
		"a loss before":    {`{"groups":7,"lost":[{"seen":"2026-11-20T10:00:00Z","groups":3}]}`, 1},
		"torn, as allowed": {`{"gro`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			someExecutions(t, dir)
			damage(t, dir, func(db *store.DB) error {
				return db.Set([]byte("n"), binary.BigEndian.AppendUint64(nil, 7), store.Sync)
			})
			for _, file := range []string{"stepback-anchor", "stepback-anchor.json"} {
				path := filepath.Join(dir, file)
				if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(dir, "stepback-anchor.json"), []byte(c.said), 0o600); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second one finds it in the list of the store
				j := open(t, dir)
				if lost := j.LostTails(); len(lost) != c.lost {
					t.Errorf("%v", lost)
				}
				if err := j.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
