package s3_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"stepback/local/services/s3"
)

func TestPartsAreCopiedFromObjects(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	whole := strings.Repeat("0123456789", 600_000)
	put(t, c, "from/ü +1", whole)
	key := aws.String("joined")
	u, err := c.CreateMultipartUpload(t.Context(), &awss3.CreateMultipartUploadInput{Bucket: aws.String(bucket),
		Key: key})
	if err != nil {
		t.Fatal(err)
	}
	var parts []types.CompletedPart
	for i, bytes := range []*string{aws.String("bytes=8-5242887"), nil, aws.String("bytes=0-0")} {
		number := aws.Int32(int32(i + 1))
		p, err := c.UploadPartCopy(t.Context(), &awss3.UploadPartCopyInput{
			Bucket: aws.String(bucket), Key: key, UploadId: u.UploadId, PartNumber: number,
			CopySource: aws.String("/incoming/from/%C3%BC%20%2B1"), CopySourceRange: bytes,
		})
		if err != nil {
			t.Fatal(err)
		}
		if p.CopyPartResult.LastModified == nil {
			t.Error("no time of modification")
		}
		parts = append(parts, types.CompletedPart{PartNumber: number, ETag: p.CopyPartResult.ETag})
	}
	_, err = c.CompleteMultipartUpload(t.Context(), &awss3.CompleteMultipartUploadInput{
		Bucket: aws.String(bucket), Key: key, UploadId: u.UploadId,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
	})
	if err != nil {
		t.Fatal(err)
	}
	if body, _ := get(t, c, &awss3.GetObjectInput{Key: key}); body != whole[8:5242888]+whole+"0" {
		t.Errorf("%d bytes", len(body))
	}
}

func TestCopiesOfPartsAreRefused(t *testing.T) {
	t.Parallel()
	server, c := start(t, t.TempDir(), s3.Options{})
	put(t, c, "from", "0123456789")
	u, err := c.CreateMultipartUpload(t.Context(), &awss3.CreateMultipartUploadInput{Bucket: aws.String(bucket),
		Key: aws.String("k")})
	if err != nil {
		t.Fatal(err)
	}
	query := "?partNumber=1&uploadId=" + *u.UploadId
	for name, e := range map[string]struct {
		query   string
		headers []string
		status  int
		code    string
	}{
		"beyond the end": {query, []string{"X-Amz-Copy-Source", "incoming/from", "X-Amz-Copy-Source-Range",
			"bytes=5-10"}, 400, "InvalidArgument"},
		"backwards": {query, []string{"X-Amz-Copy-Source", "incoming/from", "X-Amz-Copy-Source-Range",
			"bytes=5-4"}, 400, "InvalidArgument"},
		"no range": {query, []string{"X-Amz-Copy-Source", "incoming/from", "X-Amz-Copy-Source-Range", "5-6"},
			400, "InvalidArgument"},
		"no key":         {query, []string{"X-Amz-Copy-Source", "incoming"}, 400, "InvalidArgument"},
		"no such key":    {query, []string{"X-Amz-Copy-Source", "incoming/none"}, 404, "NoSuchKey"},
		"no such bucket": {query, []string{"X-Amz-Copy-Source", "nobody/none"}, 404, "NoSuchBucket"},
		"another version": {query, []string{"X-Amz-Copy-Source", "incoming/from", "X-Amz-Copy-Source-If-Match",
			"\"x\""}, 412, "PreconditionFailed"},
		"no such upload": {"?partNumber=1&uploadId=1", []string{"X-Amz-Copy-Source", "incoming/from"}, 404,
			"NoSuchUpload"},
		"no number": {"?partNumber=10001&uploadId=" + *u.UploadId, []string{"X-Amz-Copy-Source", "incoming/from"},
			400, "InvalidArgument"},
	} {
		w := send(server, http.MethodPut, "/incoming/k"+e.query, "", e.headers...)
		if w.Code != e.status || !strings.Contains(w.Body.String(), "<Code>"+e.code+"</Code>") {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}
