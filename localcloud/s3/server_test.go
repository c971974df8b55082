package s3_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"stepback/localcloud/objectevent"
	"stepback/localcloud/s3"
)

const bucket = "incoming"

// start serves dir with the bucket "incoming" until the test ends.
func start(t *testing.T, dir string, opts s3.Options) (*s3.Server, *awss3.Client) {
	t.Helper()
	server, err := s3.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	if err := server.CreateBucket(bucket); err != nil {
		t.Fatal(err)
	}
	return server, server.Client(t.Context())
}

func put(t *testing.T, c *awss3.Client, key, body string) *awss3.PutObjectOutput {
	t.Helper()
	out, err := c.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: aws.String(bucket), Key: &key, Body: strings.NewReader(body)})
	if err != nil {
		t.Fatalf("put %q: %v", key, err)
	}
	return out
}

func get(t *testing.T, c *awss3.Client, in *awss3.GetObjectInput) (string, *awss3.GetObjectOutput) {
	t.Helper()
	in.Bucket = aws.String(bucket)
	out, err := c.GetObject(t.Context(), in)
	if err != nil {
		t.Fatalf("get %q: %v", *in.Key, err)
	}
	defer out.Body.Close()
	body, err := io.ReadAll(out.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body), out
}

// codeOf returns the S3 error code of err.
func codeOf(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

func TestObjectKeepsBodyETagTypeAndMetadataOverARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server, c := start(t, dir, s3.Options{})
	_, err := c.PutObject(t.Context(), &awss3.PutObjectInput{
		Bucket: aws.String(bucket), Key: aws.String("in/users.csv"), Body: strings.NewReader("hello"),
		ContentType: aws.String("text/csv"), Metadata: map[string]string{"Owner": "ops"},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, before := get(t, c, &awss3.GetObjectInput{Key: aws.String("in/users.csv")})
	server.Close()

	_, c = start(t, dir, s3.Options{Sync: true})
	put(t, c, "in/deeper/synced", "x")
	body, after := get(t, c, &awss3.GetObjectInput{Key: aws.String("in/users.csv")})
	if body != "hello" || *after.ETag != `"5d41402abc4b2a76b9719d911017c592"` || *after.ContentType != "text/csv" ||
		after.Metadata["owner"] != "ops" || *after.ContentLength != 5 || !after.LastModified.Equal(*before.LastModified) {
		t.Errorf("body %q, %+v", body, after)
	}
	onDisk, err := os.ReadFile(filepath.Join(dir, bucket, "in", "users.csv"))
	if err != nil || string(onDisk) != "hello" {
		t.Errorf("the file a person looks for: %q, %v", onDisk, err)
	}
	head, err := c.HeadObject(t.Context(), &awss3.HeadObjectInput{Bucket: aws.String(bucket), Key: aws.String("in/users.csv")})
	if err != nil || *head.ETag != *after.ETag || *head.ContentLength != 5 {
		t.Errorf("head %+v, %v", head, err)
	}
}

func TestAbsentThingsHaveS3sCodes(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	_, err := c.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String("none")})
	if codeOf(err) != "NoSuchKey" || !strings.Contains(err.Error(), "The specified key does not exist.") {
		t.Errorf("get: %v", err)
	}
	_, err = c.HeadObject(t.Context(), &awss3.HeadObjectInput{Bucket: aws.String(bucket), Key: aws.String("none")})
	if codeOf(err) != "NotFound" {
		t.Errorf("head: %v", err)
	}
	_, err = c.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: aws.String("nowhere"), Key: aws.String("k"), Body: strings.NewReader("")})
	if codeOf(err) != "NoSuchBucket" {
		t.Errorf("put: %v", err)
	}
	_, err = c.DeleteObject(t.Context(), &awss3.DeleteObjectInput{Bucket: aws.String(bucket), Key: aws.String("none")})
	if err != nil {
		t.Errorf("deleting what is not there: %v", err)
	}
}

func TestRanges(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	put(t, c, "k", "0123456789")
	for _, r := range []struct{ ask, body, contentRange string }{
		{"bytes=0-3", "0123", "bytes 0-3/10"},
		{"bytes=4-", "456789", "bytes 4-9/10"},
		{"bytes=-3", "789", "bytes 7-9/10"},
		{"bytes=-30", "0123456789", "bytes 0-9/10"},
		{"bytes=8-9223372036854775807", "89", "bytes 8-9/10"},
	} {
		body, out := get(t, c, &awss3.GetObjectInput{Key: aws.String("k"), Range: &r.ask})
		if body != r.body || aws.ToString(out.ContentRange) != r.contentRange {
			t.Errorf("%s: %q %q", r.ask, body, aws.ToString(out.ContentRange))
		}
	}
	_, err := c.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String("k"), Range: aws.String("bytes=10-")})
	if codeOf(err) != "InvalidRange" {
		t.Errorf("range beyond the end: %v", err)
	}
}

