package s3_test

import (
	"crypto/md5"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"stepback/local/services/s3"
)

// The accounts of these tests: the owner of the bucket "shared", and another one.
const ownerAccount, otherAccount = "111111111111", "222222222222"

// shared returns clients of both accounts for the new bucket "shared", in which objects belong to their writers. It
// does not block public access.
func shared(t *testing.T) (owner, other *awss3.Client) {
	t.Helper()
	server, _ := start(t, t.TempDir(), s3.Options{})
	as := func(account string) *awss3.Client {
		o := server.Client(t.Context()).Options()
		o.Credentials = credentials.NewStaticCredentialsProvider(account, "s", "")
		return awss3.New(o)
	}
	owner, other = as(ownerAccount), as(otherAccount)
	_, err := owner.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: aws.String("shared"),
		ObjectOwnership: types.ObjectOwnershipObjectWriter})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := owner.DeletePublicAccessBlock(t.Context(), &awss3.DeletePublicAccessBlockInput{
		Bucket: aws.String("shared")}); err != nil {
		t.Fatal(err)
	}
	return owner, other
}

// setPolicy gives the bucket "shared" a policy with one statement, without its Version.
func setPolicy(t *testing.T, c *awss3.Client, statement string) {
	t.Helper()
	_, err := c.PutBucketPolicy(t.Context(), &awss3.PutBucketPolicyInput{Bucket: aws.String("shared"),
		Policy: aws.String(`{"Version":"2012-10-17","Statement":[` + statement + `]}`)})
	if err != nil {
		t.Fatal(err)
	}
}

func putAs(t *testing.T, c *awss3.Client, in awss3.PutObjectInput) error {
	t.Helper()
	in.Bucket, in.Body = aws.String("shared"), strings.NewReader("x")
	_, err := c.PutObject(t.Context(), &in)
	return err
}

func TestOnlyCallersWhoMayListLearnThatAnObjectIsMissing(t *testing.T) {
	t.Parallel()
	owner, other := shared(t)
	setPolicy(t, owner, `{"Effect":"Allow","Principal":{"AWS":"`+otherAccount+`"},"Action":"s3:ListBucket",`+
		`"Resource":"arn:aws:s3:::shared","Condition":{"StringLike":{"s3:prefix":"public/*"}}},`+
		`{"Effect":"Allow","Principal":{"AWS":"`+otherAccount+`"},"Action":"s3:GetObject","Resource":"arn:aws:s3:::shared/private/*"}`)
	for key, want := range map[string]string{"public/none": "NoSuchKey", "private/none": "AccessDenied", "other": "AccessDenied"} {
		_, err := other.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: aws.String("shared"), Key: aws.String(key)})
		if codeOf(err) != want {
			t.Errorf("%s: %v, want %s", key, err, want)
		}
	}
}

func TestObjectsOfOtherAccounts(t *testing.T) {
	t.Parallel()
	owner, other := shared(t)
	setPolicy(t, owner, `{"Effect":"Allow","Principal":"*","Action":"s3:*","Resource":"arn:aws:s3:::shared/*"}`)
	if err := putAs(t, other, awss3.PutObjectInput{Key: aws.String("theirs")}); err != nil {
		t.Fatal(err)
	}
	if err := putAs(t, other, awss3.PutObjectInput{Key: aws.String("given"), ACL: types.ObjectCannedACLBucketOwnerFullControl}); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"theirs": "AccessDenied", "given": ""} {
		_, e1 := owner.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: aws.String("shared"), Key: aws.String(key)})
		_, e2 := owner.GetObjectAcl(t.Context(), &awss3.GetObjectAclInput{Bucket: aws.String("shared"), Key: aws.String(key)})
		_, e3 := other.GetObjectAcl(t.Context(), &awss3.GetObjectAclInput{Bucket: aws.String("shared"), Key: aws.String(key)})
		if codeOf(e1) != want || codeOf(e2) != want || e3 != nil {
			t.Errorf("%s: %v, %v, %v", key, e1, e2, e3)
		}
	}
	_, err := owner.DeleteObject(t.Context(), &awss3.DeleteObjectInput{Bucket: aws.String("shared"), Key: aws.String("theirs")})
	if err != nil {
		t.Errorf("the owner of the bucket deletes any object: %v", err)
	}
}

