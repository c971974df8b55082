package itemreader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

func TestConfigFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.MaxItems = -1 }, "field MaxItems must be positive"},
		{func(c *Config) { c.Resource = "arn:aws:states:::s3:headObject" },
			`ItemReader Resource "arn:aws:states:::s3:headObject" is not ` +
				`supported; use arn:aws:states:::s3:getObject or arn:aws:states:::s3:listObjectsV2`},
		{func(c *Config) { c.Bucket = "" },
			"the ItemReader names no bucket; give Bucket in its Parameters or Arguments"},
		{func(c *Config) { c.Key = "" },
			`the ItemReader names no object in bucket "data"; give Key in its Parameters or Arguments`},
		{func(c *Config) { c.InputType = "XML" }, `InputType "XML" is not one of CSV, JSON, JSONL, PARQUET, MANIFEST`},
		{func(c *Config) { c.InputType = "" },
			"s3:getObject needs a ReaderConfig with an InputType of CSV, JSON, JSONL, PARQUET or MANIFEST"},
		{func(c *Config) { c.InputType, c.VersionID = "PARQUET", "v1" },
			"InputType PARQUET does not support VersionId; remove it, the latest version is read"},
		{func(c *Config) { c.CSVDelimiter = "," }, `CSVDelimiter "," is not one of COMMA, PIPE, SEMICOLON, SPACE, TAB`},
		{func(c *Config) { c.CSVHeaderLocation = "" }, "InputType CSV needs a CSVHeaderLocation of FIRST_ROW or GIVEN"},
		{func(c *Config) { c.ManifestType = "S3_INVENTORY" },
			"ManifestType S3_INVENTORY takes no InputType, its data files are CSV; remove InputType CSV"},
		{func(c *Config) { c.ManifestType, c.InputType = "ATHENA_DATA", "JSON" },
			"ManifestType ATHENA_DATA needs an InputType of CSV, JSONL or PARQUET, the format of the UNLOAD query"},
		{func(c *Config) { c.Resource, c.Transformation, c.InputType = listObjects, "LOAD_AND_FLATTEN", "" },
			"Transformation LOAD_AND_FLATTEN needs an InputType of CSV, JSON, JSONL or PARQUET"},
		{func(c *Config) { c.Key = "absent" }, "The specified key does not exist."},
	}
	for _, test := range tests {
		cfg := csvConfig()
		test.change(&cfg)
		wantCause(t, memoryObjects{"f": "a\n1\n"}, cfg, test.want)
	}
}

func TestSkipIsWhatNextWouldHavePassed(t *testing.T) {
	t.Parallel()
	lines := memoryObjects{
		"csv":   "a,b\n1,2\n\n\"3\n\",4\n5,\\,6\n7,8",
		"json":  `{"x":[{"a":1}, "]" ,3,[[4]], 5]}`,
		"keyed": `{"x":{"a":1,"b":[2],"c":{},"d":4,"e":5}}`,
		"jsonl": "1\n\n2\n3\n4\n5\n",
	}
	for key, cfg := range map[string]Config{
		"csv":   {InputType: "CSV", CSVHeaderLocation: "FIRST_ROW"},
		"json":  {InputType: "JSON", ItemsPointer: "/x"},
		"keyed": {InputType: "JSON", ItemsPointer: "/x"},
		"jsonl": {InputType: "JSONL"},
	} {
		cfg.Resource, cfg.Bucket, cfg.Key = getObject, "data", key
		for n := range int64(7) {
			if got, want := restAfter(t, lines, cfg, n, true), restAfter(t, lines, cfg, n, false); got != want {
				t.Errorf("%s: after skipping %d\n got %s\nwant %s", key, n, got, want)
			}
		}
	}
}

