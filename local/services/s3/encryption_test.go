package s3_test

import (
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"stepback/local/services/s3"
)

// putEncryption gives a bucket a default encryption with one rule.
func putEncryption(t *testing.T, c *awss3.Client, bucket string, rule types.ServerSideEncryptionRule) {
	t.Helper()
	if _, err := c.PutBucketEncryption(t.Context(), &awss3.PutBucketEncryptionInput{Bucket: aws.String(bucket),
		ServerSideEncryptionConfiguration: &types.ServerSideEncryptionConfiguration{
			Rules: []types.ServerSideEncryptionRule{rule}}}); err != nil {
		t.Fatal(err)
	}
}

// blockEncryption sets the encryption type that the bucket fresh blocks.
func blockEncryption(t *testing.T, c *awss3.Client, blocked types.EncryptionType) {
	t.Helper()
	putEncryption(t, c, "fresh", types.ServerSideEncryptionRule{
		BlockedEncryptionTypes: &types.BlockedEncryptionTypes{EncryptionType: []types.EncryptionType{blocked}}})
}

// encryptionOf returns the rules of a bucket's encryption as JSON.
func encryptionOf(t *testing.T, c *awss3.Client, bucket string) string {
	t.Helper()
	out, err := c.GetBucketEncryption(t.Context(), &awss3.GetBucketEncryptionInput{Bucket: aws.String(bucket)})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(out.ServerSideEncryptionConfiguration.Rules)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// blockedJSON returns the blocked types of a rule; blocked is empty if it has none.
func blockedJSON(blocked string) string {
	if blocked == "" {
		return "null"
	}
	return `{"EncryptionType":["` + blocked + `"]}`
}

func encryptionRules(algorithm, key, bucketKey, blocked string) string {
	return `[{"ApplyServerSideEncryptionByDefault":{"SSEAlgorithm":"` + algorithm + `","KMSMasterKeyID":` + key +
		`},"BlockedEncryptionTypes":` + blockedJSON(blocked) + `,"BucketKeyEnabled":` + bucketKey + `}]`
}

func TestBucketEncryption(t *testing.T) {
	t.Parallel()
	server, c := start(t, t.TempDir(), s3.Options{})
	if _, err := c.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: aws.String("fresh")}); err != nil {
		t.Fatal(err)
	}
	kms := &types.ServerSideEncryptionByDefault{SSEAlgorithm: types.ServerSideEncryptionAwsKms, KMSMasterKeyID: aws.String("k-1")}
	blocks := func(kinds ...types.EncryptionType) *types.BlockedEncryptionTypes {
		return &types.BlockedEncryptionTypes{EncryptionType: kinds}
	}
	for _, step := range []struct {
		name, bucket string
		rule         *types.ServerSideEncryptionRule // nil: DeleteBucketEncryption
		want         string
	}{
		{"customer keys allowed", "fresh", &types.ServerSideEncryptionRule{BlockedEncryptionTypes: blocks("NONE")},
			encryptionRules("AES256", "null", "false", "NONE")},
		{"without blocked types they stay", "fresh",
			&types.ServerSideEncryptionRule{ApplyServerSideEncryptionByDefault: kms, BucketKeyEnabled: aws.Bool(true)},
			encryptionRules("aws:kms", `"k-1"`, "true", "NONE")},
		{"customer keys blocked", "fresh",
			&types.ServerSideEncryptionRule{ApplyServerSideEncryptionByDefault: kms, BlockedEncryptionTypes: blocks("SSE-C")},
			encryptionRules("aws:kms", `"k-1"`, "false", "SSE-C")},
		{"allowed again", "fresh", &types.ServerSideEncryptionRule{BlockedEncryptionTypes: blocks("NONE")},
			encryptionRules("AES256", "null", "false", "NONE")},
		{"deleted", "fresh", nil, encryptionRules("AES256", "null", "false", "")},
		{"deleted again", "fresh", nil, encryptionRules("AES256", "null", "false", "")},
		{"blocked in another bucket", bucket, &types.ServerSideEncryptionRule{BlockedEncryptionTypes: blocks("SSE-C")},
			encryptionRules("AES256", "null", "false", "SSE-C")},
	} {
		if step.rule != nil {
			putEncryption(t, c, step.bucket, *step.rule)
		} else if _, err := c.DeleteBucketEncryption(t.Context(), &awss3.DeleteBucketEncryptionInput{
			Bucket: aws.String(step.bucket)}); err != nil {
			t.Fatal(err)
		}
		if got := encryptionOf(t, c, step.bucket); got != step.want {
			t.Errorf("%s: %s, want %s", step.name, got, step.want)
		}
	}
	for _, wrong := range []string{"<EncryptionType>SSE-S3</EncryptionType>",
		"<EncryptionType>SSE-C</EncryptionType><EncryptionType>NONE</EncryptionType>"} {
		w := send(server, http.MethodPut, "/fresh?encryption", "<ServerSideEncryptionConfiguration><Rule><BlockedEncryptionTypes>"+
			wrong+"</BlockedEncryptionTypes></Rule></ServerSideEncryptionConfiguration>")
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "<Code>MalformedXML</Code>") {
			t.Errorf("%s: %d %s", wrong, w.Code, w.Body)
		}
	}
}

