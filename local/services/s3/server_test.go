package s3_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"stepback/local/services/s3"
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
	out, err := c.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: aws.String(bucket), Key: &key,
		Body: strings.NewReader(body)})
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
		after.Metadata["owner"] != "ops" || *after.ContentLength != 5 ||
		!after.LastModified.Equal(*before.LastModified) {
		t.Errorf("body %q, %+v", body, after)
	}
	onDisk, err := os.ReadFile(filepath.Join(dir, bucket, "in", "users.csv"))
	if err != nil || string(onDisk) != "hello" {
		t.Errorf("the file a person looks for: %q, %v", onDisk, err)
	}
	head, err := c.HeadObject(t.Context(), &awss3.HeadObjectInput{Bucket: aws.String(bucket),
		Key: aws.String("in/users.csv")})
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
	_, err = c.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: aws.String("nowhere"), Key: aws.String("k"),
		Body: strings.NewReader("")})
	if codeOf(err) != "NoSuchBucket" {
		t.Errorf("put: %v", err)
	}
	_, err = c.DeleteObject(t.Context(), &awss3.DeleteObjectInput{Bucket: aws.String(bucket), Key: aws.String("none")})
	if err != nil {
		t.Errorf("deleting what is not there: %v", err)
	}
}

func TestUnseekableAndChunkedBodies(t *testing.T) {
	t.Parallel()
	server, _ := start(t, t.TempDir(), s3.Options{})
	c := awss3.New(server.Client(t.Context()).Options(), func(o *awss3.Options) {
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenSupported
	})
	body := strings.Repeat("0123456789", 30_000)
	_, err := c.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("k"),
		Body: bytes.NewReader([]byte(body))})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := get(t, c, &awss3.GetObjectInput{Key: aws.String("k")}); got != body {
		t.Errorf("%d bytes came back", len(got))
	}
}

// TestChecksumsAndEncryptionAreTold compares with S3's responses.
func TestChecksumsAndEncryptionAreTold(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	for algorithm, want := range map[types.ChecksumAlgorithm]string{
		types.ChecksumAlgorithmCrc32: "DUoRhQ==", types.ChecksumAlgorithmCrc32c: "yZRlqg==",
		types.ChecksumAlgorithmSha1:   "Kq5sNclPz7QV2+lfQIuc6R7oRu0=",
		types.ChecksumAlgorithmSha256: "uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek=",
	} {
		out, err := c.PutObject(t.Context(), &awss3.PutObjectInput{
			Bucket: aws.String(bucket), Key: aws.String("k"), Body: strings.NewReader("hello world"),
			ChecksumAlgorithm: algorithm,
		})
		if err != nil {
			t.Fatal(err)
		}
		got := aws.ToString(out.ChecksumCRC32) + aws.ToString(out.ChecksumCRC32C) + aws.ToString(out.ChecksumSHA1) +
			aws.ToString(out.ChecksumSHA256)
		if got != want || out.ChecksumType != types.ChecksumTypeFullObject ||
			out.ServerSideEncryption != types.ServerSideEncryptionAes256 {
			t.Errorf("%s: %s (want %s), %s, %s", algorithm, got, want, out.ChecksumType, out.ServerSideEncryption)
		}
	}
	out, err := c.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("k"),
		Body: strings.NewReader("x")})
	if err != nil || out.ChecksumType != types.ChecksumTypeFullObject || aws.ToString(out.ChecksumCRC64NVME) != "Lb1nAmRU5LE=" || out.ServerSideEncryption != types.ServerSideEncryptionAes256 {
		t.Errorf("without a checksum: %+v, %v", out, err)
	}
	head, err := c.HeadObject(t.Context(), &awss3.HeadObjectInput{Bucket: aws.String(bucket), Key: aws.String("k")})
	if err != nil || head.ServerSideEncryption != types.ServerSideEncryptionAes256 {
		t.Errorf("head: %+v, %v", head, err)
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
	if err != nil || len(list.Buckets) != 2 || *list.Buckets[0].Name != "incoming" ||
		*list.Buckets[1].Name != "results" {
		t.Errorf("%+v, %v", list, err)
	}
	put(t, c, "deep/er/k", "x")
	_, err = c.DeleteBucket(t.Context(), &awss3.DeleteBucketInput{Bucket: aws.String(bucket)})
	if codeOf(err) != "BucketNotEmpty" {
		t.Errorf("deleting a full bucket: %v", err)
	}
	if _, err := c.DeleteObject(t.Context(), &awss3.DeleteObjectInput{Bucket: aws.String(bucket),
		Key: aws.String("deep/er/k")}); err != nil {
		t.Fatal(err)
	}
	if _, err = c.DeleteBucket(t.Context(), &awss3.DeleteBucketInput{Bucket: aws.String(bucket)}); err != nil {
		t.Errorf("deleting an empty bucket: %v", err)
	}
}

