package console_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"stepback/engine"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/local"
)

// sizeVariable names the environment variable with the number of executions, and of a Map Run's child executions, for
// the measurements.
const sizeVariable = "STEPBACK_CONSOLE_EXECUTIONS"

// mixed is a state machine of which one execution in a hundred fails.
const mixed = `{"StartAt":"Choose","States":{"Choose":{"Type":"Choice","Choices":[{"Variable":"$.bad","BooleanEquals":true,
	"Next":"Fail"}],"Default":"Done"},"Done":{"Type":"Succeed"},"Fail":{"Type":"Fail","Error":"Boom","Cause":"one in a hundred"}}}`

// mapped is a state machine that runs mixed for each line of an object.
const mapped = `{"StartAt":"Each","States":{"Each":{"Type":"Map","Label":"L","End":true,"ToleratedFailurePercentage":100,
	"MaxConcurrency":1000,"ItemReader":{"Resource":"arn:aws:states:::s3:getObject","ReaderConfig":{"InputType":"JSONL"},
	"Parameters":{"Bucket":"bench","Key":"lines"}},"ResultWriter":{"Resource":"arn:aws:states:::s3:putObject",
	"Parameters":{"Bucket":"bench","Prefix":"results"}},"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED",
	"ExecutionType":"STANDARD"},` + "%s" + `}}}`

// inputOf returns the input of the i-th execution.
func inputOf(i int) string { return fmt.Sprintf(`{"n":%d,"bad":%t}`, i, i%100 == 7) }

// benchBed is a platform with many executions for benchmarks.
type benchBed struct {
	*local.Platform
	b      *testing.B
	n      int
	engine *engine.Engine
}

func newBenchBed(b *testing.B) *benchBed {
	b.Helper()
	n := 100_000
	if text := os.Getenv(sizeVariable); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			b.Fatalf("%s: %v", sizeVariable, err)
		}
	}
	p, err := local.Open(context.Background(), local.Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = p.Close() })
	e, err := p.Engine()
	if err != nil {
		b.Fatal(err)
	}
	bed := &benchBed{p, b, n, e}
	bed.make("many", mixed)
	bed.make("mapped", fmt.Sprintf(mapped, strings.TrimPrefix(mixed, "{")))
	return bed
}

// do serves a request without the network.
func (b *benchBed) do(r *http.Request) *httptest.ResponseRecorder {
	r.Host = "127.0.0.1"
	w := httptest.NewRecorder()
	if b.Handler().ServeHTTP(w, r); w.Code != http.StatusOK {
		b.b.Fatalf("%s: %d %s", r.URL, w.Code, w.Body)
	}
	return w
}

func (b *benchBed) make(name, definition string) {
	r := httptest.NewRequestWithContext(b.b.Context(), http.MethodPost, "/", strings.NewReader(fmt.Sprintf(
		`{"name":%q,"roleArn":"arn:aws:iam::000000000000:role/r","definition":%q}`, name, strings.ReplaceAll(definition, "\n\t", ""))))
	r.Header.Set("X-Amz-Target", "AWSStepFunctions.CreateStateMachine")
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	b.do(r)
	if _, err := b.engine.Define(engine.Definition{Name: name, Text: definition}); err != nil {
		b.b.Fatal(err)
	}
}

// start starts many executions and waits for their ends.
func (b *benchBed) start() {
	var next atomic.Int64
	var clients sync.WaitGroup
	for range 256 {
		clients.Go(func() {
			for i := int(next.Add(1)); i <= b.n; i = int(next.Add(1)) {
				if _, err := b.engine.StartExecution(b.b.Context(), machineARN+"many", fmt.Sprint("x-", i), inputOf(i)); err != nil {
					b.b.Error(err)
					return
				}
			}
		})
	}
	clients.Wait()
}

// lines stores an object with one line for each child execution.
func (b *benchBed) lines() {
	var text bytes.Buffer
	for i := range b.n {
		text.WriteString(inputOf(i) + "\n")
	}
	b.do(httptest.NewRequestWithContext(b.b.Context(), http.MethodPut, "/bench", http.NoBody))
	put := httptest.NewRequestWithContext(b.b.Context(), http.MethodPut, "/bench/lines", &text)
	put.Header.Set("Content-Length", strconv.Itoa(text.Len()))
	b.do(put)
}

