package pipeline_test

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"stepback/csvimport"
	"stepback/csvimport/database"
	"stepback/csvimport/handlers"
	"stepback/csvimport/pipeline"
	"stepback/csvimport/process"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/local/services/lambda/functions"
	"stepback/tasks/faults"
)

// activity is a row of a file as the tests generate it.
type activity struct {
	user          string
	logins, posts int64
	bad           bool // breaks a rule, so that it must not be counted
}

// activities returns n rows for a few users, so that counts have to be added up. Every badEvery-th row breaks a rule.
func activities(n, badEvery int) []activity {
	rows := make([]activity, n)
	for i := range rows {
		rows[i] = activity{user: fmt.Sprintf("user%03d", i*7%(n/4+1)), logins: int64(i % 50), posts: int64(i * 3 % 17)}
		rows[i].bad = badEvery > 0 && i%badEvery == badEvery-1
	}
	return rows
}

// text formats rows as a file.
func text(header, delimiter, end string, rows []activity) string {
	var b strings.Builder
	b.WriteString(header + end)
	for _, r := range rows {
		logins := strconv.FormatInt(r.logins, 10)
		if r.bad {
			logins = "many"
		}
		b.WriteString(r.user + delimiter + logins + delimiter + strconv.FormatInt(r.posts, 10) + end)
	}
	return b.String()
}

const header = "user_id,login_count,post_count"

func plain(rows []activity) string { return text(header, ",", "\n", rows) }

// counts are the counters of users.
type counts map[string][2]int64

// sum adds up the rows that are neither bad nor left out, which is the expected content of the users table.
func sum(rows []activity, without map[int]bool) counts {
	c := counts{}
	for i, r := range rows {
		if !r.bad && !without[i] {
			c[r.user] = [2]int64{c[r.user][0] + r.logins, c[r.user][1] + r.posts}
		}
	}
	return c
}

// trial is a data directory with the configuration to open it.
type trial struct {
	cfg  pipeline.Config
	file string
}

// newTrial writes a file next to a fresh data directory. Time is virtual.
func newTrial(t *testing.T, name, content string) *trial {
	t.Helper()
	dir := t.TempDir()
	tr := &trial{file: filepath.Join(dir, name)}
	tr.cfg = pipeline.Config{Dir: filepath.Join(dir, "data"), VirtualTime: true, Seed: 1,
		Shape: "batch"}
	tr.write(t, content)
	return tr
}

