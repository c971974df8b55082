package s3objects_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"stepback/aws/objects"
	"stepback/aws/objects/sdkobjects"
	"stepback/aws/rangedbody/breaktest"
	"stepback/csvimport"
	"stepback/csvimport/s3objects"
	local "stepback/local/services/s3"
	"stepback/retry"
	"stepback/statemachine"
)

// clients are the S3 clients that Objects can use.
var clients = map[string]func(endpoint string) objects.Store{
	"by model": func(endpoint string) objects.Store { return objects.Local(endpoint, "us-east-1") },
	"the SDK's": func(endpoint string) objects.Store {
		return sdkobjects.New(s3.New(s3.Options{
			Region: "us-east-1", BaseEndpoint: aws.String(endpoint), UsePathStyle: true, RetryMaxAttempts: 1,
			Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
		}))
	},
}

// everyClient runs a test with each client.
func everyClient(t *testing.T, test func(t *testing.T, client func(endpoint string) *s3objects.Objects)) {
	t.Parallel()
	for name, of := range clients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, func(endpoint string) *s3objects.Objects { return s3objects.New(of(endpoint)) })
		})
	}
}

// inBucket returns a handler of an S3 with one bucket, "inbox".
func inBucket(t *testing.T) http.Handler {
	t.Helper()
	server, err := local.Open(t.TempDir(), local.Options{})
	if err == nil {
		err = server.CreateBucket("inbox")
	}
	if err != nil {
		t.Fatal(err)
	}
	return server.Handler()
}

func fake(t *testing.T, client func(endpoint string) *s3objects.Objects) *s3objects.Objects {
	t.Helper()
	server := httptest.NewServer(inBucket(t))
	t.Cleanup(server.Close)
	return client(server.URL)
}

func wantName(t *testing.T, err error, name string) {
	t.Helper()
	var f *csvimport.Failure
	if !errors.As(err, &f) || f.Name != name {
		t.Errorf("error is %v, want %s", err, name)
	}
}

func TestPutGetList(t *testing.T) {
	everyClient(t, func(t *testing.T, client func(endpoint string) *s3objects.Objects) {
		o := fake(t, client)
		for _, key := range []string{"a/1.csv", "a/日本語 2.csv", "b/3.csv"} {
			if err := o.Put(t.Context(), csvimport.Location{Bucket: "inbox", Key: key}, strings.NewReader("content"), 7,
				"text/csv"); err != nil {
				t.Fatal(err)
			}
		}
		var keys []string
		err := o.List(t.Context(), "inbox", "a/", func(info csvimport.ObjectInfo) error {
			keys = append(keys, info.Key)
			return nil
		})
		if err != nil || strings.Join(keys, "|") != "a/1.csv|a/日本語 2.csv" {
			t.Errorf("listed %q, %v", keys, err)
		}
		at := csvimport.Location{Bucket: "inbox", Key: "a/日本語 2.csv"}
		object, err := o.Get(t.Context(), at, "")
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(object.Body)
		if err != nil || string(content) != "content" || object.Size != 7 ||
			object.ETag != "9a0364b9e99bb480dd25e1f0284c8555" {
			t.Errorf("object is %q, %+v, %v", content, object, err)
		}
		if _, err := o.Get(t.Context(), at, object.ETag); err != nil {
			t.Errorf("with its ETag: %v", err)
		}
		_, err = o.Get(t.Context(), at, "0123456789abcdef0123456789abcdef")
		wantName(t, err, statemachine.CSVFileChanged)
	})
}

func TestCopy(t *testing.T) {
	everyClient(t, func(t *testing.T, client func(endpoint string) *s3objects.Objects) {
		o := fake(t, client)
		from := csvimport.Source{Bucket: "inbox", Key: "a b+c/日本%語.csv", ETag: "9a0364b9e99bb480dd25e1f0284c8555"}
		at, to := csvimport.Location{Bucket: from.Bucket, Key: from.Key}, csvimport.Location{Bucket: "inbox", Key: "copy.csv"}
		if err := o.Put(t.Context(), at, strings.NewReader("content"), 7, "text/plain"); err != nil {
			t.Fatal(err)
		}
		if err := o.Copy(t.Context(), from, to, "text/csv"); err != nil {
			t.Fatal(err)
		}
		object, err := o.Get(t.Context(), to, "")
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(object.Body)
		if err != nil || string(content) != "content" || object.ContentType != "text/csv" {
			t.Errorf("the copy is %q of type %s, %v", content, object.ContentType, err)
		}
		if err := o.Put(t.Context(), at, strings.NewReader("another"), 7, "text/plain"); err != nil {
			t.Fatal(err)
		}
		wantName(t, o.Copy(t.Context(), from, to, "text/csv"), statemachine.CSVFileChanged)
		from.Key = "none.csv"
		wantName(t, o.Copy(t.Context(), from, to, "text/csv"), statemachine.CSVFileNotFound)
	})
}

func TestMissing(t *testing.T) {
	everyClient(t, func(t *testing.T, client func(endpoint string) *s3objects.Objects) {
		o := fake(t, client)
		_, err := o.Get(t.Context(), csvimport.Location{Bucket: "inbox", Key: "none.csv"}, "e")
		wantName(t, err, statemachine.CSVFileNotFound)
		_, err = o.Get(t.Context(), csvimport.Location{Bucket: "nowhere", Key: "none.csv"}, "")
		wantName(t, err, statemachine.CSVFileNotFound)
		wantName(t, o.List(t.Context(), "nowhere", "", nil), statemachine.CSVFileNotFound)
	})
}

