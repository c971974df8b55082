package s3

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stepback/aws"
)

func open(t testing.TB, dir string) *store {
	t.Helper()
	s, err := openStore(dir, Options{}.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CreateBucket("bucket"); err != nil && !isCode(err, "BucketAlreadyOwnedByYou") {
		t.Fatal(err)
	}
	return s
}

// perform performs a call for a key of the bucket "bucket", with an own account as its caller.
func perform(s *store, method, key string, query url.Values, h http.Header, body io.Reader, size int64) (
	*httptest.ResponseRecorder, any, error) {
	r := httptest.NewRequest(method, "/", body)
	r.URL = &url.URL{Path: "/bucket/" + key, RawQuery: query.Encode()}
	r.ContentLength = size
	if h != nil {
		r.Header = h.Clone()
	}
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20261127/us-east-1/s3/aws4_request, "+
		"SignedHeaders=host, Signature=0")
	w := httptest.NewRecorder()
	c := &call{Request: r, w: w, header: w.Header(), query: query, bucket: "bucket", key: key}
	answer, err := s.perform(c)
	return w, answer, err
}

func putBody(s *store, key string, h http.Header, body io.Reader, size int64) error {
	_, _, err := perform(s, http.MethodPut, key, nil, h, body, size)
	return err
}

func mustPut(t testing.TB, s *store, key, body string) {
	t.Helper()
	if err := putBody(s, key, nil, strings.NewReader(body), int64(len(body))); err != nil {
		t.Fatalf("put %q: %v", key, err)
	}
}

// fullDisk writes to a real file until the space in room is used up.
type fullDisk struct {
	*os.File
	room int
}

func (f *fullDisk) Write(p []byte) (int, error) {
	if len(p) > f.room {
		return 0, &os.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC}
	}
	f.room -= len(p)
	return f.File.Write(p)
}

