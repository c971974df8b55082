package importrows_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/smithy-go"
	"pgregory.net/rapid"

	"stepback/aws/objects"
	"stepback/csvimport"
	"stepback/csvimport/aggregate"
	"stepback/csvimport/csvfile"
	"stepback/csvimport/importrows"
	"stepback/csvimport/process"
	"stepback/csvimport/s3objects"
	"stepback/csvimport/sqlitestore"
	"stepback/csvimport/validate"
	"stepback/internal/objectevent"
	"stepback/outbox/deadletters"
	"stepback/outbox/deadletters/s3documents"
	"stepback/statemachine"
)

// world is a deployed import without a network: S3 and a database that survive, executions whose steps are repeated
// until they succeed, and processes that are killed between any two of their writes.
type world struct {
	t          *rapid.T
	mu         sync.Mutex // held for each request: letters are claimed concurrently
	objects    map[csvimport.Location]object
	ticks      int
	now        time.Time
	db         csvimport.Store
	executions map[string]*execution
	order      []string // their names, in the order in which they started
	late       []call   // calls of the function process that may arrive once more
}

type object struct {
	content string
	at      time.Time
}

// execution is an execution of the import. Each step is a function of Lambda, which is invoked until it succeeds.
type execution struct {
	name    string
	source  csvimport.Source
	checked *validate.Output // once it has been validated
	answers []process.BatchOutput
	next    int64 // first row that is not processed yet
	ended   bool
	cut     bool // stopped, without a summary
	error   string
	bad     map[int64]bool // rows that the database refuses for good
}

type call struct {
	run csvimport.Run
	row int64
	inc csvimport.Increment
}

// errKilled is the error of every call after the process was killed: none of them has an effect.
var errKilled = errors.New("killed")

// life is a process. It is killed when it has made left requests; the last one takes effect or does not.
type life struct {
	objects.Uploads // not used

	w       *world
	left    int
	effects bool
}

// spend counts a request. It returns whether the request takes effect, and the error that the process sees.
func (l *life) spend() (effect bool, err error) {
	if l.left <= 0 {
		return false, errKilled
	}
	l.left--
	if l.left == 0 {
		return l.effects, errKilled
	}
	return true, nil
}

const immortal = 1 << 30

func (w *world) life(mortal bool) *life {
	if !mortal || rapid.IntRange(0, 1).Draw(w.t, "killed") == 0 {
		return &life{w: w, left: immortal}
	}
	return &life{w: w, left: rapid.IntRange(1, 25).Draw(w.t, "requests"), effects: rapid.Bool().Draw(w.t, "effect")}
}

func etagOf(content string) string {
	sum := md5.Sum([]byte(content))
	return hex.EncodeToString(sum[:])
}

func apiError(code string) error { return &smithy.GenericAPIError{Code: code, Message: code} }

// Get implements objects.Store.
func (l *life) Get(_ context.Context, in objects.Get) (*objects.Object, error) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	if _, err := l.spend(); err != nil {
		return nil, err
	}
	o, ok := l.w.objects[csvimport.Location{Bucket: in.Bucket, Key: in.Key}]
	switch {
	case !ok:
		return nil, apiError("NoSuchKey")
	case in.IfMatch != "" && strings.Trim(in.IfMatch, `"`) != etagOf(o.content):
		return nil, apiError("PreconditionFailed")
	}
	return &objects.Object{Body: io.NopCloser(strings.NewReader(o.content)), Size: int64(len(o.content)),
		ETag: `"` + etagOf(o.content) + `"`}, nil
}

// Head implements objects.Store.
func (l *life) Head(ctx context.Context, in objects.Get) (*objects.Object, error) {
	return l.Get(ctx, in)
}

// Put implements objects.Store. An object in the bucket of uploads starts its execution.
func (l *life) Put(_ context.Context, in objects.Put) error {
	content, err := io.ReadAll(in.Body)
	if err != nil {
		return err
	}
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	at := csvimport.Location{Bucket: in.Bucket, Key: in.Key}
	effect, err := l.spend()
	o, ok := l.w.objects[at]
	if in.IfNoneMatch != "" && ok || in.IfMatch != "" && (!ok || strings.Trim(in.IfMatch, `"`) != etagOf(o.content)) {
		return errors.Join(err, apiError("PreconditionFailed"))
	}
	if effect {
		l.w.put(at, string(content))
	}
	return err
}