func TestServiceErrors(t *testing.T) {
	everyClient(t, func(t *testing.T, client func(endpoint string) *s3objects.Objects) {
		for code, test := range map[string]struct {
			status int
			want   string
		}{
			"SlowDown":           {503, retry.S3SlowDown},
			"ServiceUnavailable": {503, retry.S3ServiceUnavailable},
			"InternalError":      {500, retry.S3InternalError},
			"RequestTimeout":     {400, retry.TimeoutError},
			"AccessDenied":       {403, retry.AccessDenied},
			"PreconditionFailed": {412, statemachine.CSVFileChanged},
			"Unheard":            {400, retry.RetryNotWorthwhile},
			"UnheardToo":         {502, retry.S3InternalError},
		} {
			calls := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				calls++
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, "<Error><Code>"+code+"</Code><Message>m</Message></Error>")
			}))
			_, err := client(server.URL).Get(t.Context(), csvimport.Location{Bucket: "inbox", Key: "k"}, "e")
			server.Close()
			wantName(t, err, test.want)
			if calls != 1 {
				t.Errorf("%s: %d requests, want 1: the state machine retries, not the SDK", code, calls)
			}
		}
	})
}

func TestNetworkErrors(t *testing.T) {
	everyClient(t, func(t *testing.T, client func(endpoint string) *s3objects.Objects) {
		_, err := client("http://127.0.0.1:1").Get(t.Context(), csvimport.Location{Bucket: "inbox", Key: "k"}, "")
		wantName(t, err, retry.ConnectionTimeoutError)

		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			conn, buffered, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			_, _ = buffered.WriteString("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")
			_ = buffered.Flush()
			_ = conn.(*net.TCPConn).SetLinger(0)
			_ = conn.Close()
		}))
		defer server.Close()
		object, err := client(server.URL).Get(t.Context(), csvimport.Location{Bucket: "inbox", Key: "k"}, "")
		if err != nil {
			wantName(t, err, retry.SocketTimeoutError) // the reset may arrive before the header
			return
		}
		_, err = io.ReadAll(object.Body)
		wantName(t, err, retry.SocketTimeoutError)
	})
}

// TestReadingOn reads a file over connections that break at drawn offsets.
func TestReadingOn(t *testing.T) {
	everyClient(t, func(t *testing.T, client func(endpoint string) *s3objects.Objects) {
		whole := inBucket(t)
		handler, broken := breaktest.Handler(whole, 5)
		intact, server := httptest.NewServer(whole), httptest.NewServer(handler)
		defer intact.Close()
		defer server.Close()
		at, content := csvimport.Location{Bucket: "inbox", Key: "k.csv"}, strings.Repeat("0123456789\n", 100_000)
		if err := client(intact.URL).Put(t.Context(), at, strings.NewReader(content), int64(len(content)), "text/csv"); err != nil {
			t.Fatal(err)
		}
		object, err := client(server.URL).Get(t.Context(), at, "")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(object.Body)
		if string(text) != content || err != nil || broken() == 0 {
			t.Errorf("read %d bytes, %v, after %d broken connections", len(text), err, broken())
		}
	})
}

// TestReadingOnInAnotherVersion reports that the file was replaced between two parts of it.
func TestReadingOnInAnotherVersion(t *testing.T) {
	everyClient(t, func(t *testing.T, client func(endpoint string) *s3objects.Objects) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") != "" {
				if r.Header.Get("If-Match") != `"e"` || r.Header.Get("Range") != "bytes=4-999" {
					t.Errorf("asked for %s if it is %s", r.Header.Get("Range"), r.Header.Get("If-Match"))
				}
				w.WriteHeader(http.StatusPreconditionFailed)
				return
			}
			w.Header().Set("ETag", `"e"`)
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "half")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}))
		defer server.Close()
		object, err := client(server.URL).Get(t.Context(), csvimport.Location{Bucket: "inbox", Key: "k"}, "")
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadAll(object.Body)
		wantName(t, err, statemachine.CSVFileChanged)
	})
}

// TestListingOfEveryKey lists keys with characters that XML cannot represent, and with those that URL encoding changes.
func TestListingOfEveryKey(t *testing.T) {
	everyClient(t, func(t *testing.T, client func(endpoint string) *s3objects.Objects) {
		server := httptest.NewServer(inBucket(t))
		defer server.Close()
		o := client(server.URL)
		want := []string{"in/\x01\x1b\n\r.csv", "in/a b.csv", "in/a+b%20c.csv", "in/利用者 é.csv"}
		for _, key := range want {
			if err := o.Put(t.Context(), csvimport.Location{Bucket: "inbox", Key: key}, strings.NewReader("x"), 1, "text/csv"); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		err := o.List(t.Context(), "inbox", "in/", func(i csvimport.ObjectInfo) error {
			got = append(got, i.Key)
			_, err := o.Head(t.Context(), csvimport.Location{Bucket: "inbox", Key: i.Key})
			return err
		})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("listed %q, %v; want %q", got, err, want)
		}
	})
}