func TestConditionalReads(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	etag := *put(t, c, "k", "hello").ETag
	status := func(in *awss3.GetObjectInput) string {
		in.Bucket, in.Key = aws.String(bucket), aws.String("k")
		out, err := c.GetObject(t.Context(), in)
		if err == nil {
			out.Body.Close()
			return "OK"
		}
		return codeOf(err)
	}
	for _, r := range []struct {
		in   awss3.GetObjectInput
		want string
	}{
		{awss3.GetObjectInput{IfMatch: &etag}, "OK"},
		{awss3.GetObjectInput{IfMatch: aws.String(strings.Trim(etag, `"`))}, "OK"},
		{awss3.GetObjectInput{IfMatch: aws.String(`"other"`)}, "PreconditionFailed"},
		{awss3.GetObjectInput{IfMatch: aws.String(`"other"`), Range: aws.String("bytes=1-2")}, "PreconditionFailed"},
		{awss3.GetObjectInput{IfNoneMatch: aws.String(`"other"`)}, "OK"},
		{awss3.GetObjectInput{IfNoneMatch: &etag}, "NotModified"},
	} {
		if got := status(&r.in); got != r.want {
			t.Errorf("%+v: %s, want %s", r.in, got, r.want)
		}
	}
}

func TestConditionalWrites(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	write := func(match, noneMatch *string) string {
		_, err := c.PutObject(t.Context(), &awss3.PutObjectInput{
			Bucket: aws.String(bucket), Key: aws.String("k"), Body: strings.NewReader("hello"), IfMatch: match, IfNoneMatch: noneMatch,
		})
		return codeOf(err)
	}
	if got := write(aws.String(`"x"`), nil); got != "NoSuchKey" {
		t.Errorf("If-Match without an object: %q", got)
	}
	if got := write(nil, aws.String("*")); got != "" {
		t.Errorf("first If-None-Match: %q", got)
	}
	if got := write(nil, aws.String("*")); got != "PreconditionFailed" {
		t.Errorf("second If-None-Match: %q", got)
	}
	if got := write(aws.String(`"x"`), nil); got != "PreconditionFailed" {
		t.Errorf("wrong If-Match: %q", got)
	}
	if got := write(aws.String(`"5d41402abc4b2a76b9719d911017c592"`), nil); got != "" {
		t.Errorf("right If-Match: %q", got)
	}
}

func TestOnlyOneOfManyConditionalWritesWins(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	var wins, losses int
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			_, err := c.PutObject(t.Context(), &awss3.PutObjectInput{
				Bucket: aws.String(bucket), Key: aws.String("k"), Body: strings.NewReader("x"), IfNoneMatch: aws.String("*"),
			})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				wins++
			} else if codeOf(err) == "PreconditionFailed" {
				losses++
			}
		})
	}
	wg.Wait()
	if wins != 1 || losses != 15 {
		t.Errorf("%d won, %d lost", wins, losses)
	}
}

func TestConcurrentReadersSeeOneVersionOrTheOther(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	contents := map[string]string{} // by ETag
	var versions []string
	for _, ch := range "abcd" {
		body := strings.Repeat(string(ch), 50_000)
		contents[*put(t, c, "k", body).ETag] = body
		versions = append(versions, body)
	}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range 20 {
				_, err := c.PutObject(t.Context(), &awss3.PutObjectInput{
					Bucket: aws.String(bucket), Key: aws.String("k"), Body: strings.NewReader(versions[i])})
				if err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for range 20 {
				out, err := c.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String("k")})
				if err != nil {
					t.Error(err)
					return
				}
				body, _ := io.ReadAll(out.Body)
				out.Body.Close()
				if contents[*out.ETag] != string(body) {
					t.Errorf("ETag %s with a body of %d %.1q", *out.ETag, len(body), body)
				}
			}
		})
	}
	wg.Wait()
}

func TestCopy(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	_, err := c.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("a b"), Body: strings.NewReader("hello"),
		ContentType: aws.String("text/csv"), Metadata: map[string]string{"owner": "ops"}})
	if err != nil {
		t.Fatal(err)
	}
	copied, err := c.CopyObject(t.Context(), &awss3.CopyObjectInput{Bucket: aws.String(bucket), Key: aws.String("dir/c"), CopySource: aws.String(bucket + "/a%20b")})
	if err != nil || *copied.CopyObjectResult.ETag != `"5d41402abc4b2a76b9719d911017c592"` {
		t.Fatalf("%+v, %v", copied, err)
	}
	body, out := get(t, c, &awss3.GetObjectInput{Key: aws.String("dir/c")})
	if body != "hello" || *out.ContentType != "text/csv" || out.Metadata["owner"] != "ops" {
		t.Errorf("%q %+v", body, out)
	}
	_, err = c.CopyObject(t.Context(), &awss3.CopyObjectInput{Bucket: aws.String(bucket), Key: aws.String("dir/c"), CopySource: aws.String(bucket + "/a%20b"),
		MetadataDirective: types.MetadataDirectiveReplace, Metadata: map[string]string{"new": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	_, out = get(t, c, &awss3.GetObjectInput{Key: aws.String("dir/c")})
	if *out.ContentType == "text/csv" || out.Metadata["new"] != "1" || out.Metadata["owner"] != "" {
		t.Errorf("replaced metadata: %+v", out)
	}
	_, err = c.CopyObject(t.Context(), &awss3.CopyObjectInput{Bucket: aws.String(bucket), Key: aws.String("x"), CopySource: aws.String(bucket + "/a%20b"), CopySourceIfMatch: aws.String("no")})
	if codeOf(err) != "PreconditionFailed" {
		t.Errorf("conditional copy: %v", err)
	}
}

func TestUnseekableAndChunkedBodies(t *testing.T) {
	t.Parallel()
	server, _ := start(t, t.TempDir(), s3.Options{})
	c := awss3.New(server.Client(t.Context()).Options(), func(o *awss3.Options) {
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenSupported
	})
	body := strings.Repeat("0123456789", 30_000)
	_, err := c.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("k"), Body: bytes.NewReader([]byte(body))})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := get(t, c, &awss3.GetObjectInput{Key: aws.String("k")}); got != body {
		t.Errorf("%d bytes came back", len(got))
	}
}