func TestConditionsOnHeaders(t *testing.T) {
	t.Parallel()
	owner, other := shared(t)
	setPolicy(t, owner, `{"Effect":"Allow","Principal":{"AWS":"`+otherAccount+`"},"Action":"s3:PutObject","Resource":"arn:aws:s3:::shared/*",`+
		`"Condition":{"StringEquals":{"s3:x-amz-server-side-encryption-customer-algorithm":"AES256"}}}`)
	if err := putAs(t, other, awss3.PutObjectInput{Key: aws.String("k")}); codeOf(err) != "AccessDenied" {
		t.Errorf("without the header: %v", err)
	}
	key := []byte(strings.Repeat("k", 32))
	sum := md5.Sum(key)
	if err := putAs(t, other, awss3.PutObjectInput{Key: aws.String("k"), SSECustomerAlgorithm: aws.String("AES256"),
		SSECustomerKey:    aws.String(base64.StdEncoding.EncodeToString(key)),
		SSECustomerKeyMD5: aws.String(base64.StdEncoding.EncodeToString(sum[:]))}); err != nil {
		t.Errorf("with the header: %v", err)
	}
}

func TestNotPrincipalAllowsNobody(t *testing.T) {
	t.Parallel()
	owner, _ := shared(t)
	_, err := owner.PutBucketPolicy(t.Context(), &awss3.PutBucketPolicyInput{Bucket: aws.String("shared"), Policy: aws.String(
		`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","NotPrincipal":{"AWS":"` + otherAccount +
			`"},"Action":"s3:GetObject","Resource":"arn:aws:s3:::shared/*"}]}`)})
	if codeOf(err) != "MalformedPolicy" {
		t.Errorf("%v", err)
	}
}

