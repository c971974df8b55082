package faultscenario

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"stepback/adaptive/analysis"
	"stepback/adaptive/analysis/histories"
	"stepback/adaptive/breaker"
	"stepback/adaptive/controller/decide"
	"stepback/csvimport"
	"stepback/csvimport/database"
	"stepback/csvimport/pipeline"
	"stepback/engine/clock"
	"stepback/local/services/lambda/functions"
	"stepback/retry"
	"stepback/retrypatterns"
	"stepback/statemachine"
	"stepback/tasks/faults"
)

// rehearsal is a scenario that imports a file while something breaks.
type rehearsal struct {
	name, about string
	// rows is the number of rows in the file, batch the number of rows per child execution, and concurrency the
	// maximum number of child executions that run at a time.
	rows, batch, concurrency int
	// bulk makes one invocation process a whole batch, as imports do by default.
	bulk bool
	// faults are injected into the platform's tasks: STATE:ERROR:RATE.
	faults []string
	// outages are the periods in which the database returns errors, counted from the start.
	outages []outage
	// lasts is the duration of a database call.
	lasts time.Duration
	// crowded is the number of calls that the database serves at a time in the brown-out; 0 means no limit.
	crowded int
	// adjust may wrap the functions.
	adjust func(s *stage, name string, p *functions.Program)
	// beside runs during the import, until its context ends.
	beside func(ctx context.Context, s *stage) error
	// loses is true if the scenario permits rows to be given up.
	loses bool
	// check adds the checks of this scenario.
	check func(ctx context.Context, s *stage, r *Report) error
}

// outage is a period in which a share of the database's calls fails.
type outage struct {
	from, to time.Duration
	error    string
	share    float64
	// committed is the share of these failures that happen after the work was done, so that only the response is
	// lost.
	committed float64
}

// stage is a running rehearsal.
type stage struct {
	*rehearsal
	seed     uint64
	pipeline *pipeline.Pipeline
	clock    *clock.Clock
	begun    time.Time
	report   *Report
	imported *pipeline.Report
	tasks    []analysis.Task

	mu       sync.Mutex
	calls    map[int64]int // number of calls by row
	times    []time.Duration
	failed   int
	running  int // running calls of the database
	circuits []change
	changes  []decide.Decision
}

// change is a change of a circuit's state.
type change struct {
	at time.Duration
	to breaker.Circuit
}

func (h *rehearsal) scenario() Scenario {
	return Scenario{About: h.about, Run: func(ctx context.Context, o Options) (*Report, error) {
		s := h.stage(o.Seed)
		if err := s.run(ctx); err != nil {
			return nil, fmt.Errorf("scenario %s: %w", h.name, err)
		}
		return s.report, nil
	}}
}

func (h *rehearsal) stage(seed uint64) *stage {
	return &stage{rehearsal: h, seed: seed, calls: map[int64]int{},
		report: &Report{Scenario: h.name, About: h.about, Seed: seed}}
}

func (s *stage) run(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "stepback-scenario-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "activity.csv")
	if err := os.WriteFile(file, []byte(s.file()), 0o600); err != nil {
		return err
	}
	cfg, err := s.config(dir)
	if err != nil {
		return err
	}
	if s.pipeline, err = pipeline.Open(ctx, cfg); err != nil {
		return err
	}
	err = s.carryOut(ctx, file)
	if err = errors.Join(err, s.pipeline.Close()); err != nil {
		return err
	}
	if err := s.account(ctx, cfg); err != nil {
		return err
	}
	s.waits()
	if s.check != nil {
		if err := s.check(ctx, s, s.report); err != nil {
			return err
		}
	}
	s.report.finish()
	return nil
}

func (s *stage) config(dir string) (pipeline.Config, error) {
	tolerance := 100.0
	cfg := pipeline.Config{
		Dir: filepath.Join(dir, "data"), VirtualTime: true, Ephemeral: true, Seed: s.seed, Batch: s.batch, Concurrency: s.concurrency,
		ToleratedFailurePercentage: &tolerance,
		Store:                      func(real csvimport.Store) csvimport.Store { return &frail{real, s} },
		Circuit:                    s.circuit,
	}
	if s.batch > 1 && !s.bulk {
		cfg.Shape = statemachine.Batch // every row has a separate task, as in the source design
	}
	for _, text := range s.faults {
		spec, err := faults.ParseSpec(text)
		if err != nil {
			return cfg, err
		}
		cfg.Faults = append(cfg.Faults, spec)
	}
	if s.adjust != nil {
		cfg.Adjust = func(name string, p *functions.Program) { s.adjust(s, name, p) }
	}
	return cfg, nil
}