func TestABucketBlocksCustomerKeys(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	if _, err := c.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: aws.String("fresh")}); err != nil {
		t.Fatal(err)
	}
	if got, want := encryptionOf(t, c, "fresh"), encryptionRules("AES256", "null", "false", ""); got != want {
		t.Errorf("a new bucket: %s, want %s", got, want)
	}
	blockEncryption(t, c, types.EncryptionTypeSseC)
	raw := []byte(strings.Repeat("k", 32))
	digest := md5.Sum(raw)
	algorithm, fresh := aws.String("AES256"), aws.String("fresh")
	key := aws.String(base64.StdEncoding.EncodeToString(raw))
	sum := aws.String(base64.StdEncoding.EncodeToString(digest[:]))
	other := aws.String("AAAAAAAAAAAAAAAAAAAAAA==")
	put(t, c, "plain", "hello")

	var id *string // of an upload with a customer key
	writes := []struct {
		name string
		run  func(ctx context.Context) error
	}{
		{"PutObject", func(ctx context.Context) error {
			_, err := c.PutObject(ctx, &awss3.PutObjectInput{Bucket: fresh, Key: aws.String("k"), Body: strings.NewReader("hello"),
				SSECustomerAlgorithm: algorithm, SSECustomerKey: key, SSECustomerKeyMD5: sum})
			return err
		}},
		{"CopyObject", func(ctx context.Context) error {
			_, err := c.CopyObject(ctx, &awss3.CopyObjectInput{Bucket: fresh, Key: aws.String("copy"),
				CopySource: aws.String(bucket + "/plain"), SSECustomerAlgorithm: algorithm, SSECustomerKey: key, SSECustomerKeyMD5: sum})
			return err
		}},
		{"CreateMultipartUpload", func(ctx context.Context) error {
			out, err := c.CreateMultipartUpload(ctx, &awss3.CreateMultipartUploadInput{Bucket: fresh, Key: aws.String("parts"),
				SSECustomerAlgorithm: algorithm, SSECustomerKey: key, SSECustomerKeyMD5: sum})
			if err == nil {
				id = out.UploadId
			}
			return err
		}},
	}
	parts := []struct {
		name string
		run  func(ctx context.Context) error
	}{
		{"UploadPart", func(ctx context.Context) error {
			_, err := c.UploadPart(ctx, &awss3.UploadPartInput{Bucket: fresh, Key: aws.String("parts"), UploadId: id,
				PartNumber: aws.Int32(1), Body: strings.NewReader("x"), SSECustomerAlgorithm: algorithm, SSECustomerKey: key,
				SSECustomerKeyMD5: sum})
			return err
		}},
		{"UploadPartCopy", func(ctx context.Context) error {
			_, err := c.UploadPartCopy(ctx, &awss3.UploadPartCopyInput{Bucket: fresh, Key: aws.String("parts"), UploadId: id,
				PartNumber: aws.Int32(2), CopySource: aws.String(bucket + "/plain"), SSECustomerAlgorithm: algorithm,
				SSECustomerKey: key, SSECustomerKeyMD5: sum})
			return err
		}},
	}
	for _, w := range writes {
		if err := w.run(t.Context()); codeOf(err) != "AccessDenied" || !strings.Contains(err.Error(), "StatusCode: 403") {
			t.Errorf("%s in a bucket that blocks customer keys: %v", w.name, err)
		}
	}
	if _, err := c.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: fresh, Key: aws.String("k"), Body: strings.NewReader("hello"),
		SSECustomerAlgorithm: algorithm, SSECustomerKey: key, SSECustomerKeyMD5: other}); codeOf(err) != "AccessDenied" {
		t.Errorf("with the digest of another key: %v", err)
	}
	blockEncryption(t, c, types.EncryptionTypeNone)
	for _, w := range writes {
		if err := w.run(t.Context()); err != nil {
			t.Errorf("%s in a bucket that allows customer keys: %v", w.name, err)
		}
	}
	blockEncryption(t, c, types.EncryptionTypeSseC)
	for _, w := range parts {
		if err := w.run(t.Context()); codeOf(err) != "AccessDenied" {
			t.Errorf("%s in a bucket that blocks customer keys again: %v", w.name, err)
		}
	}
	if _, err := c.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: fresh, Key: aws.String("k"),
		SSECustomerAlgorithm: algorithm, SSECustomerKey: key, SSECustomerKeyMD5: sum}); err != nil {
		t.Errorf("an object of before is not read: %v", err)
	}
	if _, err := c.CopyObject(t.Context(), &awss3.CopyObjectInput{Bucket: fresh, Key: aws.String("readable"),
		CopySource: aws.String("fresh/k"), CopySourceSSECustomerAlgorithm: algorithm, CopySourceSSECustomerKey: key,
		CopySourceSSECustomerKeyMD5: sum}); err != nil {
		t.Errorf("an object of before is not copied: %v", err)
	}
	blockEncryption(t, c, types.EncryptionTypeNone)
	for _, w := range parts {
		if err := w.run(t.Context()); err != nil {
			t.Errorf("%s in a bucket that allows customer keys: %v", w.name, err)
		}
	}
}