func restAfter(t *testing.T, objects Objects, cfg Config, n int64, skip bool) string {
	t.Helper()
	r, err := Open(t.Context(), objects, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if skip {
		if err := r.Skip(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	} else {
		for range n {
			if _, err := r.Next(t.Context()); err != nil && !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
		}
	}
	var rest strings.Builder
	for {
		item, err := r.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return rest.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&rest, "%d %s %d\n", item.Index, inputText(item, item.Value.AppendJSON(nil)), r.Position().Offset)
	}
}

func TestCancelledContextIsNoReaderFailure(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := Open(ctx, memoryObjects{"f": "a\n1\n2\n"}, csvConfig())
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := r.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Next: got %v", err)
	}
	if _, err := Open(ctx, hugeObjects{}, csvConfig()); !errors.Is(err, context.Canceled) {
		t.Errorf("Open: got %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// brokenBody fails in the middle of an object.
type brokenBody struct{ memoryObjects }

func (b brokenBody) Get(context.Context, string, string, string, string) (io.ReadCloser, int64, error) {
	return io.NopCloser(io.MultiReader(strings.NewReader("a\n1\n2"), failing{})), -1, nil
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("connection reset by peer") }

func TestErrorInMidObjectIsFinal(t *testing.T) {
	t.Parallel()
	r, err := Open(t.Context(), brokenBody{}, csvConfig())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if item, err := r.Next(t.Context()); err != nil || item.Value.JSON() != `{"a":"1"}` {
		t.Fatalf("got %v, %v", item, err)
	}
	for range 2 {
		_, err := r.Next(t.Context())
		if err == nil || err.Error() != "States.ItemReaderFailed: reading S3://data/f: connection reset by peer" {
			t.Errorf("got %v", err)
		}
	}
}

func ExampleOpen() {
	objects := memoryObjects{"users.csv": "user_id,login_count\nu1,3\nu2,5\n"}
	ctx := context.Background()
	r, err := Open(ctx, objects, Config{
		Resource:          "arn:aws:states:::s3:getObject",
		Bucket:            "data",
		Key:               "users.csv",
		InputType:         "CSV",
		CSVHeaderLocation: "FIRST_ROW",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	for {
		item, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		fmt.Println(item.Index, item.Source, item.Value.JSON())
	}
	// Output:
	// 0 S3://data/users.csv {"user_id":"u1","login_count":"3"}
	// 1 S3://data/users.csv {"user_id":"u2","login_count":"5"}
}

// endlessRows is a CSV or JSON object that never ends.
type endlessRows struct {
	memoryObjects
	head, row string
}

func (e endlessRows) Get(context.Context, string, string, string, string) (io.ReadCloser, int64, error) {
	return io.NopCloser(io.MultiReader(strings.NewReader(e.head), &repeated{text: e.row})), -1, nil
}

type repeated struct {
	text string
	at   int
}

func (r *repeated) Read(p []byte) (int, error) {
	n := copy(p, r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	return n, nil
}

func TestMemoryDoesNotGrowWithTheObject(t *testing.T) {
	t.Parallel()
	rows := strings.Repeat("u1,1,2\n\"u2\",3,4\n", 500)
	values := strings.Repeat(`{"user_id":"u1","n":[1,2]},`, 500)
	for _, test := range []struct {
		cfg    Config
		object endlessRows
		view   func(records) *window
	}{
		{csvConfig(), endlessRows{head: "a,b,c\n", row: rows},
			func(r records) *window { return &r.(*csvRecords).rows.w }},
		{Config{Resource: getObject, Bucket: "data", Key: "f", InputType: "JSON"}, endlessRows{head: "[", row: values},
			func(r records) *window { return &r.(*jsonRecords).w }},
	} {
		r, err := Open(t.Context(), test.object, test.cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for range 50_000 {
			if _, err := r.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Skip(t.Context(), 50_000); err != nil {
			t.Fatal(err)
		}
		w := test.view(r.(*counted).src.(*sequence).items.(*textRecords).records)
		if len(w.buf) != firstWindow {
			t.Errorf("%s: after %d bytes the window is %d bytes", test.cfg.InputType, w.base, len(w.buf))
		}
	}
}
