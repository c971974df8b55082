package s3objects

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/parquet-go/parquet-go"

	"stepback/engine/itemreader"
	"stepback/engine/itemreader/parquetrows"
)

func TestRanges(t *testing.T) {
	t.Parallel()
	s := fakeS3(t)
	put(t, s, "k", "0123456789")
	size, etag, err := s.Stat(t.Context(), "data", "k", "")
	if size != 10 || etag != `"781e5e245d69b566979b86e28d23f2c7"` || err != nil {
		t.Fatalf("got %d, %s, %v", size, etag, err)
	}
	body, err := s.GetRange(t.Context(), "data", "k", "", "", 3, 4)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if text, err := io.ReadAll(body); string(text) != "3456" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestStatNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	s := fakeS3(t)
	for bucket, want := range map[string]string{"data": "NoSuchKey", "elsewhere": "NoSuchBucket"} {
		_, _, err := s.Stat(t.Context(), bucket, "absent", "")
		var typed *Error
		if !errors.As(err, &typed) || typed.Code != want {
			t.Errorf("%s: got %v, want %s", bucket, err, want)
		}
	}
}

// A response from an endpoint that ignores Range is not taken for the requested range.
func TestRangeIsNotTheWholeObject(t *testing.T) {
	t.Parallel()
	s := newStore(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_,
			_ = io.WriteString(w, "0123456789")
	}))
	_, err := s.GetRange(t.Context(), "data", "k", "", "", 3, 4)
	const want = "GetObject of s3://data/k failed: the endpoint returned the whole object instead of the requested Range"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestRangeOfAReplacedObject(t *testing.T) {
	t.Parallel()
	var asked string
	s := newStore(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.Header.Get("If-Match")
		w.WriteHeader(http.StatusPreconditionFailed)
		_, _ = io.WriteString(w, `<Error><Code>PreconditionFailed</Code><Message>At least one of the pre-conditions you specified did not hold</Message></Error>`)
	}))
	_, err := s.GetRange(t.Context(), "data", "k", "", `"e"`, 3, 4)
	const want = "At least one of the pre-conditions you specified did not hold (Service: S3, Status Code: 412, Error Code: PreconditionFailed, " +
		"Operation: GetObject, Bucket: data, Key: k); the object has been replaced while it was read"
	if err == nil || err.Error() != want || asked != `"e"` {
		t.Errorf("asked for %s, got %v", asked, err)
	}
}

// TestParquetOverHTTP reads a file with several columns and row groups range by range.
func TestParquetOverHTTP(t *testing.T) {
	t.Parallel()
	type row struct {
		ID   int64    `parquet:"id"`
		Tags []string `parquet:"tags,list"`
	}
	const rows = 100
	var content bytes.Buffer
	w := parquet.NewGenericWriter[row](&content, parquet.MaxRowsPerRowGroup(30), parquet.Compression(&parquet.Zstd))
	for i := range int64(rows) {
		if _, err := w.Write([]row{{ID: i, Tags: []string{"a", "b"}}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s := fakeS3(t)
	put(t, s, "k.parquet", content.String())
	r, err := itemreader.Open(t.Context(), s, itemreader.Config{Resource: "arn:aws:states:::s3:getObject",
		Bucket: "data", Key: "k.parquet", InputType: "PARQUET",
		Formats: itemreader.Formats{"PARQUET": itemreader.FormatOf(parquetrows.Open)}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Skip(t.Context(), 35); err != nil {
		t.Fatal(err)
	}
	for i := 35; i < rows; i++ {
		item, err := r.Next(t.Context())
		if want := fmt.Sprintf(`{"id":%d,"tags":["a","b"]}`, i); err != nil || item.Value.JSON() != want {
			t.Fatalf("got %s, %v, want %s", item.Value.JSON(), err, want)
		}
	}
	if _, err := r.Next(t.Context()); err != io.EOF {
		t.Errorf("got %v, want the end", err)
	}
}