// mapRun runs a Map Run over the object and returns the ARNs of the execution and of the Map Run.
func (b *benchBed) mapRun(name string) (execution, mapRun string) {
	arn := history.ExecutionARN(machineARN+"mapped", name)
	if _, err := b.engine.StartExecution(b.b.Context(), machineARN+"mapped", name, "{}"); err != nil {
		b.b.Fatal(err)
	}
	x, err := b.engine.Wait(b.b.Context(), arn)
	if err != nil || x.Status != engine.Succeeded {
		b.b.Fatal(x, err)
	}
	runs, err := b.engine.MapRunsOf(b.b.Context(), arn)
	if err != nil || len(runs) != 1 || runs[0].Items.Total() != int64(b.n) {
		b.b.Fatal(runs, err)
	}
	return arn, runs[0].ARN
}

// long stores an execution with a history of 25,000 events.
func (b *benchBed) long() string {
	begin := time.Now().Add(-time.Hour)
	events := []history.Event{{ID: 1, Time: begin.UnixNano(), Type: history.ExecutionStarted, Data: "{}"}}
	for id := int64(2); id+5 < 25_000; id += 5 {
		at := begin.UnixNano() + id*1e6
		events = append(events,
			history.Event{ID: id, Previous: id - 1, Time: at, Type: history.TaskStateEntered, Name: "Charge", Data: `{"a":1}`},
			history.Event{ID: id + 1, Previous: id, Time: at, Type: history.TaskScheduled, Data: `{}`},
			history.Event{ID: id + 2, Previous: id + 1, Time: at, Type: history.TaskStarted},
			history.Event{ID: id + 3, Previous: id + 2, Time: at + 5e5, Type: history.TaskSucceeded, Data: `{}`},
			history.Event{ID: id + 4, Previous: id + 3, Time: at + 6e5, Type: history.TaskStateExited, Name: "Charge", Data: `{}`})
	}
	d := journal.NewDefinition("long", "arn:aws:iam::000000000000:role/r", stuck, false)
	x := &journal.Execution{Info: history.Info{ARN: history.ExecutionARN(machineARN+"long", "l"),
		MachineARN: machineARN + "long", Origin: history.Origin{Name: "l", Input: "{}"}, Definition: d.ID},
		Status: history.Failed, Start: begin, Stop: begin.Add(time.Second), Failure: history.NewFailure("Boom", "")}
	kept := make(chan error, 1)
	b.Journal.Commit(&journal.Record{Execution: x, Definition: d, Begin: true, End: true, All: events, History: events},
		func(err error) { kept <- err })
	if err := <-kept; err != nil {
		b.b.Fatal(err)
	}
	return x.ARN
}

// page requests a page and returns its compressed size in bytes.
func (b *benchBed) page(path string) int {
	r := httptest.NewRequestWithContext(b.b.Context(), http.MethodGet, "/_stepback/"+path, nil)
	r.Header.Set("Accept-Encoding", "gzip")
	w := b.do(r)
	size := w.Body.Len()
	z, err := gzip.NewReader(w.Body)
	if err != nil {
		b.b.Fatal(err)
	}
	if text, err := io.ReadAll(z); err != nil || !bytes.Contains(text, []byte("</html>")) {
		b.b.Fatal(err)
	}
	return size
}