func (w *world) put(at csvimport.Location, content string) {
	w.ticks++
	w.objects[at] = object{content, w.now.Add(time.Duration(w.ticks) * time.Millisecond)}
	if at.Bucket == "in" {
		w.start(objectevent.ExecutionName(at.Bucket, at.Key, etagOf(content)), csvimport.Source{Bucket: at.Bucket,
			Key:  at.Key,
			ETag: etagOf(content)})
	}
}

// Copy implements objects.Store.
func (l *life) Copy(ctx context.Context, in objects.Copy) (string, error) {
	o, err := l.Get(ctx, objects.Get{Bucket: in.FromBucket, Key: in.FromKey, IfMatch: in.IfMatch})
	if err != nil {
		return "", err
	}
	var content bytes.Buffer
	_, _ = content.ReadFrom(o.Body)
	return o.ETag, l.Put(ctx, objects.Put{Bucket: in.Bucket, Key: in.Key, Body: bytes.NewReader(content.Bytes())})
}

// Delete implements objects.Store.
func (l *life) Delete(context.Context, string, string) error { return errors.New("nothing is deleted") }

// List implements objects.Store.
func (l *life) List(_ context.Context, in objects.List) (*objects.Page, error) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	if _, err := l.spend(); err != nil {
		return nil, err
	}
	page := &objects.Page{}
	for at, o := range l.w.objects {
		if at.Bucket == in.Bucket && strings.HasPrefix(at.Key, in.Prefix) {
			page.Objects = append(page.Objects, objects.Listed{Key: at.Key, LastModified: o.at,
				Size: int64(len(o.content))})
		}
	}
	slices.SortFunc(page.Objects, func(a, b objects.Listed) int { return strings.Compare(a.Key, b.Key) })
	return page, nil
}

// Describe implements importrows.Executions.
func (w *world) Describe(_ context.Context, name string) (importrows.Execution, error) {
	x := w.executions[name]
	if x == nil {
		return importrows.Execution{}, deadletters.ErrNotFound
	}
	return importrows.Execution{Running: !x.ended, Error: x.error, Stopped: w.now}, nil
}

// Start implements importrows.Executions.
func (w *world) Start(_ context.Context, of, name string) error {
	w.start(name, w.executions[of].source)
	return nil
}

func (w *world) start(name string, source csvimport.Source) {
	if w.executions[name] == nil {
		w.executions[name] = &execution{name: name, source: source, bad: map[int64]bool{}}
		w.order = append(w.order, name)
	}
}

// again starts another execution of a file.
func (w *world) again(x *execution) {
	first := objectevent.ExecutionName(x.source.Bucket, x.source.Key, x.source.ETag)
	for n := 2; ; n++ {
		if name := objectevent.Numbered(first, n); w.executions[name] == nil {
			w.start(name, x.source)
			return
		}
	}
}

// batch is the number of rows in a call of the function process.
const batch = 2

