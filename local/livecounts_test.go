package local

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/simulation"
	"stepback/engine/timeline"
	"stepback/retrymetrics"
	"stepback/retrymetrics/metricsfile"
	"stepback/stepbacktest/observed"
)

var histories = flag.Int("histories", 400, "how many drawn histories are counted live and from scratch")

const machineARN = "arn:aws:states:us-east-1:000000000000:stateMachine:m"

// TestLiveCountsAreThoseOfTheHistory counts drawn histories event by event. At any prefix, the retry metrics, the
// counter of a report, the metrics of AWS/States and the log reader have what a count of the prefix from scratch has,
// and describe (timeline) and the test kit (observed) show the same attempts.
func TestLiveCountsAreThoseOfTheHistory(t *testing.T) {
	t.Parallel()
	for seed := range uint64(*histories) {
		if err := agree(seed + 1); err != nil {
			t.Fatalf("history %d: %v", seed+1, err)
		}
	}
}

func agree(seed uint64) error {
	steps, err := simulation.Drawn(seed)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(seed, 1))
	var counter retrymetrics.Counter
	p := Platform{cfg: Config{Counts: []retrymetrics.Target{&counter}}}
	x := &journal.Execution{Info: history.Info{ARN: "arn:aws:states:us-east-1:000000000000:execution:m:e",
		MachineARN: machineARN}}
	live := p.track(x, nil, false)
	var prefix []history.Event
	var reader retrymetrics.LogReader
	var logged []retrymetrics.Point
	looks := max(1, len(steps)/25) // a long history is looked at from time to time
	for i, step := range steps {
		redriven := slices.ContainsFunc(step, func(e history.Event) bool { return e.Type == history.ExecutionRedriven })
		if redriven { // the engine tracks a redriven execution anew
			x.RedriveCount++
			live = p.track(x, prefix, false)
		}
		live(step)
		prefix = append(prefix, step...)
		logged = append(logged, reader.Read(records(x.ARN, step))...)
		if random.IntN(looks) > 0 && i < len(steps)-1 {
			continue
		}
		if err := p.compare(prefix, &counter); err != nil {
			return fmt.Errorf("after %d of %d steps, %d events: %w", i+1, len(steps), len(prefix), err)
		}
		if err := samePoints(asLogged(logged, x.RedriveCount > 0), asLogged(p.Metrics().Points(),
			x.RedriveCount > 0)); err != nil {
			return fmt.Errorf("the log reader, after %d events: %w", len(prefix), err)
		}
	}
	return nil
}

// compare compares what was counted live with what the history so far says.
func (p *Platform) compare(prefix []history.Event, counter *retrymetrics.Counter) error {
	var scratch retrymetrics.Collector
	scratch.Add("arn:aws:states:us-east-1:000000000000:execution:m:e", prefix)
	if err := samePoints(p.Metrics().Points(), scratch.Points()); err != nil {
		return err
	}
	var whole retrymetrics.Counter
	whole.Add(prefix)
	if got, want := counter.Attempts(), whole.Attempts(); got != want {
		return fmt.Errorf("the report counts %+v, not %+v", got, want)
	}
	if got, want := counter.Tallies(), whole.Tallies(); !slices.Equal(got, want) {
		return fmt.Errorf("the report counts\n%+v, not\n%+v", got, want)
	}
	attempts, failures := map[string]int{}, map[string]int{}
	described, bad := map[string]int{}, map[string]int{}
	retries, again := map[string]int{}, map[string]int{}
	for _, point := range scratch.Points() {
		switch point.Metric {
		case retrymetrics.TaskAttempts:
			attempts[point.Labels.State] += int(point.Values[0])
		case retrymetrics.TaskFailures:
			failures[point.Labels.State] += int(point.Values[0])
		case retrymetrics.RetryAttempts:
			retries[point.Labels.State] += int(point.Values[0])
		}
	}
	for _, v := range timeline.Read(prefix).Visits {
		if v.Type != "Task" {
			continue
		}
		described[v.State] += len(v.Attempts)
		again[v.State] += v.Retries()
		for _, a := range v.Attempts {
			if a.Outcome == timeline.Failed || a.Outcome == timeline.TimedOut {
				bad[v.State]++
			}
		}
	}
	for state := range attempts {
		if n := observed.Attempts(prefix, state); n != attempts[state] {
			return fmt.Errorf("observed has %d attempts of %s, the metrics %d", n, state, attempts[state])
		}
	}
	drop := func(_ string, n int) bool { return n == 0 }
	for _, m := range []map[string]int{attempts, failures, described, bad, retries, again} {
		maps.DeleteFunc(m, drop)
	}
	if !maps.Equal(attempts, described) || !maps.Equal(failures, bad) {
		return fmt.Errorf("describe shows attempts %v and failures %v, the metrics %v and %v", described, bad, attempts, failures)
	}
	if !maps.Equal(retries, again) {
		return fmt.Errorf("describe shows retries %v, the metrics %v", again, retries)
	}
	return p.compareStates(whole.Attempts())
}