func TestEventsOfCreatedObjects(t *testing.T) {
	t.Parallel()
	var events []objectevent.Event
	_, c := start(t, t.TempDir(), s3.Options{Region: "eu-west-1", Account: "123456789012", ObjectCreated: func(e objectevent.Event) { events = append(events, e) }})
	put(t, c, "a.csv", "hello")
	if _, err := c.CopyObject(t.Context(), &awss3.CopyObjectInput{Bucket: aws.String(bucket), Key: aws.String("b.csv"), CopySource: aws.String(bucket + "/a.csv")}); err != nil {
		t.Fatal(err)
	}
	etag := upload(t, c, "c.csv", "part one", "part two")
	var got []string
	for _, e := range events {
		got = append(got, string(e.Detail.Reason)+" "+e.Detail.Bucket.Name+"/"+e.Detail.Object.Key+" "+e.Detail.Object.ETag)
	}
	want := []string{
		"PutObject incoming/a.csv 5d41402abc4b2a76b9719d911017c592",
		"CopyObject incoming/b.csv 5d41402abc4b2a76b9719d911017c592",
		"CompleteMultipartUpload incoming/c.csv " + strings.Trim(etag, `"`),
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	first, second := events[0], events[1]
	if first.Detail.Object.Size != 5 || first.Region != "eu-west-1" || first.Account != "123456789012" || first.Resources[0] != "arn:aws:s3:::incoming" {
		t.Errorf("%+v", first)
	}
	if first.Detail.Object.Sequencer >= second.Detail.Object.Sequencer || first.ID == second.ID {
		t.Errorf("sequencers %s, %s", first.Detail.Object.Sequencer, second.Detail.Object.Sequencer)
	}
}

func TestBuckets(t *testing.T) {
	t.Parallel()
	server, c := start(t, t.TempDir(), s3.Options{})
	if err := server.CreateBucket("incoming"); err != nil {
		t.Errorf("making a bucket again: %v", err)
	}
	for _, name := range []string{"..", "a/b", ".meta", "UPPER", ""} {
		if err := server.CreateBucket(name); err == nil {
			t.Errorf("bucket %q was made", name)
		}
	}
	if err := server.CreateBucket("results"); err != nil {
		t.Fatal(err)
	}
	list, err := c.ListBuckets(t.Context(), &awss3.ListBucketsInput{})
	if err != nil || len(list.Buckets) != 2 || *list.Buckets[0].Name != "incoming" || *list.Buckets[1].Name != "results" {
		t.Errorf("%+v, %v", list, err)
	}
	put(t, c, "deep/er/k", "x")
	_, err = c.DeleteBucket(t.Context(), &awss3.DeleteBucketInput{Bucket: aws.String(bucket)})
	if codeOf(err) != "BucketNotEmpty" {
		t.Errorf("deleting a full bucket: %v", err)
	}
	if _, err := c.DeleteObject(t.Context(), &awss3.DeleteObjectInput{Bucket: aws.String(bucket), Key: aws.String("deep/er/k")}); err != nil {
		t.Fatal(err)
	}
	if _, err = c.DeleteBucket(t.Context(), &awss3.DeleteBucketInput{Bucket: aws.String(bucket)}); err != nil {
		t.Errorf("deleting an empty bucket: %v", err)
	}
}

func TestSubresourcesAreRefusedNotMistakenForTheObject(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	put(t, c, "k", "hello")
	_, err := c.PutObjectTagging(t.Context(), &awss3.PutObjectTaggingInput{Bucket: aws.String(bucket), Key: aws.String("k"),
		Tagging: &types.Tagging{TagSet: []types.Tag{{Key: aws.String("a"), Value: aws.String("b")}}}})
	if codeOf(err) != "NotImplemented" {
		t.Errorf("tagging: %v", err)
	}
	if body, _ := get(t, c, &awss3.GetObjectInput{Key: aws.String("k")}); body != "hello" {
		t.Errorf("the object is now %q", body)
	}
}

func TestStartRefusesOtherThanLoopback(t *testing.T) {
	t.Parallel()
	server, err := s3.Open(t.TempDir(), s3.Options{Addr: "0.0.0.0:0"})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(context.Background()); err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("%v", err)
	}
}