// advance invokes the next step of an execution once, in a process that may be killed.
func (w *world) advance(x *execution, mortal, faults bool) {
	l := w.life(mortal)
	ctx := w.t.Context()
	steps := s3objects.New(l)
	run := csvimport.Run{File: x.source, Name: x.name}
	switch {
	case x.checked == nil:
		v := &validate.Validator{Objects: steps, Letters: &importrows.Enlister{Store: l}}
		out, err := v.Validate(ctx, validate.Input{Source: x.source, WorkBucket: "results", WorkPrefix: "work/" + x.name})
		switch {
		case err == nil && out.Valid:
			x.checked = &out
			for row := range out.Rows {
				x.bad[row] = faults && rapid.IntRange(0, 2).Draw(w.t, "bad") == 0
			}
		case err == nil:
			x.ended, x.error = true, "ValidationError"
		case csvimport.AsFailure(err).Name == statemachine.CSVFileChanged: // the upload was replaced
			x.ended, x.error = true, statemachine.CSVFileChanged
		case !errors.Is(err, errKilled):
			w.t.Fatalf("%s: %v", x.name, err)
		}
	case x.next < x.checked.Rows:
		w.process(x, run, l)
	default:
		var result bytes.Buffer
		for i := range x.answers {
			out := map[string]any{"applied": x.answers[i].Applied, "alreadyApplied": x.answers[i].AlreadyApplied,
				"rejected": x.answers[i].Rejected, "failed": []any{}}
			var failed []any
			for _, item := range x.answers[i].OneByOne {
				failed = append(failed, map[string]any{"outcome": "deadLettered", "row": item.Row, "record": item.Record,
					"error": "E", "cause": "c", "attempts": 3})
			}
			if failed != nil {
				out["failed"] = failed
			}
			text, _ := json.Marshal(out)
			fmt.Fprintf(&result, ",%s", text)
		}
		at := "runs/" + x.name
		manifest := `{"DestinationBucket":"results","ResultFiles":{"SUCCEEDED":[{"Key":"` + at + `/r.json"}]}}`
		w.put(csvimport.Location{Bucket: "results", Key: at + "/r.json"}, "["+strings.TrimPrefix(result.String(), ",")+"]")
		w.put(csvimport.Location{Bucket: "results", Key: at + "/manifest.json"}, manifest)
		a := &aggregate.Aggregator{Objects: steps, Store: &mortalStore{w.db, l},
			Now: func() time.Time { w.ticks++; return w.now.Add(time.Duration(w.ticks) * time.Millisecond) }}
		_, err := a.Aggregate(ctx, aggregate.Input{Source: x.source, Execution: x.name, Run: x.name,
			Rows: x.checked.Rows,
			Data: x.checked.Data, Results: aggregate.Place{Bucket: "results", Prefix: at},
			Output: aggregate.Place{Bucket: "results", Prefix: "output/" + x.name}, ToleratedFailurePercentage: 100})
		switch {
		case err == nil:
			x.ended = true
		case !errors.Is(err, errKilled):
			w.t.Fatalf("%s: %v", x.name, err)
		}
	}
}

// process invokes the function process with the next batch.
func (w *world) process(x *execution, run csvimport.Run, l *life) {
	content := w.objects[x.checked.Data.Location].content
	items, err := csvfile.NewItems(strings.NewReader(content))
	if err != nil {
		w.t.Fatal(err)
	}
	in := process.BatchInput{Source: x.source, Run: x.name, Items: []process.Item{}}
	var refused []process.Item
	for row := int64(0); ; row++ {
		record, err := items.Next()
		if errors.Is(err, io.EOF) {
			if row != x.checked.Rows {
				w.t.Fatalf("%s: %d rows in the copy, %d were validated", x.name, row, x.checked.Rows)
			}
			break
		}
		if err != nil {
			w.t.Fatal(err)
		}
		if row < x.next || row >= x.next+batch {
			continue
		}
		number := row
		item := process.Item{Row: &number, Record: &record}
		if inc, err := record.Increment(); err == nil {
			w.late = append(w.late, call{run, row, inc})
			if x.bad[row] {
				refused = append(refused, item)
				continue
			}
		}
		in.Items = append(in.Items, item)
	}
	out, err := process.Batch(w.t.Context(), &mortalStore{w.db, l}, in)
	if errors.Is(err, errKilled) {
		return
	}
	if err != nil {
		w.t.Fatal(err)
	}
	out.OneByOne = append(out.OneByOne, refused...)
	x.answers, x.next = append(x.answers, out), x.next+batch
}

// mortalStore is the database as a process that may be killed sees it.
type mortalStore struct {
	csvimport.Store
	l *life
}

func (s *mortalStore) ApplyBatch(ctx context.Context, run csvimport.Run, rows []csvimport.Row) ([]csvimport.Answer, error) {
	effect, err := s.l.spend()
	if !effect {
		return nil, err
	}
	answers, failed := s.Store.ApplyBatch(ctx, run, rows)
	return answers, errors.Join(failed, err)
}

func (s *mortalStore) Settle(ctx context.Context, run csvimport.Run, rows []int64) ([]csvimport.Outcome, error) {
	effect, err := s.l.spend()
	if !effect {
		return nil, err
	}
	outcomes, failed := s.Store.Settle(ctx, run, rows)
	return outcomes, errors.Join(failed, err)
}

// operator returns an operator in a process of its own.
func (w *world) operator(mortal bool) *deadletters.Operator {
	l := w.life(mortal)
	return &deadletters.Operator{Who: "ann", Store: &deadletters.SourceStore{
		Source:    &importrows.Rows{Objects: s3objects.New(l), Bucket: "results", Executions: w},
		Documents: &s3documents.Documents{Store: l, Bucket: "results", Prefix: importrows.RecordPrefix},
		Now:       func() time.Time { return w.now }}}
}