func (tr *trial) write(t *testing.T, content string) {
	t.Helper()
	if err := os.WriteFile(tr.file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// fault adds faults, each STATE:ERROR:RATE.
func (tr *trial) fault(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		spec, err := faults.ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		tr.cfg.Faults = append(tr.cfg.Faults, spec)
	}
}

// tolerate sets the tolerated failure percentage.
func (tr *trial) tolerate(percent float64) { tr.cfg.ToleratedFailurePercentage = &percent }

func (tr *trial) open(t *testing.T) *pipeline.Pipeline {
	t.Helper()
	p, err := pipeline.Open(t.Context(), tr.cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// run opens the data directory, imports the file and closes it again.
func (tr *trial) run(t *testing.T, again bool) *pipeline.Report {
	t.Helper()
	p := tr.open(t)
	defer closed(t, p)
	return imported(t, p, tr.file, again)
}

func imported(t *testing.T, p *pipeline.Pipeline, file string, again bool) *pipeline.Report {
	t.Helper()
	r, err := p.Import(t.Context(), file, again, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func closed(t *testing.T, p *pipeline.Pipeline) {
	t.Helper()
	if err := p.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// users reads the users table.
func (tr *trial) users(t *testing.T) counts {
	t.Helper()
	address, err := pipeline.DatabaseURL(tr.cfg.Dir, tr.cfg.Database)
	if err != nil {
		t.Fatal(err)
	}
	store, err := database.Open(context.WithoutCancel(t.Context()), address)
	if err != nil {
		t.Fatal(err)
	}
	c := counts{}
	err = store.Export(t.Context(), func(u csvimport.User) error {
		c[u.UserID] = [2]int64{u.LoginCount, u.PostCount}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	return c
}

// sameUsers compares the users table with what it must be.
func (tr *trial) sameUsers(t *testing.T, want counts) {
	t.Helper()
	if got := tr.users(t); !maps.Equal(got, want) {
		for user := range want {
			if got[user] != want[user] {
				t.Errorf("%s has %v, want %v", user, got[user], want[user])
				break
			}
		}
		t.Errorf("the table has %d users, want %d", len(got), len(want))
	}
}

// accounts checks the invariants of every import of a file whose first row is in line 2: the outcomes add up to the
// file's rows, the corrections are the rows that were not counted, each once, and the users are the sum of all the
// others. before is the previous content of the table.
func (tr *trial) accounts(t *testing.T, r *pipeline.Report, rows []activity) {
	t.Helper()
	if r.Rows == nil {
		t.Fatalf("no rows are reported: %s %s %s", r.Status, r.Error, r.Cause)
	}
	n := r.Rows
	if n.Total != int64(len(rows)) || n.Applied+n.AlreadyApplied+n.Rejected+n.DeadLettered != n.Total {
		t.Errorf("%+v do not add up to %d rows", *n, len(rows))
	}
	without := map[int]bool{}
	var rejected int64
	for _, c := range corrections(t, r) {
		line, err := strconv.Atoi(c[3])
		if err != nil || line < 2 || line > len(rows)+1 || without[line-2] {
			t.Fatalf("corrections name line %q, once more or out of the file", c[3])
		}
		without[line-2] = true
		if row := rows[line-2]; row.bad {
			rejected++
		}
	}
	if int64(len(without)) != n.Rejected+n.DeadLettered {
		t.Errorf("%d corrections for %d rejected and %d dead-lettered rows", len(without), n.Rejected, n.DeadLettered)
	}
	for i, row := range rows {
		if row.bad && !without[i] {
			t.Errorf("the bad row in line %d is not among the corrections", i+2)
		}
	}
	if letters := int64(len(lines(t, r.Outputs.DeadLetters))); letters != n.DeadLettered {
		t.Errorf("%d dead letters for %d dead-lettered rows", letters, n.DeadLettered)
	}
	tr.sameUsers(t, sum(rows, without))
}

// corrections reads the records of a report's corrections without their header.
func corrections(t *testing.T, r *pipeline.Report) [][]string {
	t.Helper()
	f, err := os.Open(r.Outputs.Corrections)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(records[0], ","); got != header+",line,error,reason,letter" {
		t.Fatalf("corrections have the header %s", got)
	}
	return records[1:]
}

func lines(t *testing.T, name string) []string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<24)
	for s.Scan() {
		out = append(out, s.Text())
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	return out
}

// ended checks the outcome of an import.
func ended(t *testing.T, r *pipeline.Report, status, failure string, v pipeline.Verdict) {
	t.Helper()
	if r.Status != status || r.Error != failure || r.Verdict() != v {
		t.Errorf("%s %q with verdict %d, want %s %q with %d; cause: %s", r.Status, r.Error, r.Verdict(), status,
			failure, v, r.Cause)
	}
}

// before calls f before each invocation of ProcessSingleUserRecord, with the number of the invocation.
func (tr *trial) before(f func(n int64)) {
	var n atomic.Int64
	tr.cfg.AdjustFunction(func(_ string, l *functions.Program) {
		if next, ok := l.Handler.(handlers.Func[process.Answer]); ok {
			l.Handler = func(ctx context.Context, event json.RawMessage) (process.Answer, error) {
				f(n.Add(1))
				return next(ctx, event)
			}
		}
	})
}

// children visits the child executions of a run with their histories.
func (tr *trial) children(t *testing.T, r *pipeline.Report, visit func(*journal.Execution, []history.Event)) {
	t.Helper()
	p := tr.open(t)
	defer closed(t, p)
	parent, err := p.Journal().Execution(t.Context(), r.Execution)
	if err != nil {
		t.Fatal(err)
	}
	err = pipeline.Children(t.Context(), p.Journal(), parent, func(x *journal.Execution) error {
		events, err := p.Journal().History(t.Context(), x.ARN)
		if err == nil {
			visit(x, events)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
