package s3objects

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/parquet-go/parquet-go"

	"stepback/aws/objects"
	"stepback/aws/rangedbody"
	"stepback/aws/rangedbody/breaktest"
	"stepback/engine/itemreader"
	"stepback/engine/itemreader/parquetrows"
)

// breakingS3 returns a store whose connections break, the number of those that broke, and an intact store with the same
// content.
func breakingS3(t *testing.T, seed uint64) (breaking, intact *Store, broken func() int) {
	t.Helper()
	handler := dataBucket(t)
	cutting, broken := breaktest.Handler(handler, seed)
	intactServer, server := httptest.NewServer(handler), httptest.NewServer(cutting)
	t.Cleanup(intactServer.Close)
	t.Cleanup(server.Close)
	return New(objects.Local(server.URL, "us-east-1")), New(objects.Local(intactServer.URL, "us-east-1")), broken
}

func itemsOf(t *testing.T, s *Store, cfg itemreader.Config) []string {
	t.Helper()
	r, err := itemreader.Open(t.Context(), s, cfg)
	if err != nil {
		t.Fatalf("%s: %v", cfg.Key, err)
	}
	defer r.Close()
	var all []string
	for {
		item, err := r.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%s, item %d: %v", cfg.Key, len(all), err)
		}
		all = append(all, item.Value.JSON())
	}
}

// TestEveryDatasetOverBreakingConnections reads a dataset of each format over connections that break at drawn offsets.
func TestEveryDatasetOverBreakingConnections(t *testing.T) {
	t.Parallel()
	breaking, intact, broken := breakingS3(t, 28)
	var csv, jsonl, manifest bytes.Buffer
	csv.WriteString("id,name\n")
	var rows []struct {
		ID   int64  `parquet:"id"`
		Name string `parquet:"name"`
	}
	var all []string
	for i := range 20_000 {
		fmt.Fprintf(&csv, "%d,name %d\n", i, i)
		line := fmt.Sprintf(`{"id":%d,"name":"name %d"}`, i, i)
		jsonl.WriteString(line + "\n")
		all = append(all, line)
		rows = append(rows, struct {
			ID   int64  `parquet:"id"`
			Name string `parquet:"name"`
		}{int64(i), fmt.Sprint("name ", i)})
	}
	var table, zipped bytes.Buffer
	w := parquet.NewGenericWriter[struct {
		ID   int64  `parquet:"id"`
		Name string `parquet:"name"`
	}](&table, parquet.MaxRowsPerRowGroup(5000))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte(strings.TrimPrefix(csv.String(), "id,name\n")))
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	manifest.WriteString(`{"destinationBucket":"arn:aws:s3:::data","fileFormat":"CSV","fileSchema":"id, name","files":[{"key":"in/0.csv.gz"},{"key":"in/0.csv.gz"}]}`)
	for key, content := range map[string]string{"a.csv": csv.String(), "a.jsonl": jsonl.String(),
		"a.json": "[" + strings.Join(all, ",") + "]", "a.parquet": table.String(), "in/0.csv.gz": zipped.String(),
		"manifest.json": manifest.String()} {
		put(t, intact, key, content)
	}
	const get, list = "arn:aws:states:::s3:getObject", "arn:aws:states:::s3:listObjectsV2"
	formats := itemreader.Formats{"PARQUET": itemreader.FormatOf(parquetrows.Open)}
	for _, cfg := range []itemreader.Config{
		{Resource: get, Key: "a.csv", InputType: "CSV", CSVHeaderLocation: "FIRST_ROW"},
		{Resource: get, Key: "a.json", InputType: "JSON"},
		{Resource: get, Key: "a.jsonl", InputType: "JSONL"},
		{Resource: get, Key: "a.parquet", InputType: "PARQUET", Formats: formats},
		{Resource: get, Key: "manifest.json", InputType: "MANIFEST"},
		{Resource: list, Prefix: "in/", Transformation: "LOAD_AND_FLATTEN", InputType: "CSV", CSVHeaderLocation: "GIVEN",
			CSVHeaders: []string{"a", "b"}},
	} {
		cfg.Bucket = "data"
		before := broken()
		got, want := itemsOf(t, breaking, cfg), itemsOf(t, intact, cfg)
		if strings.Join(got, "\n") != strings.Join(want, "\n") || len(want) < len(all) {
			t.Errorf("%s%s: %d items, want %d", cfg.Key, cfg.Prefix, len(got), len(want))
		}
		if broken() == before {
			t.Errorf("%s%s: no connection broke", cfg.Key, cfg.Prefix)
		}
	}
}

// TestADatasetThatIsReplaced fails with an error that says so, instead of mixing two versions.
func TestADatasetThatIsReplaced(t *testing.T) {
	t.Parallel()
	handler, requests := dataBucket(t), 0
	var s *Store
	s = newStore(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/data/k" {
			handler.ServeHTTP(w, r)
			return
		}
		if requests++; requests > 1 {
			put(t, s, "k", strings.Repeat("new\n", 250)) //nolint:contextcheck // the object is replaced whatever happens
			handler.ServeHTTP(w, r)
			return
		}
		w.Header().Set("ETag", `"8f0a2a8b0a0e0b0e0b0e0b0e0b0e0b0e"`)
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, "old\n")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	body, _, err := s.Get(t.Context(), "data", "k", "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	var changed *rangedbody.ChangedError
	var typed *Error
	if string(text) != "old\n" || !errors.As(err, &changed) || !errors.As(err, &typed) {
		t.Fatalf("got %q, %v", text, err)
	}
	const want = `The object with the ETag "8f0a2a8b0a0e0b0e0b0e0b0e0b0e0b0e" was replaced after 4 bytes of it had been read ` +
		`(Service: S3, Status Code: 412, Error Code: PreconditionFailed, Operation: GetObject, Bucket: data, Key: k); ` +
		`the object has been replaced while it was read`
	if err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// TestStoredEncodings reads an object that is stored with Content-Encoding gzip as it is stored, as the SDKs do.
func TestStoredEncodings(t *testing.T) {
	t.Parallel()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte("id\n1\n"))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	s := newStore(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("ETag", `"e"`)
		_, _ = w.Write(zipped.Bytes())
	}))
	items := itemsOf(t, s, itemreader.Config{Resource: "arn:aws:states:::s3:getObject", Bucket: "data", Key: "a.csv.gz",
		InputType: "CSV", CSVHeaderLocation: "FIRST_ROW"})
	if got := strings.Join(items, " "); got != `{"id":"1"}` {
		t.Errorf("got %s", got)
	}
}
