package pipeline_test

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stepback/internal/checksumvfs"
	"stepback/outbox"
	"stepback/outbox/sqlitestore"
)

// event is a message as a subscriber of csv-import-events receives it.
type event struct {
	ID, Topic, Execution string
	Payload              struct{ Rows, Applied, Rejected, DeadLettered int64 }
}

// events reads the messages published to csv-import-events, by topic and ID.
func events(t *testing.T, tr *trial) map[string]map[string]event {
	t.Helper()
	f, err := os.Open(filepath.Join(tr.cfg.Dir, "notifications.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := map[string]map[string]event{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var n struct{ TopicArn, Message string }
		if err := json.Unmarshal(lines.Bytes(), &n); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(n.TopicArn, ":csv-import-events") {
			continue
		}
		var e event
		if err := json.Unmarshal([]byte(n.Message), &e); err != nil {
			t.Fatal(err)
		}
		if all[e.Topic] == nil {
			all[e.Topic] = map[string]event{}
		}
		all[e.Topic][e.ID] = e
	}
	return all
}

// The step that concludes an import crashes again and again; its messages are sent under one ID for each topic and
// import.
func TestAnImportTellsOnceWhatItCameTo(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, "tell.csv", plain(activities(200, 50)))
	tr.fault(t, "AggregateResults:crash:50%", "AggregateResults:hang:20%")
	tr.run(t, false)
	tr.run(t, true) // another import of the same file
	all := events(t, tr)
	if len(all["csv-import.finished"]) != 2 || len(all["csv-import.dead-letters"]) != 2 || len(all) != 2 {
		t.Fatalf("told: %+v", all)
	}
	var applied int64
	for _, e := range all["csv-import.finished"] {
		applied += e.Payload.Applied
		if e.Payload.Rows != 200 || e.Payload.Rejected != 4 || e.Execution == "" {
			t.Errorf("%+v", e)
		}
	}
	if applied != 196 {
		t.Errorf("the imports say that %d rows were applied, want 196", applied)
	}
}

// An import in which more rows fail than are tolerated sends a message about its failure.
func TestAnImportThatFailsTellsThat(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, "tell.csv", plain(activities(100, 5)))
	tr.run(t, false)
	if all := events(t, tr); len(all["csv-import.failed"]) != 1 || len(all["csv-import.dead-letters"]) != 1 ||
		len(all) != 2 {
		t.Fatalf("told: %+v", all)
	}
}

// TestWhatASettledImportHasToTellIsRelayedWithItsEarlierReport settles an import after the directory was opened and
// before its report is requested, as happens with an import that is resumed after a kill.
func TestWhatASettledImportHasToTellIsRelayedWithItsEarlierReport(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, "tell.csv", plain(activities(20, 0)))
	p := tr.open(t)
	imported(t, p, tr.file, false)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(tr.cfg.Dir, "users.db")+"?vfs="+checksumvfs.Name+"&_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := sqlitestore.Write(t.Context(), db, outbox.Message{Topic: "csv-import.late", Payload: []byte(`{}`)}); err != nil {
		t.Fatal(err)
	}
	if r := imported(t, p, tr.file, false); !r.Earlier {
		t.Error("the file was imported again")
	}
	closed(t, p)
	if all := events(t, tr); len(all["csv-import.late"]) != 1 {
		t.Errorf("told: %+v", all)
	}
}