// users returns the login counts.
func (w *world) users() map[string]int64 {
	all := map[string]int64{}
	if err := w.db.Export(w.t.Context(), func(u csvimport.User) error {
		all[u.UserID] = u.LoginCount
		return nil
	}); err != nil {
		w.t.Fatal(err)
	}
	return all
}

// corrections returns the corrections files that exist.
func (w *world) corrections() []string {
	var all []string
	for _, at := range slices.SortedFunc(maps.Keys(w.objects), func(a, b csvimport.Location) int {
		return strings.Compare(a.Key, b.Key)
	}) {
		if strings.HasSuffix(at.Key, "/corrections.csv") {
			all = append(all, w.objects[at].content)
		}
	}
	return all
}

// act draws and performs one act.
func (w *world) act(ids []string) {
	t := w.t
	some := func() []string {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(ids), 1, len(ids), rapid.ID[string]).Draw(t, "letters")
	}
	running := func(ended bool) []string {
		return slices.DeleteFunc(slices.Clone(w.order),
			func(name string) bool { return w.executions[name].ended != ended })
	}
	nothing := func(deadletters.Result) error { return nil }
	switch verb := rapid.SampledFrom([]string{"advance", "advance", "advance", "redrive", "redrive", "discard", "edit", "import",
		"import", "stop", "again", "late", "wait"}).Draw(t, "act"); verb {
	case "advance":
		if all := running(false); len(all) > 0 {
			w.advance(w.executions[rapid.SampledFrom(all).Draw(t, "execution")], true, true)
		}
	case "redrive":
		_ = w.operator(true).Redrive(t.Context(), deadletters.Selection{IDs: some()}, deadletters.Pace{}, "", nothing)
	case "discard":
		_ = w.operator(true).Discard(t.Context(), deadletters.Selection{IDs: some()[:1]}, false, "enough", nothing)
	case "edit":
		id := rapid.SampledFrom(ids).Draw(t, "letter")
		user := userOf(id)
		_ = w.operator(true).Edit(t.Context(), id, []byte(`{"user_id":"`+user+`","login_count":1,"post_count":7}`), "")
	case "import":
		if files := w.corrections(); len(files) > 0 {
			lines := strings.SplitAfter(rapid.SampledFrom(files).Draw(t, "file"), "\n")
			kept := []string{lines[0]}
			for _, line := range lines[1:] {
				for range rapid.SampledFrom([]int{0, 1, 1, 1, 2}).Draw(t, "copies") {
					kept = append(kept, strings.Replace(line, ",many,", ",1,", 1))
				}
			}
			w.put(csvimport.Location{Bucket: "in", Key: rapid.SampledFrom([]string{"corrections.csv", "more.csv"}).
				Draw(t, "key")}, strings.Join(kept, ""))
		}
	case "stop":
		if all := running(false); len(all) > 0 {
			x := w.executions[rapid.SampledFrom(all).Draw(t, "execution")]
			x.ended, x.cut, x.error = true, true, "Interrupted"
		}
	case "again":
		if all := running(true); len(all) > 0 {
			x := w.executions[rapid.SampledFrom(all).Draw(t, "execution")]
			if x.cut && rapid.Bool().Draw(t, "the same") { // RedriveExecution
				x.ended, x.cut, x.error = false, false, ""
			} else {
				w.again(x)
			}
		}
	case "late":
		if len(w.late) > 0 {
			c := rapid.SampledFrom(w.late).Draw(t, "call")
			_, _ = w.db.Apply(t.Context(), c.run, c.row, c.inc)
		}
	case "wait":
		w.now = w.now.Add(2 * time.Minute)
	}
}

// rowsOfFile is the number of rows of the file; row i is of user i.
const rowsOfFile = 7

func userOf(id string) string {
	var line int
	_, _ = fmt.Sscan(id[strings.LastIndexByte(id, ':')+1:], &line)
	return fmt.Sprintf("user%d", line-2)
}

