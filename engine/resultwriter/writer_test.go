package resultwriter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// memoryObjects stores objects in memory.
type memoryObjects map[string]string

func (m memoryObjects) Put(_ context.Context, bucket, key string, body io.ReadSeeker, size int64) error {
	content, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	if int64(len(content)) != size {
		return fmt.Errorf("%s: size %d announced, %d came", key, size, len(content))
	}
	m[bucket+"/"+key] = string(content)
	return nil
}

const (
	mapRunARN = "arn:aws:states:us-east-2:123456789012:mapRun:csvProcess/Map:ad9b5f27-090b-3ac6-9beb-243cd77144a7"
	folder    = "out/jobs/ad9b5f27-090b-3ac6-9beb-243cd77144a7/"
)

func succeeded(output string) ChildResult {
	return ChildResult{
		Status:          Succeeded,
		ExecutionARN:    "arn:aws:states:us-east-2:123456789012:execution:csvProcess/Map:da4e9fc7",
		Name:            "da4e9fc7",
		StateMachineARN: "arn:aws:states:us-east-2:123456789012:stateMachine:csvProcess/Map",
		Input:           `{"a":"b"}`,
		Output:          output,
		RedriveStatus:   "NOT_REDRIVABLE", RedriveStatusReason: "Execution is SUCCEEDED and cannot be redriven",
		StartDate: time.Date(2025, 2, 4, 1, 49, 50, 99e6, time.UTC), StopDate: time.Date(2025, 2, 4, 2, 49, 50, 0,
			time.FixedZone("", 3600)),
	}
}

func failed(status Status) ChildResult {
	return ChildResult{Status: status, ExecutionARN: "arn:x", Name: "x", Input: "1", Error: "Oops", Cause: "a \"b\"",
		RedriveCount: 2}
}

const (
	succeededRecord = `{"ExecutionArn":"arn:aws:states:us-east-2:123456789012:execution:csvProcess/Map:da4e9fc7",` +
		`"Input":"{\"a\":\"b\"}","InputDetails":{"Included":true},"Name":"da4e9fc7","Output":"[1,2]","OutputDetails":{"Included":true},` +
		`"RedriveCount":0,"RedriveStatus":"NOT_REDRIVABLE","RedriveStatusReason":"Execution is SUCCEEDED and cannot be redriven",` +
		`"StartDate":"2025-02-04T01:49:50.099Z","StateMachineArn":"arn:aws:states:us-east-2:123456789012:stateMachine:csvProcess/Map",` +
		`"Status":"SUCCEEDED","StopDate":"2025-02-04T01:49:50.000Z"}`
	failedRecord = `{"Cause":"a \"b\"","Error":"Oops","ExecutionArn":"arn:x","Input":"1","InputDetails":{"Included":true},"Name":"x",` +
		`"RedriveCount":2,"Status":"FAILED"}`
)

