package s3_test

import (
	"crypto/md5"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"stepback/local/services/s3"
)

func begin(t *testing.T, c *awss3.Client, key string) *string {
	t.Helper()
	out, err := c.CreateMultipartUpload(t.Context(), &awss3.CreateMultipartUploadInput{
		Bucket: aws.String(bucket), Key: &key, ContentType: aws.String("text/csv")})
	if err != nil {
		t.Fatal(err)
	}
	return out.UploadId
}

func sendPart(t *testing.T, c *awss3.Client, key string, id *string, number int32, body string) types.CompletedPart {
	t.Helper()
	out, err := c.UploadPart(t.Context(), &awss3.UploadPartInput{
		Bucket: aws.String(bucket), Key: &key, UploadId: id, PartNumber: &number, Body: strings.NewReader(body)})
	if err != nil {
		t.Fatal(err)
	}
	return types.CompletedPart{PartNumber: &number, ETag: out.ETag}
}

func complete(t *testing.T, c *awss3.Client, key string, id *string,
	parts ...types.CompletedPart) (*awss3.CompleteMultipartUploadOutput, error) {
	t.Helper()
	return c.CompleteMultipartUpload(t.Context(), &awss3.CompleteMultipartUploadInput{
		Bucket: aws.String(bucket), Key: &key, UploadId: id,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: parts}})
}

// filled returns a part that starts with text and has S3's minimum size of all parts but the last.
func filled(text string) string { return text + strings.Repeat("x", 5<<20-len(text)) }

// upload creates an object from several parts and returns its ETag.
func upload(t *testing.T, c *awss3.Client, key string, bodies ...string) string {
	t.Helper()
	id := begin(t, c, key)
	var parts []types.CompletedPart
	for i, body := range bodies {
		parts = append(parts, sendPart(t, c, key, id, int32(i+1), body))
	}
	out, err := complete(t, c, key, id, parts...)
	if err != nil {
		t.Fatal(err)
	}
	return *out.ETag
}

func TestMultipartUploadSurvivesARestartAndKeepsItsETag(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server, c := start(t, dir, s3.Options{})
	id := begin(t, c, "big.csv")
	sendPart(t, c, "big.csv", id, 1, "replaced")
	one := sendPart(t, c, "big.csv", id, 1, filled("one,"))
	server.Close()

	server, c = start(t, dir, s3.Options{})
	three := sendPart(t, c, "big.csv", id, 3, "three")
	sendPart(t, c, "big.csv", id, 2, "not wanted")
	listed, err := c.ListParts(t.Context(), &awss3.ListPartsInput{Bucket: aws.String(bucket),
		Key: aws.String("big.csv"), UploadId: id, MaxParts: aws.Int32(2)})
	if err != nil || len(listed.Parts) != 2 || !*listed.IsTruncated || *listed.Parts[0].Size != 5<<20 {
		t.Fatalf("parts %+v, %v", listed, err)
	}
	out, err := complete(t, c, "big.csv", id, one, three)
	if err != nil {
		t.Fatal(err)
	}
	a, b := md5.Sum([]byte(filled("one,"))), md5.Sum([]byte("three"))
	want := fmt.Sprintf(`"%x-2"`, md5.Sum(append(a[:], b[:]...)))
	if *out.ETag != want {
		t.Errorf("ETag %s, want %s", *out.ETag, want)
	}
	server.Close()

	_, c = start(t, dir, s3.Options{})
	body, got := get(t, c, &awss3.GetObjectInput{Key: aws.String("big.csv"), IfMatch: &want})
	if body != filled("one,")+"three" || *got.ETag != want || *got.ContentType != "text/csv" {
		t.Errorf("%d bytes, %s %s", len(body), *got.ETag, *got.ContentType)
	}
	head, err := c.HeadObject(t.Context(), &awss3.HeadObjectInput{Bucket: aws.String(bucket),
		Key: aws.String("big.csv")})
	if err != nil || *head.ETag != want {
		t.Errorf("head %+v, %v", head, err)
	}
	if again, err := complete(t, c, "big.csv", id, one, three); err != nil || *again.ETag != want {
		t.Errorf("completing twice, as after a lost response: %+v, %v", again, err)
	}
	put(t, c, "big.csv", "replaced")
	if _, err := complete(t, c, "big.csv", id, one, three); codeOf(err) != "NoSuchUpload" {
		t.Errorf("completing after another upload: %v", err)
	}
}

func TestMultipartMistakes(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	id := begin(t, c, "k")
	one, two := sendPart(t, c, "k", id, 1, "1"), sendPart(t, c, "k", id, 2, "2")
	if _, err := complete(t, c, "k", id, one, two); codeOf(err) != "EntityTooSmall" {
		t.Errorf("size: %v", err)
	}
	if _, err := complete(t, c, "k", id, two, one); codeOf(err) != "InvalidPartOrder" {
		t.Errorf("order: %v", err)
	}
	if _, err := complete(t, c, "k", id, types.CompletedPart{PartNumber: aws.Int32(1),
		ETag: two.ETag}); codeOf(err) != "InvalidPart" {
		t.Errorf("wrong ETag: %v", err)
	}
	if _, err := complete(t, c, "other", id, one); codeOf(err) != "NoSuchUpload" {
		t.Errorf("another key: %v", err)
	}
	for _, bad := range []string{"../../x", "..", strings.Repeat("0", 32), "x"} {
		if _, err := complete(t, c, "k", &bad, one); codeOf(err) != "NoSuchUpload" {
			t.Errorf("upload id %q: %v", bad, err)
		}
	}
}

func TestUploadsAreListedAndAborted(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	id := begin(t, c, "b")
	begin(t, c, "a")
	begin(t, c, "b")
	out, err := c.ListMultipartUploads(t.Context(), &awss3.ListMultipartUploadsInput{Bucket: aws.String(bucket),
		MaxUploads: aws.Int32(2)})
	if err != nil || len(out.Uploads) != 2 || *out.Uploads[0].Key != "a" || *out.Uploads[1].UploadId != *id ||
		!*out.IsTruncated {
		t.Fatalf("%+v, %v", out, err)
	}
	out, err = c.ListMultipartUploads(t.Context(), &awss3.ListMultipartUploadsInput{Bucket: aws.String(bucket),
		KeyMarker: out.NextKeyMarker, UploadIdMarker: out.NextUploadIdMarker})
	if err != nil || len(out.Uploads) != 1 || *out.Uploads[0].Key != "b" {
		t.Fatalf("second page %+v, %v", out, err)
	}
	if _, err := c.AbortMultipartUpload(t.Context(), &awss3.AbortMultipartUploadInput{Bucket: aws.String(bucket),
		Key: aws.String("b"), UploadId: id}); err != nil {
		t.Fatal(err)
	}
	number := int32(1)
	_, err = c.UploadPart(t.Context(), &awss3.UploadPartInput{Bucket: aws.String(bucket), Key: aws.String("b"),
		UploadId: id, PartNumber: &number, Body: strings.NewReader("x")})
	if codeOf(err) != "NoSuchUpload" {
		t.Errorf("part after abort: %v", err)
	}
}