// TestOneWayOut draws sequences of redrives, edits, discards, imports of corrections files (whole, in part, with
// repeated rows, under several names), executions that are stopped and started again, and late calls of functions.
// Processes are killed between any two of their requests. At no point is a row counted twice. Once nothing is under way
// any more, each row has exactly one outcome, and the database has the rows that were applied.
func TestOneWayOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		db, err := sqlitestore.Open(rt.Context(), filepath.Join(dir, fmt.Sprint(n, ".db")), sqlitestore.Normal)
		if err != nil {
			rt.Fatal(err)
		}
		defer db.Close()
		w := &world{t: rt, objects: map[csvimport.Location]object{}, now: time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC),
			db: db, executions: map[string]*execution{}}
		file := "user_id,login_count,post_count\n"
		for i := range rowsOfFile {
			count := "1"
			if i%3 == 2 {
				count = "many"
			}
			file += fmt.Sprintf("user%d,%s,2\n", i, count)
		}
		w.put(csvimport.Location{Bucket: "in", Key: "a.csv"}, file)
		source := csvimport.Source{Bucket: "in", Key: "a.csv", ETag: etagOf(file)}
		var ids []string
		for i := range rowsOfFile {
			ids = append(ids, csvimport.LetterID(csvimport.Letters(source), int64(i+2)))
		}
		for range 9 { // so that there are letters
			if x := w.executions[w.order[0]]; !x.ended {
				w.advance(x, true, true)
			}
		}
		for range rapid.IntRange(1, 40).Draw(rt, "acts") {
			w.act(ids)
			for user, count := range w.users() {
				if count > 1 {
					rt.Fatalf("%s is counted %d times", user, count)
				}
			}
		}
		w.rest(ids)
		w.check(source, ids)
	})
}

// rest lets everything that was begun finish, without kills and faults.
func (w *world) rest(ids []string) {
	finish := func() {
		for i := range len(w.order) {
			for x := w.executions[w.order[i]]; !x.ended; {
				w.advance(x, false, false)
			}
		}
	}
	finish()
	for _, name := range slices.Clone(w.order) { // files without a summary
		if x := w.executions[name]; x.cut {
			w.again(x)
		}
	}
	finish()
	w.now = w.now.Add(2 * time.Minute)
	// Redrives that were killed are finished by the next one. It also redrives what is dead.
	if err := w.operator(false).Redrive(w.t.Context(), deadletters.Selection{IDs: ids}, deadletters.Pace{}, "",
		func(deadletters.Result) error { return nil }); err != nil {
		w.t.Fatal(err)
	}
	finish()
}

// check compares the outcomes of the rows with the database.
func (w *world) check(source csvimport.Source, ids []string) {
	users := w.users()
	o := w.operator(false)
	applied := map[csvimport.Source]int64{} // by file, from the latest summary
	at := map[csvimport.Source]time.Time{}
	left := map[string]bool{} // the letters of the file
	for where, text := range w.objects {
		if !strings.HasSuffix(where.Key, "/summary.json") {
			continue
		}
		var out aggregate.Output
		if err := json.Unmarshal([]byte(text.content), &out); err != nil {
			w.t.Fatal(err)
		}
		if out.EndTime.After(at[out.Source]) {
			applied[out.Source], at[out.Source] = out.Applied+out.AlreadyApplied, out.EndTime
		}
		if out.Source == source {
			_ = csvfile.ReadCorrections(strings.NewReader(w.objects[out.Corrections].content),
				func(x csvfile.Correction) error {
					left[x.Letter] = true
					return nil
				})
		}
	}
	var sum, counted int64
	for _, n := range applied {
		sum += n
	}
	for _, n := range users {
		counted += n
	}
	if sum != counted {
		w.t.Errorf("the summaries report %d applied rows, the database has %d", sum, counted)
	}
	for _, id := range ids {
		count := users[userOf(id)]
		if !left[id] {
			if count != 1 {
				w.t.Errorf("%s was applied by the first import and is counted %d times", id, count)
			}
			continue
		}
		l, err := o.Store.Show(w.t.Context(), id)
		if err != nil {
			w.t.Fatal(err)
		}
		want := map[deadletters.State]int64{deadletters.Delivered: 1, deadletters.Dead: 0, deadletters.Discarded: 0}
		if n, settled := want[l.State]; !settled || n != count {
			w.t.Errorf("%s is %s (%s %s, undecided %t) and is counted %d times", id, l.State, l.Reason, l.Error, l.Undecided, count)
		}
	}
}