func newWriter(t *testing.T, objects Objects, cfg Config) *Writer {
	t.Helper()
	cfg.Bucket, cfg.Prefix, cfg.MapRunARN = "out", "jobs/", mapRunARN
	if cfg.SpoolDir == "" {
		cfg.SpoolDir = t.TempDir()
	}
	w, err := New(objects, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func add(t *testing.T, w *Writer, results ...ChildResult) {
	t.Helper()
	for _, r := range results {
		if err := w.Add(r); err != nil {
			t.Fatal(err)
		}
	}
}

func finish(t *testing.T, w *Writer) Export {
	t.Helper()
	export, err := w.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(w.cfg.SpoolDir)
	if err != nil || len(left) != 0 {
		t.Errorf("left in the spool folder: %v, %v", left, err)
	}
	return export
}

func wantObjects(t *testing.T, got memoryObjects, want map[string]string) {
	t.Helper()
	for key, content := range want {
		if got[folder+key] != content {
			t.Errorf("%s\n got %s\nwant %s", key, got[folder+key], content)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %d objects, want %d: %v", len(got), len(want), got)
	}
}

func TestExport(t *testing.T) {
	t.Parallel()
	objects := memoryObjects{}
	w := newWriter(t, objects, Config{})
	add(t, w, succeeded("[1,2]"), failed(Failed), succeeded("[1,2]"), failed(TimedOut), ChildResult{Status: Pending,
		Input: "3"}, failed(Aborted))
	export := finish(t, w)
	wantObjects(t, objects, map[string]string{
		"SUCCEEDED_0.json": "[" + succeededRecord + "," + succeededRecord + "]",
		"FAILED_0.json": "[" + failedRecord + "," + strings.Replace(failedRecord, "FAILED", "TIMED_OUT", 1) + "," +
			strings.Replace(failedRecord, "FAILED", "ABORTED", 1) + "]",
		"PENDING_0.json": `[{"Input":"3","InputDetails":{"Included":true},"Status":"PENDING"}]`,
		"manifest.json": `{"DestinationBucket":"out","MapRunArn":"` + mapRunARN + `","ResultFiles":{` +
			`"FAILED":[{"Key":"jobs/ad9b5f27-090b-3ac6-9beb-243cd77144a7/FAILED_0.json","Size":452}],` +
			`"PENDING":[{"Key":"jobs/ad9b5f27-090b-3ac6-9beb-243cd77144a7/PENDING_0.json","Size":67}],` +
			`"SUCCEEDED":[{"Key":"jobs/ad9b5f27-090b-3ac6-9beb-243cd77144a7/SUCCEEDED_0.json","Size":1043}]}}`,
	})
	want := `{"MapRunArn":"` + mapRunARN +
		`","ResultWriterDetails":{"Bucket":"out","Key":"jobs/ad9b5f27-090b-3ac6-9beb-243cd77144a7/manifest.json"}}`
	if got := export.StateOutput().JSON(); got != want {
		t.Errorf("state output\n got %s\nwant %s", got, want)
	}
}

func TestExportOfNothing(t *testing.T) {
	t.Parallel()
	objects := memoryObjects{}
	finish(t, newWriter(t, objects, Config{}))
	wantObjects(t, objects, map[string]string{
		"manifest.json": `{"DestinationBucket":"out","MapRunArn":"` + mapRunARN +
			`","ResultFiles":{"FAILED":[],"PENDING":[],"SUCCEEDED":[]}}`,
	})
}

func TestTransformations(t *testing.T) {
	t.Parallel()
	outputs := []string{"[1, {\"a\":\n2}]", "[]", `"x"`, "{\n}", " [ ] ", "[3]"}
	tests := []struct {
		transformation Transformation
		outputType     OutputType
		want           string
	}{
		{Compact, JSON, "[[1, {\"a\":\n2}],[],\"x\",{\n},[ ],[3]]"},
		{Flatten, JSON, "[1, {\"a\":\n2},\"x\",{\n},3]"},
		{Compact, JSONL, "[1,{\"a\":2}]\n[]\n\"x\"\n{}\n[ ]\n[3]\n"},
		{Flatten, JSONL, "1\n{\"a\":2}\n\"x\"\n{}\n3\n"},
	}
	for _, test := range tests {
		t.Run(string(test.transformation)+" "+string(test.outputType), func(t *testing.T) {
			t.Parallel()
			objects := memoryObjects{}
			w := newWriter(t, objects, Config{Transformation: test.transformation, OutputType: test.outputType})
			for _, output := range outputs {
				add(t, w, succeeded(output))
			}
			add(t, w, failed(Failed))
			finish(t, w)
			if got := objects[folder+"SUCCEEDED_0.json"]; got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			want := map[OutputType]string{JSON: "[" + failedRecord + "]", JSONL: failedRecord + "\n"}[test.outputType]
			if got := objects[folder+"FAILED_0.json"]; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestNewFileWhenFull(t *testing.T) {
	t.Parallel()
	objects := memoryObjects{}
	w := newWriter(t, objects, Config{Transformation: Compact})
	w.spools[Succeeded].limit = 10
	for _, output := range []string{"1000", "200", "30", `"a longer one than fits"`, "5"} {
		add(t, w, succeeded(output))
	}
	finish(t, w)
	for n, want := range []string{"[1000,200]", "[30]", `["a longer one than fits"]`, "[5]"} {
		if got := objects[fmt.Sprintf("%sSUCCEEDED_%d.json", folder, n)]; got != want {
			t.Errorf("file %d: got %s, want %s", n, got, want)
		}
	}
}

// refusing is an object store that refuses every object.
type refusing struct{ err error }

func (r refusing) Put(context.Context, string, string, io.ReadSeeker, int64) error { return r.err }

func TestFailures(t *testing.T) {
	t.Parallel()
	t.Run("store", func(t *testing.T) {
		t.Parallel()
		w := newWriter(t, refusing{errors.New("The specified bucket does not exist")}, Config{})
		add(t, w, succeeded("1"))
		_, err := w.Finish(t.Context())
		wantCause(t, err, "The specified bucket does not exist")
		if left, _ := os.ReadDir(w.cfg.SpoolDir); len(left) != 0 {
			t.Errorf("left: %v", left)
		}
	})
	t.Run("stopped", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := newWriter(t, refusing{ctx.Err()}, Config{}).Finish(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no folder", func(t *testing.T) {
		t.Parallel()
		w := newWriter(t, memoryObjects{}, Config{SpoolDir: "/does/not/exist"})
		var typed *Error
		if err := w.Add(succeeded("1")); !errors.As(err, &typed) || !errors.Is(err, os.ErrNotExist) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("disk full", func(t *testing.T) {
		t.Parallel()
		w := newWriter(t, memoryObjects{}, Config{})
		w.spools[Succeeded].create = func() (file, error) { return fullDisk{}, nil }
		add(t, w, succeeded("1"))
		_, err := w.Finish(t.Context())
		wantCause(t, err, "keeping the results in a temporary file: no space left on device; free space there or choose another folder")
	})
	t.Run("running child", func(t *testing.T) {
		t.Parallel()
		wantCause(t, newWriter(t, memoryObjects{}, Config{}).Add(ChildResult{Status: "RUNNING"}),
			`a child execution of status "RUNNING" has no result to write`)
	})
}

type fullDisk struct{ io.ReadSeeker }

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }
func (fullDisk) Close() error              { return nil }
func (fullDisk) Name() string              { return "nowhere" }

func wantCause(t *testing.T, err error, want string) {
	t.Helper()
	var typed *Error
	if !errors.As(err, &typed) || typed.Cause != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestConfigFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		cfg  Config
		want string
	}{
		{Config{MapRunARN: mapRunARN}, "the ResultWriter names no bucket; give Bucket in its Parameters or Arguments"},
		{Config{Bucket: "b"}, `MapRunARN "" is not the ARN of a Map run`},
		{Config{Bucket: "b", MapRunARN: mapRunARN, Transformation: "SQUASH"},
			`Transformation "SQUASH" is not one of NONE, COMPACT, FLATTEN`},
		{Config{Bucket: "b", MapRunARN: mapRunARN, OutputType: "CSV"}, `OutputType "CSV" is not one of JSON, JSONL`},
	} {
		_, err := New(memoryObjects{}, test.cfg)
		wantCause(t, err, test.want)
	}
}

func TestKeysWithoutPrefix(t *testing.T) {
	t.Parallel()
	w, err := New(memoryObjects{}, Config{Bucket: "out", MapRunARN: mapRunARN})
	if err != nil {
		t.Fatal(err)
	}
	export, err := w.Finish(t.Context())
	if err != nil || export.Key != "ad9b5f27-090b-3ac6-9beb-243cd77144a7/manifest.json" {
		t.Errorf("got %v, %v", export, err)
	}
}

func BenchmarkAdd(b *testing.B) {
	w, err := New(memoryObjects{}, Config{Bucket: "out", MapRunARN: mapRunARN, SpoolDir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	r := succeeded("[1,2]")
	r.Input = strings.Repeat(`{"row":123456,"record":{"user_id":"user-123456"}},`, 100)
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Add(r); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Abort(); err != nil {
		b.Fatal(err)
	}
}

func ExampleWriter() {
	objects := memoryObjects{}
	w, err := New(objects, Config{Bucket: "out", Prefix: "jobs", MapRunARN: mapRunARN, Transformation: Compact})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, output := range []string{`{"outcome":"applied"}`, `{"outcome":"rejected"}`} {
		if err := w.Add(ChildResult{Status: Succeeded, Output: output}); err != nil {
			fmt.Println(err)
			return
		}
	}
	export, err := w.Finish(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(export.Key)
	fmt.Println(objects["out/jobs/ad9b5f27-090b-3ac6-9beb-243cd77144a7/SUCCEEDED_0.json"])
	// Output:
	// jobs/ad9b5f27-090b-3ac6-9beb-243cd77144a7/manifest.json
	// [{"outcome":"applied"},{"outcome":"rejected"}]
}