// carryOut imports the file while beside runs, and reads the histories.
func (s *stage) carryOut(ctx context.Context, file string) error {
	s.clock = s.pipeline.Platform().Clock
	s.begun = s.clock.Now()
	s.note(0, "the import of %d rows begins", s.rows)
	for i, o := range s.outages {
		s.note(o.from, "the database begins to fail %.0f %% of its calls with %s", 100*o.share, o.error)
		if i == len(s.outages)-1 {
			s.note(o.to, "the database has recovered")
		}
	}
	stop, beside := s.start(ctx)
	report, err := s.pipeline.Import(ctx, file, false, nil)
	stop()
	if err = errors.Join(err, <-beside); err != nil {
		return err
	}
	s.imported = report
	s.report.Rows, s.report.Retries = report.Rows, report.Retries
	var c analysis.Collector
	if err := histories.Journal(ctx, s.pipeline.Platform().Journal, histories.Selection{}, &c); err != nil {
		return err
	}
	s.tasks = c.Failed()
	x, err := s.pipeline.Platform().Journal.Execution(ctx, report.Execution)
	if err != nil {
		return err
	}
	lasted := x.Stop.Sub(s.begun)
	s.report.Lasted = lasted.Seconds()
	s.note(lasted, "the import ends: %s", report.Status)
	return nil
}

// start starts beside. It returns a function that stops it, and a channel with its error.
func (s *stage) start(ctx context.Context) (stop func(), ended <-chan error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	if s.beside == nil {
		done <- nil
		return cancel, done
	}
	s.clock.Hold()
	go func() {
		defer s.clock.Release()
		done <- s.beside(ctx, s)
	}()
	return cancel, done
}

// note adds to the timeline.
func (s *stage) note(at time.Duration, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report.Timeline = append(s.report.Timeline, Moment{at.Seconds(), fmt.Sprintf(format, args...)})
}

func (s *stage) since() time.Duration { return s.clock.Now().Sub(s.begun) }

// circuit records a change of a circuit.
func (s *stage) circuit(callee string, to breaker.Circuit) {
	if s.clock == nil || !strings.HasPrefix(callee, "database") {
		return
	}
	at := s.since()
	s.mu.Lock()
	known := len(s.circuits) > 0
	s.circuits = append(s.circuits, change{at, to})
	s.mu.Unlock()
	if known {
		s.note(at, "the circuit of the database is %s", to)
	}
}

// file returns the content of a file that has two rows for every second user, so that counts have to be added up.
func (s *stage) file() string {
	var b strings.Builder
	b.WriteString("user_id,login_count,post_count\n")
	for row := range s.rows {
		logins, posts := counts(row)
		fmt.Fprintf(&b, "%s,%d,%d\n", s.user(row), logins, posts)
	}
	return b.String()
}

func (s *stage) user(row int) string { return fmt.Sprintf("user%05d", row%(s.rows*2/3)) }

func counts(row int) (logins, posts int64) { return int64(row%50 + 1), int64(row * 3 % 17) }