// compareStates compares AWS/States' metrics of tasks with the attempts.
func (p *Platform) compareStates(want retrymetrics.Attempts) error {
	sums := map[string]float64{}
	for of, sum := range p.meter.measured {
		for _, kind := range taskKinds[1:] {
			if name, ok := strings.CutPrefix(of.name, kind.counts); ok {
				sums[name] += sum.Sum
			}
		}
	}
	got := retrymetrics.Attempts{Started: int64(sums["Scheduled"]), Succeeded: int64(sums["Succeeded"]),
		Failed: int64(sums["Failed"] + sums["TimedOut"])}
	got.Unfinished = got.Started - got.Succeeded - got.Failed
	if got != want {
		return fmt.Errorf("AWS/States counts %+v, not %+v", got, want)
	}
	return nil
}

func samePoints(got, want []retrymetrics.Point) error {
	a, err := json.MarshalIndent(got, "", " ")
	b, err2 := json.MarshalIndent(want, "", " ")
	if err = errors.Join(err, err2); err != nil || string(a) == string(b) {
		return err
	}
	text := func(p retrymetrics.Point) string {
		one, _ := json.Marshal(p)
		return string(one)
	}
	var all []string
	for _, p := range got {
		if s := text(p); !slices.ContainsFunc(want, func(w retrymetrics.Point) bool { return text(w) == s }) {
			all = append(all, "counted  "+s)
		}
	}
	for _, p := range want {
		if s := text(p); !slices.ContainsFunc(got, func(w retrymetrics.Point) bool { return text(w) == s }) {
			all = append(all, "expected "+s)
		}
	}
	return errors.New(strings.Join(all, "\n"))
}

// asLogged returns the points that the log must give, too. RetryDelay is left out, because the log has times in
// milliseconds. After a redrive, states are left out: the log may lack the inputs that distinguish tasks that make the
// same call.
func asLogged(points []retrymetrics.Point, redriven bool) []retrymetrics.Point {
	points = slices.DeleteFunc(retrymetrics.Merge(points), func(p retrymetrics.Point) bool {
		return p.Metric == retrymetrics.RetryDelay
	})
	if redriven {
		for i := range points {
			points[i].Labels.State = ""
		}
	}
	return retrymetrics.Merge(points)
}

func records(arn string, events []history.Event) []retrymetrics.Record {
	var out []retrymetrics.Record
	for i := range events {
		r, err := retrymetrics.ParseRecord(events[i].AppendLogRecord(nil, arn, 0, false))
		if err != nil {
			panic(err)
		}
		out = append(out, r)
	}
	return out
}