func TestSubresourcesAreRefusedNotMistakenForTheObject(t *testing.T) {
	t.Parallel()
	server, c := start(t, t.TempDir(), s3.Options{})
	put(t, c, "k", "hello")
	if _, err := c.PutObjectAcl(t.Context(), &awss3.PutObjectAclInput{Bucket: aws.String(bucket), Key: aws.String("k"),
		ACL: types.ObjectCannedACLPrivate}); err != nil {
		t.Errorf("access control: %v", err)
	}
	for _, name := range []string{"torrent", "renameObject"} {
		if w := send(server, http.MethodPut, "/incoming/k?"+name, "x"); w.Code != http.StatusNotImplemented {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	if body, _ := get(t, c, &awss3.GetObjectInput{Key: aws.String("k")}); body != "hello" {
		t.Errorf("the object is now %q", body)
	}
}

// TestPresignedURLs reads an object with URLs of both signature versions, and with one that also requests something
// else.
func TestPresignedURLs(t *testing.T) {
	t.Parallel()
	server, c := start(t, t.TempDir(), s3.Options{})
	put(t, c, "k", "hello")
	now := time.Now()
	later, past := fmt.Sprint(now.Add(time.Hour).Unix()), fmt.Sprint(now.Add(-time.Hour).Unix())
	fourth := func(at time.Time) string {
		return "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AK%2F20261121%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Signature=0" +
			"&X-Amz-SignedHeaders=host&X-Amz-Expires=60&X-Amz-Date=" + at.UTC().Format("20060102T150405Z") + "&x-id=GetObject"
	}
	for query, want := range map[string]int{
		"AWSAccessKeyId=AK&Signature=ab%2Bc%3D&Expires=" + later:                http.StatusOK,
		"AWSAccessKeyId=AK&Signature=a&x-amz-security-token=t&Expires=" + later: http.StatusOK,
		fourth(now): http.StatusOK,
		"AWSAccessKeyId=AK&Signature=a&torrent=&Expires=" + later:                http.StatusNotImplemented,
		"AWSAccessKeyId=AK&Signature=a&Expires=" + past:                          http.StatusForbidden,
		fourth(now.Add(-time.Hour)):                                              http.StatusForbidden,
		"X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AK&X-Amz-Signature=0": http.StatusBadRequest,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.Endpoint()+"/"+bucket+"/k?"+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if _ = a.Body.Close(); a.StatusCode != want {
			t.Errorf("%s: %d, want %d", query, a.StatusCode, want)
		}
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

// A stored page with a script cannot run it in a browser, and no other origin can read it.
func TestObjectsAreNoActiveContent(t *testing.T) {
	t.Parallel()
	server, _ := start(t, t.TempDir(), s3.Options{})
	do := func(method, path, body string) http.Header {
		r, err := http.NewRequestWithContext(t.Context(), method, server.Endpoint()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "text/html")
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = a.Body.Close()
		return a.Header
	}
	do(http.MethodPut, "/pages", "")
	do(http.MethodPut, "/pages/x.html", "<script>alert(1)</script>")
	for _, path := range []string{"/pages/x.html", "/pages/none.html", "/pages?list-type=2"} {
		h := do(http.MethodGet, path, "")
		if h.Get("X-Content-Type-Options") != "nosniff" || !strings.HasPrefix(h.Get("Content-Security-Policy"), "sandbox;") ||
			h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %v", path, h)
		}
	}
}
