package s3_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"stepback/local/services/s3"
)

// TestChecksumsInResponses reads the checksums of a copy, of a copied part, of a completed upload and of its parts.
func TestChecksumsInResponses(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	put(t, c, "k", "hello world")
	copied, err := c.CopyObject(t.Context(), &awss3.CopyObjectInput{Bucket: aws.String(bucket), Key: aws.String("c"),
		CopySource: aws.String(bucket + "/k"), ChecksumAlgorithm: types.ChecksumAlgorithmSha256})
	if err != nil {
		t.Fatal(err)
	}
	const sum = "uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek="
	if r := copied.CopyObjectResult; aws.ToString(r.ChecksumSHA256) != sum ||
		r.ChecksumType != types.ChecksumTypeFullObject {
		t.Errorf("copy: %+v", r)
	}
	for kind, want := range map[types.ChecksumType]string{
		types.ChecksumTypeFullObject: "DUoRhQ==", types.ChecksumTypeComposite: "YChbaA==-1"} {
		begun, err := c.CreateMultipartUpload(
			t.Context(),
			&awss3.CreateMultipartUploadInput{Bucket: aws.String(bucket), Key: aws.String("m"),
				ChecksumAlgorithm: types.ChecksumAlgorithmCrc32, ChecksumType: kind},
		)
		if err != nil {
			t.Fatal(err)
		}
		part, err := c.UploadPartCopy(
			t.Context(),
			&awss3.UploadPartCopyInput{Bucket: aws.String(bucket), Key: aws.String("m"),
				UploadId: begun.UploadId, PartNumber: aws.Int32(1), CopySource: aws.String(bucket + "/k")},
		)
		if err != nil || aws.ToString(part.CopyPartResult.ChecksumCRC32) != "DUoRhQ==" {
			t.Fatalf("part: %+v, %v", part, err)
		}
		done, err := c.CompleteMultipartUpload(
			t.Context(),
			&awss3.CompleteMultipartUploadInput{Bucket: aws.String(bucket),
				Key: aws.String("m"), UploadId: begun.UploadId, MultipartUpload: &types.CompletedMultipartUpload{
					Parts: []types.CompletedPart{{ETag: part.CopyPartResult.ETag, PartNumber: aws.Int32(1),
						ChecksumCRC32: part.CopyPartResult.ChecksumCRC32}}}},
		)
		if err != nil || aws.ToString(done.ChecksumCRC32) != want || done.ChecksumType != kind {
			t.Errorf("%s: %s, %s, %v; want %s", kind, aws.ToString(done.ChecksumCRC32), done.ChecksumType, err, want)
		}
		_, out := get(
			t,
			c,
			&awss3.GetObjectInput{
				Key:          aws.String("m"),
				PartNumber:   aws.Int32(1),
				ChecksumMode: types.ChecksumModeEnabled,
			},
		)
		if aws.ToString(out.ChecksumCRC32) != "DUoRhQ==" || out.ChecksumType != kind {
			t.Errorf("%s: part 1 has %s, %s", kind, aws.ToString(out.ChecksumCRC32), out.ChecksumType)
		}
	}
}

func TestHeadersOfUploads(t *testing.T) {
	t.Parallel()
	server, _ := start(t, t.TempDir(), s3.Options{})
	for name, e := range map[string]struct{ header, value, want string }{
		"an encoding of the transfer":      {"Content-Encoding", "gzip, aws-chunked", "gzip"},
		"nothing but the transfer's":       {"Content-Encoding", "aws-chunked", ""},
		"several encodings":                {"Content-Encoding", "deflate, gzip", "deflate, gzip"},
		"metadata that is not ASCII":       {"X-Amz-Meta-Nonascii", "ÄMÄZÕÑ S3", "=?UTF-8?b?w4PChE3Dg8KEWsODwpXDg8KRIFMz?="},
		"metadata that the client encoded": {"X-Amz-Meta-Nonascii", "=?UTF-8?B?w4Q=?=", "=?UTF-8?B?w4Q=?="},
	} {
		if w := send(server, http.MethodPut, "/incoming/k", "x", e.header, e.value); w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", name, w.Code, w.Body)
		}
		h := send(server, http.MethodHead, "/incoming/k", "").Header()
		got := h.Get(e.header)
		if verbatim := h[strings.ToLower(e.header)]; len(verbatim) > 0 {
			got = verbatim[0]
		}
		if got != e.want {
			t.Errorf("%s: %q, want %q", name, got, e.want)
		}
	}
}

