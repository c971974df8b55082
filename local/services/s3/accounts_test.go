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
