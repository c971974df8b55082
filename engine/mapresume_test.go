package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"stepback/engine"
	"stepback/engine/history"
	"stepback/engine/itemreader"
	"stepback/engine/journal"
)

// bucket is an in-memory object store with one object to read.
type bucket struct {
	mu      sync.Mutex
	lines   string
	version string
	listed  []string // the keys of a listing
	results map[string]string
}

func (b *bucket) Get(context.Context, string, string, string, string) (io.ReadCloser, int64, error) {
	return io.NopCloser(strings.NewReader(b.lines)), int64(len(b.lines)), nil
}

func (b *bucket) List(context.Context, string, string, string) ([]itemreader.ListedObject, string, error) {
	page := make([]itemreader.ListedObject, len(b.listed))
	for i, key := range b.listed {
		page[i] = itemreader.ListedObject{Key: key, Size: 1}
	}
	return page, "", nil
}

func (b *bucket) Version(context.Context, string, string, string, string) (string, error) {
	return b.version, nil
}

func (b *bucket) Put(_ context.Context, _, key string, body io.ReadSeeker, _ int64) error {
	content, err := io.ReadAll(body)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.results[key[strings.LastIndexByte(key, '/')+1:]] = string(content)
	return err
}

const readAndWrite = `{"StartAt":"M","States":{"M":{"Type":"Map","Label":"L","MaxConcurrency":4,"End":true,
	"ItemReader":{"Resource":"arn:aws:states:::s3:getObject","ReaderConfig":{"InputType":"JSONL"},"Parameters":{"Bucket":"b","Key":"k"}},
	"ItemBatcher":{"MaxItemsPerBatch":3},
	"ResultWriter":{"Resource":"arn:aws:states:::s3:putObject","Parameters":{"Bucket":"b","Prefix":"p"},"WriterConfig":{"OutputType":"JSONL","Transformation":"FLATTEN"}},
	"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"T","States":{"T":{` + call + `,"End":true}}}}}}`

