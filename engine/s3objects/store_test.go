package s3objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"stepback/aws/objects"
	"stepback/aws/objects/sdkobjects"
	"stepback/engine/itemreader"
	"stepback/engine/resultwriter"
	local "stepback/local/services/s3"
)

// newStore returns a Store for an S3 server whose responses come from handler.
func newStore(t testing.TB, handler http.Handler) *Store {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return New(objects.Local(server.URL, "us-east-1"))
}

// dataBucket returns a handler of an S3 with one bucket, "data".
func dataBucket(t testing.TB) http.Handler {
	t.Helper()
	server, err := local.Open(t.TempDir(), local.Options{})
	if err == nil {
		err = server.CreateBucket("data")
	}
	if err != nil {
		t.Fatal(err)
	}
	return server.Handler()
}

// fakeS3 returns a Store for an S3 with one bucket, "data".
func fakeS3(t testing.TB) *Store {
	t.Helper()
	return newStore(t, dataBucket(t))
}

func put(t testing.TB, s *Store, key, text string) {
	t.Helper()
	if err := s.Put(t.Context(), "data", key, strings.NewReader(text), int64(len(text))); err != nil {
		t.Fatal(err)
	}
}

func TestPutAndGet(t *testing.T) {
	t.Parallel()
	s := fakeS3(t)
	put(t, s, "a/ユーザー b.csv", "hello")
	body, size, err := s.Get(t.Context(), "data", "a/ユーザー b.csv", "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	if err != nil || string(text) != "hello" || size != 5 {
		t.Errorf("got %q, %d, %v", text, size, err)
	}
}

func TestListsAllPages(t *testing.T) {
	t.Parallel()
	s := fakeS3(t)
	const objects = 1001
	for i := range objects {
		put(t, s, fmt.Sprintf("in/%04d", i), "x")
	}
	put(t, s, "other", "x")
	r, err := itemreader.Open(t.Context(), s, itemreader.Config{Resource: "arn:aws:states:::s3:listObjectsV2",
		Bucket: "data", Prefix: "in/"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := range objects {
		item, err := r.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		key, _ := item.Value.Get("Key")
		if etag, _ := item.Value.Get("Etag"); key.Text() != fmt.Sprintf("in/%04d", i) ||
			etag.Text() != `"9dd4e461268c8034f5c8564e155c67a6"` {
			t.Fatalf("item %d: %s", i, item.Value.JSON())
		}
	}
	if _, err := r.Next(t.Context()); err != io.EOF {
		t.Errorf("got %v, want the end", err)
	}
}

func TestErrorsOfS3(t *testing.T) {
	t.Parallel()
	s := fakeS3(t)
	denied := newStore(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>`)
	}))
	_, _, noKey := s.Get(t.Context(), "data", "absent.csv", "", "")
	_, _, noBucket := s.List(t.Context(), "elsewhere", "in/", "")
	_, _, noAccess := denied.Get(t.Context(), "data", "k", "", "111122223333")
	tests := []struct {
		err  error
		code string
		want string
	}{
		{noKey, "NoSuchKey", "The specified key does not exist. (Service: S3, Status Code: 404, Error Code: NoSuchKey, Operation: GetObject, " +
			"Bucket: data, Key: absent.csv); check the Key, and that the object was uploaded before the state machine started"},
		{noBucket, "NoSuchBucket", "The specified bucket does not exist (Service: S3, Status Code: 404, Error Code: NoSuchBucket, Operation: " +
			"ListObjectsV2, Bucket: elsewhere, Key: in/); check the Bucket, and that it is in the same Region and account as the state machine"},
		{noAccess, "AccessDenied", "Access Denied (Service: S3, Status Code: 403, Error Code: AccessDenied, Operation: GetObject, Bucket: data, " +
			"Key: k); allow the role s3:GetObject, s3:PutObject or s3:ListBucket on this bucket, and check ExpectedBucketOwner"},
	}
	for _, test := range tests {
		var typed *Error
		if !errors.As(test.err, &typed) || typed.Code != test.code {
			t.Errorf("%s: got %v", test.code, test.err)
			continue
		}
		if got := test.err.Error(); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := s.Get(ctx, "data", "k", "", ""); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	s := New(objects.Local(server.URL, "us-east-1"))
	err := s.Put(t.Context(), "data", "k", strings.NewReader("x"), 1)
	if err == nil || !strings.HasPrefix(err.Error(), "PutObject of s3://data/k failed: ") ||
		!strings.Contains(err.Error(), "connection refused") {
		t.Errorf("got %v", err)
	}
}

// TestThereAndBack exports the results of a Map Run and reads them back as the dataset of another one.
func TestThereAndBack(t *testing.T) {
	t.Parallel()
	s := fakeS3(t)
	w, err := resultwriter.New(s, resultwriter.Config{Bucket: "data", Prefix: "out",
		MapRunARN:      "arn:aws:states:us-east-1:1:mapRun:m/l:u",
		Transformation: resultwriter.Flatten, SpoolDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for _, output := range []string{`[{"row":0},{"row":1}]`, `[]`, `{"row":2}`} {
		if err := w.Add(resultwriter.ChildResult{Status: resultwriter.Succeeded, Output: output}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := itemreader.Open(t.Context(), s, itemreader.Config{Resource: "arn:aws:states:::s3:getObject",
		Bucket: "data",
		Key:    "out/u/SUCCEEDED_0.json", InputType: "JSON"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := range 3 {
		item, err := r.Next(t.Context())
		if want := fmt.Sprintf(`{"row":%d}`, i); err != nil || item.Value.JSON() != want {
			t.Fatalf("got %s, %v, want %s", item.Value.JSON(), err, want)
		}
	}
	if _, err := r.Next(t.Context()); err != io.EOF {
		t.Errorf("got %v, want the end", err)
	}
}

func ExampleNew() {
	typed := s3.New(s3.Options{Region: "us-east-1"}) // usually s3.NewFromConfig with the default configuration
	store := New(sdkobjects.New(typed))
	var _ itemreader.Objects = store
	var _ resultwriter.Objects = store
}