// BenchmarkPages requests the first page, long lists of executions, the page of a Map Run with as many children, and
// that of an execution with 25,000 events, and reports the compressed size of each. It creates 100,000 executions and
// as many children, or STEPBACK_CONSOLE_EXECUTIONS of each.
func BenchmarkPages(b *testing.B) {
	bed := newBenchBed(b)
	bed.start()
	bed.lines()
	execution, mapRun := bed.mapRun("m-1")
	long := url.PathEscape(bed.long())
	maps := "mapruns/" + url.PathEscape(mapRun)
	for _, page := range []struct{ name, path string }{
		{"tonight", ""}, {"machines", "machines"}, {"list", "machines/many"},
		{"list, failed", "machines/many?status=FAILED"}, {"list, running", "machines/many?status=RUNNING"},
		{"list, of an error", "machines/many?error=Boom&since=2h"},
		{"list, of an error that there is not", "machines/many?error=None"},
		{"list, retrying", "machines/many?retrying=true"},
		{"find a part of a name", "find?q=no-such-name"},
		{"Map Run", maps}, {"Map Run, failed", maps + "?status=FAILED"}, {"its execution", "executions/" + url.PathEscape(execution)},
		{"25,000 events", "executions/" + long}, {"25,000 events, a page of them", "executions/" + long + "?tab=events&from=20001"},
		{"25,000 events, data", "executions/" + long + "?tab=data"},
	} {
		b.Run(page.name, func(b *testing.B) {
			size := 0
			for b.Loop() {
				size = bed.page(page.path)
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
}

// spent returns the processor time of this thread or of the process.
func spent(b *testing.B, who int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

const rusageThread = 1 // Linux's RUSAGE_THREAD, which package syscall lacks

// counting adds the processor time of a handler to total. Each request runs on a separate thread.
func counting(b *testing.B, h http.Handler, total *atomic.Int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		before := spent(b, rusageThread)
		h.ServeHTTP(w, r)
		total.Add(int64(spent(b, rusageThread) - before))
	})
}

// watch acts like an open page: it follows the page's stream and reloads the page at every change.
func watch(ctx context.Context, endpoint, path, stream string, updates *atomic.Int64) error {
	ask := func(address, live string) (*http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint+"/_stepback/"+address, nil)
		if err != nil {
			return nil, err
		}
		r.Header.Set("X-Stepback-Live", live)
		return http.DefaultClient.Do(r)
	}
	answer, err := ask("stream?"+stream, "")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		if lines.Text() != "event: change" {
			continue
		}
		page, err := ask(path, "1")
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, page.Body)
		if err = errors.Join(err, page.Body.Close()); err != nil {
			return err
		}
		updates.Add(1)
	}
	return lines.Err()
}

// openPages opens sixteen pages until closed is called.
func openPages(b *testing.B, endpoint, execution string, updates *atomic.Int64) (closed func()) {
	ctx, stop := context.WithCancel(b.Context())
	var open sync.WaitGroup
	for i := range 16 {
		path, of := "", ""
		switch i % 4 {
		case 1:
			path = "machines/mapped"
		case 2:
			path, of = "executions/"+url.PathEscape(execution), execution
		case 3:
			path = "machines"
		}
		open.Go(func() {
			if err := watch(ctx, endpoint, path, url.Values{"of": {of}}.Encode(), updates); err != nil && ctx.Err() == nil {
				b.Error(err)
			}
		})
	}
	return func() {
		stop()
		open.Wait()
	}
}

// BenchmarkOpenPages runs a Map Run while sixteen pages that show it are open: the first page, machines, a list and
// its execution. It reports the console's processor time as a share of that of the same Map Run without pages. The
// cost of notifying the pages of each step is measured by BenchmarkFollow in package local.
func BenchmarkOpenPages(b *testing.B) {
	bed := newBenchBed(b)
	bed.lines()
	bed.mapRun("warm")
	var console, updates atomic.Int64
	server := httptest.NewServer(counting(b, bed.Handler(), &console))
	defer server.Close()
	var alone, engine, beside time.Duration
	without := func(n int) {
		before, began := spent(b, syscall.RUSAGE_SELF), time.Now()
		bed.mapRun(fmt.Sprint("alone-", n))
		engine += spent(b, syscall.RUSAGE_SELF) - before
		alone += time.Since(began)
	}
	with := func(n int) {
		name := fmt.Sprint("open-", n)
		closed := openPages(b, server.URL, history.ExecutionARN(machineARN+"mapped", name), &updates)
		began := time.Now()
		bed.mapRun(name)
		beside += time.Since(began)
		closed()
	}
	for n := range b.N {
		if n%2 == 0 {
			without(n)
			with(n)
		} else {
			with(n)
			without(n)
		}
	}
	b.ReportMetric(100*float64(console.Load())/float64(engine), "%-of-engine")
	b.ReportMetric(float64(updates.Load())/float64(b.N), "updates/op")
	b.ReportMetric(float64(bed.n*b.N)/alone.Seconds(), "children/s-alone")
	b.ReportMetric(float64(bed.n*b.N)/beside.Seconds(), "children/s-16-pages")
}