// interruptedMapRun closes an engine in the middle of a Map Run, while four children that started at different times
// are running.
func interruptedMapRun(t *testing.T, store *bucket, definition string) (*journal.Memory, string) {
	t.Helper()
	kept := journal.NewMemory()
	var calls atomic.Int64
	hangs := make(chan struct{})
	e, err := engine.New(engine.Config{Clock: virtual(t, epoch), Journal: kept, Objects: store, TempDir: t.TempDir(),
		Integrations: map[string]engine.Integration{
			"test:call": invoke(func(ctx context.Context, task *engine.Task) (string, error) {
				if n := calls.Add(1); n == 2 || n == 5 || n > 12 {
					hangs <- struct{}{}
					<-ctx.Done()
				}
				return itemsOf(task.Parameters), nil
			}),
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	arn := begin(t, e, definition, `{}`)
	for range 4 {
		<-hangs
	}
	return kept, arn
}

func itemsOf(parameters string) string {
	return strings.TrimSuffix(parameters[strings.IndexByte(parameters, '['):], "}")
}

func lines(n int) string {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintln(&b, i)
	}
	return b.String()
}

func resumeMapRun(t *testing.T, kept *journal.Memory, store *bucket) (*engine.Engine, *engine.Recovered) {
	t.Helper()
	e, err := engine.New(engine.Config{Clock: virtual(t, epoch), Journal: kept, Objects: store, TempDir: t.TempDir(),
		Integrations: map[string]engine.Integration{
			"test:call": invoke(func(_ context.Context, task *engine.Task) (string, error) {
				return itemsOf(task.Parameters), nil
			}),
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	found, err := e.Recover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return e, found
}

func TestAMapRunReadsWritesAndCountsOnAsIfNothingHadHappened(t *testing.T) {
	t.Parallel()
	const items = 100
	store := &bucket{lines: lines(items), version: `"1"`, results: map[string]string{}}
	kept, arn := interruptedMapRun(t, store, readAndWrite)
	e, found := resumeMapRun(t, kept, store)
	if found.Children != 4 {
		t.Errorf("%d children go on, want 4", found.Children)
	}
	x, err := e.Wait(t.Context(), arn)
	if err != nil || x.Status != history.Succeeded {
		t.Fatalf("%+v, %v", x, err)
	}
	seen := map[string]int{}
	for _, line := range strings.Fields(store.results["SUCCEEDED_0.json"]) {
		seen[line]++
	}
	for i := range items {
		if n := seen[fmt.Sprint(i)]; n != 1 {
			t.Errorf("item %d is in the results %d times", i, n)
		}
	}
	runs, err := e.MapRunsOf(t.Context(), arn)
	if err != nil || len(runs) != 1 {
		t.Fatalf("%v, %v", runs, err)
	}
	// The 34 batches are 33 of three items and one of one.
	if r := runs[0]; r.Status != history.Succeeded || r.Items != (engine.Tally{Succeeded: items}) ||
		r.Executions != (engine.Tally{Succeeded: 34}) {
		t.Errorf("%+v", r)
	}
}

func TestAMapRunWhoseItemsHaveChangedFails(t *testing.T) {
	t.Parallel()
	store := &bucket{lines: lines(100), version: `"1"`, results: map[string]string{}}
	kept, arn := interruptedMapRun(t, store, readAndWrite)
	store.version = `"2"`
	e, _ := resumeMapRun(t, kept, store)
	x, err := e.Wait(t.Context(), arn)
	if err != nil || x.Failure != history.NewFailure("States.ItemReaderFailed",
		`The items have changed since the Map Run began: the object was "1" and is "2" now.`) {
		t.Errorf("%+v, %v", x, err)
	}
	for child, err := range kept.Executions(t.Context(), "") {
		if err != nil || !child.Ended() {
			t.Errorf("%+v, %v", child, err)
		}
	}
}

// TestAListingThatHasChanged resumes Map Runs whose items are a listing, or the content of the listed objects.
func TestAListingThatHasChanged(t *testing.T) {
	t.Parallel()
	keys := func(from, to int) (keys []string) {
		for i := from; i < to; i++ {
			keys = append(keys, fmt.Sprintf("k%03d", i))
		}
		return keys
	}
	listing := strings.Replace(readAndWrite,
		`s3:getObject","ReaderConfig":{"InputType":"JSONL"},"Parameters":{"Bucket":"b","Key":"k"}}`,
		`s3:listObjectsV2","Parameters":{"Bucket":"b","Prefix":"k"}}`, 1)
	flattened := strings.Replace(readAndWrite,
		`s3:getObject","ReaderConfig":{"InputType":"JSONL"},"Parameters":{"Bucket":"b","Key":"k"}}`,
		`s3:listObjectsV2","ReaderConfig":{"InputType":"JSONL","Transformation":"LOAD_AND_FLATTEN"},"Parameters":{"Bucket":"b","Prefix":"k"}}`, 1)
	tests := []struct {
		name, definition string
		before, after    []string
		items            int64 // 0: the Map Run fails
	}{
		{"unchanged", listing, keys(0, 100), keys(0, 100), 100},
		{"more at the end", listing, keys(0, 100), keys(0, 120), 120},
		{"fewer at the end", listing, keys(0, 100), keys(0, 80), 80},
		{"one less among those that were started", listing, keys(0, 100), keys(1, 100), 0},
		{"one more among them", listing, keys(1, 100), keys(0, 100), 0},
		{"hardly any left", listing, keys(0, 100), keys(0, 2), 0},
		{"flattened, unchanged", flattened, keys(0, 10), keys(0, 10), 100},
		{"flattened, more at the end", flattened, keys(0, 10), keys(0, 11), 110},
		{"flattened, one less", flattened, keys(0, 10), keys(1, 10), 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			store := &bucket{lines: lines(10), listed: tt.before, results: map[string]string{}}
			kept, arn := interruptedMapRun(t, store, tt.definition)
			store.listed = tt.after
			e, _ := resumeMapRun(t, kept, store)
			x, err := e.Wait(t.Context(), arn)
			if err != nil {
				t.Fatal(err)
			}
			if tt.items == 0 {
				if x.Failure.Name != "States.ItemReaderFailed" || !strings.Contains(x.Failure.Cause,
					"The items have changed since the Map Run began: in the listing, item ") {
					t.Errorf("%+v", x)
				}
				return
			}
			runs, err := e.MapRunsOf(t.Context(), arn)
			if err != nil || len(runs) != 1 || x.Status != history.Succeeded ||
				runs[0].Items.Succeeded != tt.items {
				t.Errorf("%+v, %+v, %v; want %d items", x, runs, err, tt.items)
			}
		})
	}
}

// TestChildrenThatNobodyWaitsForAreAborted recovers children whose parent execution ended while they were being
// stopped.
func TestChildrenThatNobodyWaitsForAreAborted(t *testing.T) {
	t.Parallel()
	store := &bucket{lines: lines(100), version: `"1"`, results: map[string]string{}}
	kept, arn := interruptedMapRun(t, store, readAndWrite)
	x, err := kept.Execution(t.Context(), arn)
	if err != nil {
		t.Fatal(err)
	}
	x.Status = history.Aborted
	kept.Commit(&journal.Record{Execution: x, End: true}, func(error) {})
	e, found := resumeMapRun(t, kept, store)
	if len(found.Executions) != 0 || found.Aborted != 4 {
		t.Errorf("%+v", found)
	}
	for child, err := range kept.Executions(t.Context(), "") {
		if err != nil || !child.Ended() {
			t.Errorf("%+v, %v", child, err)
		}
		if child.MapRunARN != "" && child.Status == history.Aborted {
			events, err := kept.History(t.Context(), child.ARN)
			if err != nil {
				t.Error(err)
			}
			wellFormed(t, child, events)
		}
	}
	runs, err := e.MapRunsOf(t.Context(), arn)
	if err != nil || len(runs) != 1 || runs[0].Status != history.Aborted {
		t.Errorf("%+v, %v", runs, err)
	}
}