// TestPagesOfOtherOrigins sends what a browser would send for a page of http://localhost:3000.
func TestPagesOfOtherOrigins(t *testing.T) {
	t.Parallel()
	server, c := start(t, t.TempDir(), s3.Options{})
	put(t, c, "k", "hello")
	const page = "http://localhost:3000"
	ask := func(method string, headers ...string) (int, string) {
		w := send(server, method, "/"+bucket+"/k", "", append([]string{"Origin", page}, headers...)...)
		return w.Code, w.Header().Get("Access-Control-Allow-Origin")
	}
	expect := func(name, method string, status int, allowed string, headers ...string) {
		t.Helper()
		if code, origin := ask(method, headers...); code != status || origin != allowed {
			t.Errorf("%s: %d, origin %q; want %d, %q", name, code, origin, status, allowed)
		}
	}
	expect("a read without rules", http.MethodGet, http.StatusOK, "")
	expect("a change without rules", http.MethodPost, http.StatusForbidden, "")
	_, err := c.PutBucketCors(t.Context(), &awss3.PutBucketCorsInput{Bucket: aws.String(bucket),
		CORSConfiguration: &types.CORSConfiguration{CORSRules: []types.CORSRule{{AllowedMethods: []string{"PUT"},
			AllowedOrigins: []string{"http://localhost:*"}, AllowedHeaders: []string{"content-type"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	expect("a preflight", http.MethodOptions, http.StatusOK, page, "Access-Control-Request-Method", "PUT",
		"Access-Control-Request-Headers", "content-type")
	expect("a preflight for another header", http.MethodOptions, http.StatusForbidden, "", "Access-Control-Request-Method", "PUT",
		"Access-Control-Request-Headers", "x-other")
	expect("an upload", http.MethodPut, http.StatusOK, page)
	expect("a read that no rule allows", http.MethodGet, http.StatusOK, "")
	expect("a deletion that no rule allows", http.MethodDelete, http.StatusForbidden, "")
}

// TestUploadsOfOtherAccounts follows the table of permissions in "Multipart upload API and permissions": the initiator
// and the bucket's owner may list the parts of an upload and abort it.
func TestUploadsOfOtherAccounts(t *testing.T) {
	t.Parallel()
	owner, other := shared(t)
	if _, err := owner.PutBucketAcl(t.Context(), &awss3.PutBucketAclInput{Bucket: aws.String("shared"),
		ACL: types.BucketCannedACLPublicReadWrite}); err != nil {
		t.Fatal(err)
	}
	start := func(c *awss3.Client, key string) *string {
		out, err := c.CreateMultipartUpload(t.Context(), &awss3.CreateMultipartUploadInput{Bucket: aws.String("shared"),
			Key: aws.String(key)})
		if err != nil {
			t.Fatal(err)
		}
		return out.UploadId
	}
	abort := func(c *awss3.Client, key string, id *string) string {
		_, err := c.AbortMultipartUpload(t.Context(), &awss3.AbortMultipartUploadInput{Bucket: aws.String("shared"),
			Key: aws.String(key), UploadId: id})
		return codeOf(err)
	}
	theirs, second, ours := start(other, "a"), start(other, "b"), start(owner, "c")
	const ownerID = "a18ac4e6fbd3fc024a07a21dafbac37d828ca8a04a0e34f368f1ec54e0d4fffb"
	const otherID = "76eb17a8fb175967b2144f1cb536d72814ae475eb954287aac1b5921cc6d9220"
	out, err := owner.ListMultipartUploads(t.Context(), &awss3.ListMultipartUploadsInput{Bucket: aws.String("shared")})
	if err != nil || len(out.Uploads) != 3 {
		t.Fatalf("%+v, %v", out, err)
	}
	for i, want := range []string{otherID, otherID, ownerID} {
		if u := out.Uploads[i]; *u.Initiator.ID != want || *u.Owner.ID != want {
			t.Errorf("%s: initiator %s, owner %s, want %s", *u.Key, *u.Initiator.ID, *u.Owner.ID, want)
		}
	}
	parts, err := other.ListParts(t.Context(), &awss3.ListPartsInput{Bucket: aws.String("shared"), Key: aws.String("a"),
		UploadId: theirs})
	if err != nil || *parts.Initiator.ID != otherID || *parts.Owner.ID != otherID {
		t.Errorf("parts: %+v, %v", parts, err)
	}
	_, err = other.ListParts(t.Context(), &awss3.ListPartsInput{Bucket: aws.String("shared"), Key: aws.String("c"), UploadId: ours})
	if a, b := codeOf(err), abort(other, "c", ours); a != "AccessDenied" || b != "AccessDenied" {
		t.Errorf("the upload of the owner: ListParts %s, AbortMultipartUpload %s", a, b)
	}
	if a, b := abort(other, "a", theirs), abort(owner, "b", second); a != "" || b != "" {
		t.Errorf("the initiator aborts: %q; the owner aborts: %q", a, b)
	}
}

// TestCompletionNeedsTheCustomerKey follows API_CompleteMultipartUpload: the key is required if the upload has a
// checksum algorithm.
func TestCompletionNeedsTheCustomerKey(t *testing.T) {
	t.Parallel()
	_, c := start(t, t.TempDir(), s3.Options{})
	keyOf := func(letter string) (key, sum *string) {
		raw := []byte(strings.Repeat(letter, 32))
		digest := md5.Sum(raw)
		text := base64.StdEncoding.EncodeToString
		return aws.String(text(raw)), aws.String(text(digest[:]))
	}
	key, sum := keyOf("k")
	wrong, wrongSum := keyOf("w")
	algorithm := aws.String("AES256")
	for _, checksum := range []types.ChecksumAlgorithm{types.ChecksumAlgorithmCrc32, ""} {
		begun, err := c.CreateMultipartUpload(t.Context(), &awss3.CreateMultipartUploadInput{Bucket: aws.String(bucket),
			Key: aws.String("k"), SSECustomerAlgorithm: algorithm, SSECustomerKey: key, SSECustomerKeyMD5: sum,
			ChecksumAlgorithm: checksum})
		if err != nil {
			t.Fatal(err)
		}
		part, err := c.UploadPart(t.Context(), &awss3.UploadPartInput{Bucket: aws.String(bucket), Key: aws.String("k"),
			UploadId: begun.UploadId, PartNumber: aws.Int32(1), Body: strings.NewReader("x"),
			SSECustomerAlgorithm: algorithm, SSECustomerKey: key, SSECustomerKeyMD5: sum, ChecksumAlgorithm: checksum})
		if err != nil {
			t.Fatal(err)
		}
		in := awss3.CompleteMultipartUploadInput{Bucket: aws.String(bucket), Key: aws.String("k"), UploadId: begun.UploadId,
			MultipartUpload: &types.CompletedMultipartUpload{Parts: []types.CompletedPart{{ETag: part.ETag,
				PartNumber: aws.Int32(1), ChecksumCRC32: part.ChecksumCRC32}}}}
		without := "InvalidRequest"
		if checksum == "" {
			without = ""
		} else {
			in.SSECustomerAlgorithm, in.SSECustomerKey, in.SSECustomerKeyMD5 = algorithm, wrong, wrongSum
			if _, err := c.CompleteMultipartUpload(t.Context(), &in); codeOf(err) != "InvalidRequest" {
				t.Errorf("%q with another key: %v", checksum, err)
			}
			in.SSECustomerAlgorithm, in.SSECustomerKey, in.SSECustomerKeyMD5 = nil, nil, nil
		}
		if _, err := c.CompleteMultipartUpload(t.Context(), &in); codeOf(err) != without {
			t.Errorf("%q without the key: %v, want %q", checksum, err, without)
		}
		in.SSECustomerAlgorithm, in.SSECustomerKey, in.SSECustomerKeyMD5 = algorithm, key, sum
		if _, err := c.CompleteMultipartUpload(t.Context(), &in); err != nil {
			t.Errorf("%q with the key: %v", checksum, err)
		}
	}
}