// TestLiveCountsSurviveKills runs drawn histories of several executions and child executions side by side on platforms
// that are killed, closed and opened again at any time, also while they count again what earlier ones may have lost.
// Whatever happens, the metric data are those of a count from scratch: nothing is lost, and nothing is counted twice.
func TestLiveCountsSurviveKills(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	kills, early := 0, 0
	for seed := range uint64(max(1, *histories/4)) {
		w := &killed{random: rand.New(rand.NewPCG(seed, 2)), dir: filepath.Join(dir, fmt.Sprint(seed)),
			now: simulatedStart}
		if err := w.run(t.Context(), seed); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		kills, early = kills+w.kills, early+w.early
		if err := os.RemoveAll(w.dir); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d kills, %d of them during a recount", kills, early)
	if early == 0 {
		t.Error("no process was killed during a recount")
	}
}

var simulatedStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// killed is a world in which processes die. It stands for the engines and the journal.
type killed struct {
	journal.Journal // for the methods that are not called

	random *rand.Rand
	dir    string
	now    time.Time
	all    []*execution
	kills  int
	early  int // kills during a recount that had begun

	p        *Platform   // the living process
	advance  func() bool // its recount counts one more execution; false at the end
	halt     func()      // ends its recount where it stands
	pause    func() bool // called by the recount before each history; false to end it
	counting bool        // it is advancing
	under    bool        // its recount has begun and not ended
}

// execution is one drawn execution.
type execution struct {
	journal.Execution
	steps   [][]history.Event
	parent  *execution
	durable []history.Event // what the journal has
	tracked int             // how many of these events the living process has tracked
	live    func([]history.Event)
}

// root returns the execution at the top of x's tree.
func (x *execution) root() *execution {
	for x.parent != nil {
		x = x.parent
	}
	return x
}

func (w *killed) run(ctx context.Context, seed uint64) error {
	if err := os.MkdirAll(w.dir, 0o750); err != nil {
		return err
	}
	for i := range 1 + w.random.IntN(4) {
		if err := w.draw(seed*8+uint64(i)+1, i); err != nil {
			return err
		}
	}
	if err := w.open(ctx); err != nil {
		return err
	}
	for {
		open := slices.DeleteFunc(slices.Clone(w.all), func(x *execution) bool { return len(x.steps) == 0 })
		if len(open) == 0 {
			break
		}
		if err := w.act(ctx, open[w.random.IntN(len(open))]); err != nil {
			return err
		}
	}
	for _, x := range w.all {
		w.follow(x)
	}
	if err := w.look(); err != nil {
		return err
	}
	if err := w.end(ctx); err != nil {
		return err
	}
	defer w.halt()
	return w.look()
}

// draw draws an execution; some are child executions of an earlier one's Map Run.
func (w *killed) draw(seed uint64, i int) error {
	steps, err := simulation.Drawn(seed)
	if err != nil {
		return err
	}
	if len(steps) > 60 {
		steps = steps[:60]
	}
	x := &execution{steps: steps}
	x.Name, x.MachineARN, x.Status = fmt.Sprint("e", i), machineARN, history.Running
	x.ARN = "arn:aws:states:us-east-1:000000000000:execution:m:" + x.Name
	if i > 0 && w.random.IntN(2) == 0 {
		x.parent = w.all[w.random.IntN(len(w.all))]
		x.MapRunARN = "run:" + x.parent.ARN
		x.ARN = strings.Replace(x.parent.ARN, ":execution:m", ":execution:m/L"+x.parent.Name, 1) + x.Name
		x.MachineARN += "/L"
	}
	w.all = append(w.all, x)
	return nil
}

// act lets one thing happen: a step of an execution that is tracked at once or waits for the journal, a write of the
// metric data, progress of a recount, an orderly end, or a kill.
func (w *killed) act(ctx context.Context, x *execution) error {
	n := w.random.IntN(40)
	if w.under && n > 30 { // so that a tenth of the kills are during a recount
		n = 2
	}
	switch n {
	case 0:
		return w.p.metrics.keep(false)
	case 1:
		if w.random.IntN(2) == 0 { // otherwise it may end during its recount
			if err := w.look(); err != nil {
				return err
			}
		}
		return w.end(ctx)
	case 2:
		w.dies()
		if w.random.IntN(4) == 0 {
			w.now = w.now.Add(-time.Duration(w.random.Int64N(int64(10 * time.Minute)))) // the clock is set back
		}
		return w.open(ctx) // the next process finds the file and the journal
	case 3:
		return w.look()
	case 4, 5:
		w.advance()
		return nil
	}
	if x = w.next(x); x == nil {
		return nil
	}
	w.step(x)
	if w.random.IntN(4) > 0 {
		for _, each := range w.all {
			w.follow(each)
		}
	}
	return nil
}

// dies counts a kill.
func (w *killed) dies() {
	w.kills++
	if w.under {
		w.early++
	}
}

// next returns the execution that can make a step instead of x: child executions run while their parent does, and a
// parent ends after them. It returns nil if there is none.
func (w *killed) next(x *execution) *execution {
	if up := x.parent; up != nil && (up.Ended() || len(up.durable) == 0) {
		if len(up.steps) == 0 {
			x.steps = nil
			return nil
		}
		return w.next(up)
	}
	if slices.ContainsFunc(x.steps[0], func(e history.Event) bool { return e.Type.Terminal() }) {
		for _, c := range w.all {
			if c.parent == x && len(c.durable) > 0 && len(c.steps) > 0 && !c.Ended() {
				return w.next(c)
			}
		}
	}
	return x
}

// step makes a step of an execution durable. Its time is never before that of the step before.
func (w *killed) step(x *execution) {
	step := slices.Clone(x.steps[0])
	x.steps = x.steps[1:]
	if w.random.IntN(3) == 0 {
		w.now = w.now.Add(time.Duration(w.random.Int64N(int64(5 * time.Minute))))
	}
	at := w.now
	for _, of := range w.all { // an execution and its children are ahead of a clock that has been set back
		if n := len(of.durable); n > 0 && of.root() == x.root() && of.durable[n-1].At().After(at) {
			at = of.durable[n-1].At()
		}
	}
	if len(x.durable) == 0 {
		x.Start = at
	}
	for i := range step {
		step[i].Time = at.UnixNano()
		switch typ := step[i].Type; {
		case typ == history.ExecutionRedriven:
			x.RedriveCount++
			x.live = nil
			x.Status, x.Stop = history.Running, time.Time{}
		case typ.Terminal():
			x.Status, x.Stop = history.Failed, at
		}
	}
	x.durable = append(x.durable, step...)
}

// follow tracks everything that is durable.
func (w *killed) follow(x *execution) {
	if x.tracked == len(x.durable) {
		return
	}
	for x.tracked < len(x.durable) { // a redrive is tracked anew
		n := x.tracked + 1
		for n < len(x.durable) && x.durable[n].Type != history.ExecutionRedriven {
			n++
		}
		if x.live == nil || x.durable[x.tracked].Type == history.ExecutionRedriven {
			x.live = w.p.track(&x.Execution, x.durable[:x.tracked], false)
		}
		x.live(x.durable[x.tracked:n])
		x.tracked = n
	}
}

// open starts a process on what the last one left.
func (w *killed) open(ctx context.Context) error {
	if w.halt != nil {
		w.halt()
	}
	w.p = &Platform{Dir: w.dir, Journal: w, Clock: clock.Virtual(w.now),
		cfg: Config{Log: slog.New(slog.DiscardHandler)}}
	defer w.p.Clock.Close()
	m := &w.p.metrics
	m.OwnErrors, m.dir, m.now = retrymetrics.OwnErrors, w.dir, func() time.Time { return w.now }
	m.tracked = func() (time.Time, bool, bool) { return time.Time{}, false, false }
	m.from, m.recounted = math.MaxInt64, make(chan struct{})
	close(m.recounted) // look lets the recount end first
	points, counted, err := metricsfile.ReadCounted(w.dir)
	if err != nil {
		return err
	}
	if err := m.restart(w, points, counted); err != nil {
		return err
	}
	m.hold()
	w.recount(ctx)
	if w.random.IntN(10) == 0 { // the process dies while it starts, or after it has stored its data too early
		w.advance()
		if err := m.keep(false); err != nil {
			return err
		}
		w.dies()
		return w.open(ctx)
	}
	m.hold()
	found := &engine.Recovered{}
	for _, x := range w.all {
		x.live, x.tracked = nil, len(x.durable)
		if len(x.durable) == 0 || x.Ended() {
			continue
		}
		x.live = w.p.track(&x.Execution, x.durable, true)
		if x.parent == nil {
			found.Executions = append(found.Executions, engine.Resumed{ARN: x.ARN})
			if m.from != math.MaxInt64 { // the drawn histories lack MapRunStarted
				if m.mapRuns == nil {
					m.mapRuns = map[string]bool{}
				}
				m.mapRuns[x.ARN] = true
			}
		}
	}
	if err := (&engines{platform: w.p, log: slog.New(slog.DiscardHandler)}).recovered(ctx, found); err != nil {
		return err
	}
	m.release()
	m.opened(w.progress)
	return nil
}

// recount starts the recount of the living process, which stops before each history until advance is called.
func (w *killed) recount(ctx context.Context) {
	m := &w.p.metrics
	next, stop := iter.Pull(func(yield func(error) bool) {
		w.pause = func() bool { return yield(nil) }
		if err := m.recount(ctx); err == nil {
			m.release()
		} else if !errors.Is(err, context.Canceled) {
			yield(err)
		}
	})
	w.under, w.halt = false, stop
	w.advance = func() bool {
		w.counting = true
		err, more := next()
		w.counting = false
		if err != nil {
			panic(err)
		}
		w.under = more
		return more
	}
}

// progress returns what the engines report: the time of the oldest step that has not been tracked.
func (w *killed) progress() (before time.Time, all, ok bool) {
	before, all = w.now, true
	for _, x := range w.all {
		if x.tracked < len(x.durable) {
			all = false
			if at := x.durable[x.tracked].At(); at.Before(before) {
				before = at
			}
		}
	}
	return before, all, true
}

// end closes the process in order and starts the next one.
func (w *killed) end(ctx context.Context) error {
	if err := w.p.metrics.keep(true); err != nil {
		return err
	}
	return w.open(ctx)
}

// look compares the metric data with a count from scratch of what was tracked, once the recount has ended.
func (w *killed) look() error {
	for w.advance() {
	}
	got, err := w.p.points()
	if err != nil {
		return err
	}
	scratch := retrymetrics.Collector{OwnErrors: retrymetrics.OwnErrors}
	for _, x := range w.all {
		scratch.Add(x.ARN, x.durable[:x.tracked])
	}
	return samePoints(got, scratch.Points())
}

// Snapshot implements journal.Snapshots.
func (w *killed) Snapshot() journal.Snapshot {
	s := &snapshot{of: w}
	for _, x := range w.all {
		if len(x.durable) > 0 {
			copied := *x
			copied.durable = slices.Clone(x.durable)
			s.all = append(s.all, &copied)
		}
	}
	return s
}

// snapshot implements journal.Snapshot.
type snapshot struct {
	of     *killed
	all    []*execution
	closed bool
}

func (s *snapshot) Close() error {
	s.closed = true
	return nil
}

func (s *snapshot) Execution(_ context.Context, arn string) (*journal.Execution, error) {
	for _, x := range s.all {
		if x.ARN == arn {
			return &x.Execution, nil
		}
	}
	return nil, journal.ErrNotFound
}

func (s *snapshot) History(_ context.Context, arn string) ([]history.Event, error) {
	if s.of.counting && !s.of.pause() {
		return nil, context.Canceled
	}
	for _, x := range s.all {
		if x.ARN == arn && x.Ended() {
			return x.durable, nil
		}
	}
	return nil, journal.ErrNotFound
}

func (s *snapshot) Executions(_ context.Context, prefix string) iter.Seq2[*journal.Execution, error] {
	return s.where(func(x *execution) bool { return strings.HasPrefix(x.ARN, prefix) })
}

func (s *snapshot) EndedSince(_ context.Context, since time.Time) iter.Seq2[*journal.Execution, error] {
	return s.where(func(x *execution) bool { return x.parent == nil && x.Ended() && !x.Stop.Before(since) })
}

func (s *snapshot) where(fits func(*execution) bool) iter.Seq2[*journal.Execution, error] {
	return func(yield func(*journal.Execution, error) bool) {
		for _, x := range s.all {
			if s.closed {
				yield(nil, errors.New("the snapshot is closed"))
				return
			}
			if fits(x) && !yield(&x.Execution, nil) {
				return
			}
		}
	}
}

func (s *snapshot) MapRuns(_ context.Context, prefix string) iter.Seq2[*journal.MapRun, error] {
	return func(yield func(*journal.MapRun, error) bool) {
		for _, x := range s.all {
			if x.ARN+"\x00" == prefix {
				yield(&journal.MapRun{Children: strings.Replace(x.ARN, ":execution:m", ":execution:m/L"+x.Name, 1)}, nil)
			}
		}
	}
}