func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	server, c := start(t, t.TempDir(), s3.Options{})
	put(t, c, "k", "hello")
	for name, e := range map[string]struct {
		method, target string
		headers        []string
		want           string
	}{
		"a read that names an encryption": {http.MethodGet, "/incoming/k", []string{"X-Amz-Server-Side-Encryption", "aws:kms"},
			"<Code>InvalidArgument</Code><Message>x-amz-server-side-encryption header is not supported for this operation.</Message>"},
		"a key that is not UTF-8": {http.MethodGet, "/incoming/%AE%8A-", nil,
			"<Code>InvalidURI</Code><Message>Couldn&#39;t parse the specified URI.</Message>"},
	} {
		if w := send(
			server,
			e.method,
			e.target,
			"",
			e.headers...); w.Code != http.StatusBadRequest ||
			!strings.Contains(w.Body.String(), e.want) {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

func TestRulesWithoutIDGetOne(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	rule := func(id *string, prefix string) types.LifecycleRule {
		return types.LifecycleRule{ID: id, Status: types.ExpirationStatusEnabled,
			Expiration: &types.LifecycleExpiration{Days: aws.Int32(1)},
			Filter:     &types.LifecycleRuleFilter{Prefix: aws.String(prefix)}}
	}
	_, err := c.PutBucketLifecycleConfiguration(
		t.Context(),
		&awss3.PutBucketLifecycleConfigurationInput{
			Bucket: aws.String(bucket),
			LifecycleConfiguration: &types.BucketLifecycleConfiguration{
				Rules: []types.LifecycleRule{rule(nil, "a"), rule(aws.String("own"), "b"), rule(nil, "c")},
			},
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.GetBucketLifecycleConfiguration(
		t.Context(),
		&awss3.GetBucketLifecycleConfigurationInput{Bucket: aws.String(bucket)},
	)
	if err != nil || len(out.Rules) != 3 {
		t.Fatalf("%+v, %v", out, err)
	}
	first, second, third := aws.ToString(out.Rules[0].ID), aws.ToString(out.Rules[1].ID), aws.ToString(out.Rules[2].ID)
	if first == "" || second != "own" || third == "" || first == third || *out.Rules[2].Filter.Prefix != "c" {
		t.Errorf("%q, %q, %q", first, second, third)
	}
}

// TestRetentionIsShownToTheMillisecond sets a retention whose end a client must not see too early.
func TestRetentionIsShownToTheMillisecond(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	_, err := c.CreateBucket(
		t.Context(),
		&awss3.CreateBucketInput{Bucket: aws.String("locked"), ObjectLockEnabledForBucket: aws.Bool(true)},
	)
	if err != nil {
		t.Fatal(err)
	}
	until := time.Date(2099, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	if _, err := c.PutObject(
		t.Context(),
		&awss3.PutObjectInput{
			Bucket:                    aws.String("locked"),
			Key:                       aws.String("k"),
			Body:                      strings.NewReader("x"),
			ObjectLockMode:            types.ObjectLockModeCompliance,
			ObjectLockRetainUntilDate: &until,
			ChecksumAlgorithm:         types.ChecksumAlgorithmCrc32,
		},
	); err != nil {
		t.Fatal(err)
	}
	out, err := c.GetObjectRetention(
		t.Context(),
		&awss3.GetObjectRetentionInput{Bucket: aws.String("locked"), Key: aws.String("k")},
	)
	if err != nil || !out.Retention.RetainUntilDate.Equal(until) {
		t.Errorf("%+v, %v", out, err)
	}
}

// TestDefaultRetentionNeedsAPositivePeriod expects S3's own error, which names the element.
func TestDefaultRetentionNeedsAPositivePeriod(t *testing.T) {
	t.Parallel()
	server, c := start(t, t.TempDir(), s3.Options{})
	_, err := c.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: aws.String("locked"),
		ObjectLockEnabledForBucket: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	for period, want := range map[string]string{
		"<Days>0</Days>":      "<Message>Default retention period must be a positive integer value.</Message><ArgumentName>Days</ArgumentName>",
		"<Years>-1</Years>":   "<Message>Default retention period must be a positive integer value.</Message><ArgumentName>Years</ArgumentName>",
		"<Days>100000</Days>": "<Message>Default retention period is too large</Message><ArgumentName>Days</ArgumentName>",
		"<Years>101</Years>":  "<Message>Default retention period is too large</Message><ArgumentName>Years</ArgumentName>",
	} {
		w := send(server, http.MethodPut, "/locked?object-lock", `<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled>`+
			`<Rule><DefaultRetention><Mode>GOVERNANCE</Mode>`+period+`</DefaultRetention></Rule></ObjectLockConfiguration>`)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "<Code>InvalidArgument</Code>"+want) {
			t.Errorf("%s: %d %s", period, w.Code, w.Body)
		}
	}
}