// account checks that the rows add up and that the users' counts match the rows: nothing was lost, nothing counted
// twice.
func (s *stage) account(ctx context.Context, cfg pipeline.Config) error {
	r, n := s.report, s.imported.Rows
	r.Holds(s.imported.Status == "SUCCEEDED", "the import succeeds", "%s %s", s.imported.Status, s.imported.Error)
	if n == nil {
		r.Holds(false, "every row is accounted for", "no rows are reported: %s", s.imported.Cause)
		return nil
	}
	r.Holds(n.Total == int64(s.rows) && n.Applied+n.AlreadyApplied+n.Rejected+n.DeadLettered == n.Total,
		"every row is accounted for", "%d applied, %d already applied, %d rejected, %d dead-lettered of %d",
		n.Applied, n.AlreadyApplied, n.Rejected, n.DeadLettered, n.Total)
	if !s.loses {
		r.Holds(n.DeadLettered == 0, "no row is given up", "%d dead letters", n.DeadLettered)
	}
	address, err := pipeline.DatabaseURL(cfg.Dir, "")
	if err != nil {
		return err
	}
	without, err := corrections(s.imported.Outputs.Corrections)
	if err != nil {
		return err
	}
	want := map[string][2]int64{}
	for row := range s.rows {
		if without[row] {
			continue
		}
		logins, posts := counts(row)
		sum := want[s.user(row)]
		want[s.user(row)] = [2]int64{sum[0] + logins, sum[1] + posts}
	}
	store, err := database.Open(ctx, address)
	if err != nil {
		return err
	}
	users, wrong := 0, 0
	err = store.Export(ctx, func(u csvimport.User) error {
		users++
		if want[u.UserID] != [2]int64{u.LoginCount, u.PostCount} {
			wrong++
		}
		return nil
	})
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	r.Holds(users == len(want) && wrong == 0 && int64(len(without)) == n.Rejected+n.DeadLettered,
		"no row is lost and none is counted twice",
		"%d users, %d of them with other counts than their rows add up to; %d rows in the file of corrections", users, wrong,
		len(without))
	return nil
}

// corrections returns the rows in a corrections file, which were not counted. There is no file if all rows were
// counted.
func corrections(path string) (map[int]bool, error) {
	text, err := os.ReadFile(path)
	if path == "" || errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, err
	}
	rows := map[int]bool{}
	for _, record := range records[1:] {
		line, err := strconv.Atoi(record[3]) // after the three columns of the file
		if err != nil {
			return nil, fmt.Errorf("the file of corrections: %w", err)
		}
		rows[line-2] = true
	}
	return rows, nil
}

// waits checks every retry against its row of the retry table: the number of retries and the wait before each.
func (s *stage) waits() {
	retries, wrong, example := 0, 0, ""
	for i := range s.tasks {
		t := &s.tasks[i]
		rows, err := statemachine.DefaultTable().Compile(t.State)
		if err != nil {
			continue // a state without rows
		}
		used := map[int]int{}
		for k := range t.Attempts[:len(t.Attempts)-1] {
			a := &t.Attempts[k]
			row := rowOf(rows.Retry, a.Error)
			used[row]++
			retries++
			waited := t.Attempts[k+1].Start.Sub(a.End)
			if row < 0 || used[row] > rows.Retry[row].MaxAttempts || !s.bounded(rows.Retry[row], used[row], waited) {
				wrong++
				example = fmt.Sprintf("; for example retry %d of %s after %s", used[row], a.Error, waited)
			}
		}
	}
	s.report.Holds(retries > 0 && wrong == 0, "every retry waits as its row of the retry table says", "%d retries, %d otherwise%s",
		retries, wrong, example)
}

// stretch is the maximum factor by which the controller may lengthen a wait.
const stretch = 8

// bounded reports whether a wait is within the range that a retrier's jitter allows, including the factor by which
// the controller may lengthen it.
func (s *stage) bounded(r retrypatterns.Retrier, nth int, waited time.Duration) bool {
	p := r.Policy()
	longest := p.Delay(nth, nil)
	if s.beside != nil {
		longest *= stretch
	}
	least := time.Duration(0)
	if p.Jitter == retry.JitterNone {
		least = p.Delay(nth, nil)
	}
	return waited >= least && waited <= longest+time.Millisecond
}

// rowOf returns the index of the retrier that handles an error, or -1.
func rowOf(retry []retrypatterns.Retrier, name string) int {
	for i := range retry {
		for _, e := range retry[i].ErrorEquals {
			if e == name || e == "States.ALL" || e == "States.TaskFailed" && name != "States.Timeout" {
				return i
			}
		}
	}
	return -1
}

// waited returns the number of retries after an error, over all tasks, and their total wait.
func (s *stage) waited(name string) (n int, total time.Duration) {
	for i := range s.tasks {
		attempts := s.tasks[i].Attempts
		for k := range attempts[:len(attempts)-1] {
			if attempts[k].Error == name {
				n++
				total += attempts[k+1].Start.Sub(attempts[k].End)
			}
		}
	}
	return n, total
}