func TestAFullDiskKeepsTheOldObjectAndNoHalfOne(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	mustPut(t, s, "k", "before")
	diskWith := func(room int) func(string) (bodyFile, error) {
		return func(dir string) (bodyFile, error) {
			f, err := os.CreateTemp(dir, "body-*")
			return &fullDisk{File: f, room: room}, err
		}
	}
	for name, newFile := range map[string]func(string) (bodyFile, error){
		"full at once":              diskWith(0),
		"full half way":             diskWith(300 << 10),
		"full when the record came": inTurn(newBodyFile, diskWith(0)),
	} {
		s.newFile = newFile
		err := putBody(s, "k", nil, bytes.NewReader(make([]byte, 512<<10)), 512<<10)
		if !isCode(err, StorageFull) || !strings.Contains(err.Error(), "Free some space") {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := os.ReadDir(s.tempDir()); len(left) != 0 {
			t.Errorf("%s: left in .tmp: %v", name, left)
		}
		w, _, err := perform(s, http.MethodGet, "k", nil, nil, http.NoBody, 0)
		if err != nil {
			t.Fatal(err)
		}
		if body := w.Body.String(); body != "before" {
			t.Errorf("%s: the object is now %.20q", name, body)
		}
	}
}

// TestADescriptionThatIsHalfWritten puts an object whose description does not fit on the disk, and one whose
// description a killed process has begun to write.
func TestADescriptionThatIsHalfWritten(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	s.newRecord = func(path string) (bodyFile, error) {
		f, err := os.Create(path)
		return &fullDisk{File: f, room: 10}, err
	}
	if err := putBody(s, "k", nil, strings.NewReader("first"), 5); !isCode(err, StorageFull) {
		t.Errorf("full: %v", err)
	}
	if _, err := os.Stat(s.recordPath("bucket", "k")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the description was left: %v", err)
	}
	if _, _, err := perform(s, http.MethodGet, "k", nil, nil, http.NoBody, 0); !isCode(err, "NoSuchKey") {
		t.Errorf("get: %v", err)
	}
	s.newRecord = newRecordFile
	if err := os.WriteFile(s.recordPath("bucket", "k"), []byte(`{"key":"k","ver`), 0o600); err != nil {
		t.Fatal(err)
	}
	mustPut(t, s, "k", "second")
	w, _, err := perform(s, http.MethodGet, "k", nil, nil, http.NoBody, 0)
	if err != nil || w.Body.String() != "second" {
		t.Errorf("got %q, %v", w.Body, err)
	}
	if text, err := os.ReadFile(s.recordPath("bucket", "k")); err != nil || !strings.HasPrefix(string(text), `{"key":"k","versions":[{"size":6,`) {
		t.Errorf("the description is %s, %v", text, err)
	}
}

func inTurn(first, second func(string) (bodyFile, error)) func(string) (bodyFile, error) {
	return func(dir string) (bodyFile, error) {
		f := first
		first = second
		return f(dir)
	}
}

// TestABucketThatWasRemovedByHand asks for objects of a bucket whose settings the store has in memory.
func TestABucketThatWasRemovedByHand(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	if err := s.changeSettings("bucket", map[string]string{ownerSetting: s.account}); err != nil {
		t.Fatal(err)
	}
	mustPut(t, s, "k", "content")
	if err := os.RemoveAll(s.bucketDir("bucket")); err != nil {
		t.Fatal(err)
	}
	if !s.settings.has("bucket", ownerSetting) {
		t.Error("the settings are not in memory")
	}
	for _, query := range []url.Values{nil, {"versionId": {"null"}}, {"tagging": {""}}, {"acl": {""}}, {"retention": {""}}} {
		if _, _, err := perform(s, http.MethodGet, "k", query, nil, http.NoBody, 0); !isCode(err, "NoSuchBucket") {
			t.Errorf("get %v: %v", query, err)
		}
	}
	for _, key := range []string{"k", "new", "new/one"} {
		if err := putBody(s, key, nil, strings.NewReader("again"), 5); !isCode(err, "NoSuchBucket") {
			t.Errorf("put %s: %v", key, err)
		}
	}
	if left, _ := os.ReadDir(s.tempDir()); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestACutOffBodyLeavesNothing(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	err := putBody(s, "k", nil, io.MultiReader(strings.NewReader("half"), errorReader{io.ErrUnexpectedEOF}), 8)
	if !isCode(err, "IncompleteBody") {
		t.Errorf("cut off: %v", err)
	}
	err = putBody(s, "k", nil, strings.NewReader("short"), 8)
	if !isCode(err, "IncompleteBody") {
		t.Errorf("short: %v", err)
	}
	if _, _, err := perform(s, http.MethodHead, "k", nil, nil, http.NoBody, 0); !isCode(err, "NoSuchKey") {
		t.Errorf("head: %v", err)
	}
	if left, _ := os.ReadDir(s.tempDir()); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

type errorReader struct{ err error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.err }

// A crash between writing the record and renaming the body leaves the old content; one after it, the new. Both must
// keep their ETags and types.
func TestACrashBetweenTheTwoRenamesKeepsETags(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	meta := func(kind string) http.Header { return http.Header{"Content-Type": {kind}} }
	if err := putBody(s, "k", meta("old/type"), strings.NewReader("same size A"), 11); err != nil {
		t.Fatal(err)
	}
	plain, _ := s.objectPaths("bucket", "k")
	old := filepath.Join(t.TempDir(), "old")
	if err := os.Link(plain, old); err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	if err := putBody(s, "k", meta("new/type"), strings.NewReader("same size B"), 11); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(old, plain); err != nil { // as if the second rename had not happened
		t.Fatal(err)
	}
	w, _, err := perform(open(t, s.root), http.MethodHead, "k", nil, nil, http.NoBody, 0)
	if err != nil || w.Header().Get("Content-Type") != "old/type" ||
		w.Header().Get("ETag") != `"6e4ae8f103e98744f505ef9a20edb621"` {
		t.Errorf("%v %v", w.Header(), err)
	}
}

func TestUnfinishedBodiesAreDroppedAtOpen(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	if err := os.WriteFile(filepath.Join(s.tempDir(), "body-1"), []byte("half"), 0o644); err != nil {
		t.Fatal(err)
	}
	open(t, s.root)
	if left, _ := os.ReadDir(s.tempDir()); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// naiveList is the reference definition of listing, over a sorted list of all keys.
func naiveList(keys []string, prefix, delimiter, after string) (contents, prefixes []string) {
	for _, key := range keys {
		if !strings.HasPrefix(key, prefix) || key <= after {
			continue
		}
		if common, rolled := commonPrefix(key, prefix, delimiter); rolled {
			if common != after && !slices.Contains(prefixes, common) {
				prefixes = append(prefixes, common)
			}
			continue
		}
		contents = append(contents, key)
	}
	return contents, prefixes
}

func TestListingEqualsItsDefinition(t *testing.T) {
	t.Parallel()
	key := rapid.StringOfN(rapid.SampledFrom([]rune("aB-/.%0é")), 1, 8, -1)
	dir := t.TempDir()
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		s := open(t, filepath.Join(dir, fmt.Sprint(run)))
		keys := rapid.SliceOfNDistinct(key, 1, 12, func(k string) string { return k }).Draw(rt, "keys")
		for _, k := range keys {
			mustPut(t, s, k, k)
		}
		slices.Sort(keys)
		prefix := rapid.SampledFrom([]string{"", "a", "a/", "a/B", "/", "%"}).Draw(rt, "prefix")
		delimiter := rapid.SampledFrom([]string{"", "/", "-", "a/"}).Draw(rt, "delimiter")
		most := rapid.IntRange(1, 5).Draw(rt, "max")
		marker := rapid.SampledFrom(append(keys, "")).Draw(rt, "after")
		wantContents, wantPrefixes := naiveList(keys, prefix, delimiter, marker)
		var contents, prefixes []string
		for {
			_, answer, err := perform(s, http.MethodGet, "", url.Values{"prefix": {prefix}, "delimiter": {delimiter},
				"max-keys": {fmt.Sprint(most)}, "marker": {marker}}, nil, http.NoBody, 0)
			if err != nil {
				rt.Fatal(err)
			}
			list := answer.(*objectList)
			if n := len(list.Contents) + len(list.CommonPrefixes); n > most || list.IsTruncated && n != most {
				rt.Fatalf("a page of %d, truncated %v", n, list.IsTruncated)
			}
			for _, c := range list.Contents {
				contents = append(contents, c.Key)
			}
			for _, c := range list.CommonPrefixes {
				prefixes = append(prefixes, c.Prefix)
			}
			if !list.IsTruncated {
				break
			}
			marker = list.NextMarker
			if delimiter == "" { // S3 has no NextMarker then: the last key is the marker
				marker = list.Contents[len(list.Contents)-1].Key
			}
		}
		if !slices.Equal(contents, wantContents) || !slices.Equal(prefixes, wantPrefixes) {
			rt.Fatalf("keys %q\ngot  %q %q\nwant %q %q", keys, contents, prefixes, wantContents, wantPrefixes)
		}
	})
}

func FuzzKeyPath(f *testing.F) {
	for _, key := range []string{"a/b", "../x", "%2E", "", "a//b", strings.Repeat("x", 1000), "\x00\xff"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		var name strings.Builder
		for e := range strings.SplitSeq(keyPath(key), "/") {
			if e == "" || e == "." || e == ".." || len(e) > 250 || strings.ContainsAny(e, "\x00\\") {
				t.Fatalf("%q gives the element %q", key, e)
			}
			encoded, goesOn := strings.CutSuffix(e, continuation)
			element, ok := decodeElement(encoded)
			if !ok {
				t.Fatalf("%q: %q cannot be read back", key, e)
			}
			name.WriteString(element)
			if !goesOn {
				name.WriteByte('/')
			}
		}
		if got := strings.TrimSuffix(name.String(), "/"); name.String() != key+"/" {
			t.Fatalf("%q came back as %q", key, got)
		}
	})
}

func TestChunkedBodies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, wire, want string }{
		{"signed", "5;chunk-signature=ad80\r\nhello\r\n6;chunk-signature=cc\r\n world\r\n0;chunk-signature=ff\r\n\r\n",
			"hello world"},
		{"unsigned with a trailer", "b\r\nhello world\r\n0\r\nx-amz-checksum-crc32:DUoRhQ==\r\n\r\n", "hello world"},
		{"empty", "0\r\n\r\n", ""},
		{"cut off", "b\r\nhello", "unexpected EOF"},
		{"no size", "zz\r\nhello", errChunk.Error()},
		{"longer than it says", "2\r\nhello\r\n0\r\n\r\n", errChunk.Error()},
	} {
		r := httptest.NewRequest(http.MethodPut, "/bucket/k", strings.NewReader(c.wire))
		r.Header.Set("X-Amz-Content-Sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER")
		r.Header.Set("X-Amz-Decoded-Content-Length", fmt.Sprint(len(c.want)))
		r.Header.Set("Content-Encoding", "aws-chunked,gzip")
		if refusal := decodeChunked(r); refusal != nil {
			t.Fatal(refusal)
		}
		got, err := io.ReadAll(r.Body)
		if err != nil {
			got = []byte(strings.TrimSpace(err.Error()))
		}
		if string(got) != c.want || r.Header.Get("Content-Encoding") != "gzip" {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestReadConditions(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 1, 0, 0, 0, 500, time.UTC)
	before, same := at.Add(-time.Hour).Format(http.TimeFormat), at.Format(http.TimeFormat)
	for _, c := range []struct {
		conditions readConditions
		want       int
	}{
		{readConditions{}, 200},
		{readConditions{ifModifiedSince: same}, 304},
		{readConditions{ifModifiedSince: before}, 200},
		{readConditions{ifUnmodifiedSince: same}, 200},
		{readConditions{ifUnmodifiedSince: before}, 412},
		{readConditions{ifMatch: `"e"`, ifUnmodifiedSince: before}, 200},
		{readConditions{ifNoneMatch: `"x", "e"`, ifModifiedSince: before}, 304},
		{readConditions{ifMatch: "*"}, 200},
	} {
		if got := statusOf(c.conditions.check(&version{ETag: "e", Modified: at})); got != c.want {
			t.Errorf("%+v: %d, want %d", c.conditions, got, c.want)
		}
	}
}

// statusOf returns the HTTP status of a response that has an error, or none.
func statusOf(err error) int {
	if e, ok := errors.AsType[*aws.Error](err); ok {
		return e.Status
	}
	return http.StatusOK
}

func BenchmarkPutSmall(b *testing.B) {
	s := open(b, b.TempDir())
	body := strings.Repeat("x", 1000)
	b.ReportAllocs()
	for i := range b.N {
		mustPut(b, s, fmt.Sprintf("dir/%d", i), body)
	}
}
