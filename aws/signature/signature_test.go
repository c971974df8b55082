package signature_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"stepback/aws/signature"
)

var credentials = aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}

const emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// received returns a client's request as a server gets it.
func received(r *http.Request) *http.Request {
	out := httptest.NewRequest(r.Method, r.URL.String(), http.NoBody)
	out.Header, out.Host = r.Header.Clone(), r.URL.Host
	return out
}

// TestSignaturesOfTheSDK verifies requests that the SDK has signed, and the same requests with one part changed.
func TestSignaturesOfTheSDK(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC)
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	const target = "http://127.0.0.1:4566/incoming/a%20b/c%2Bd?versionId=1%2F2&x-id=GetObject"
	sign := func(t *testing.T) *http.Request {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Amz-Meta-Note", "  two   words ")
		r.Header.Set("X-Amz-Content-Sha256", emptyHash)
		if err := signer.SignHTTP(t.Context(), credentials, r, emptyHash, "s3", "us-east-1", at); err != nil {
			t.Fatal(err)
		}
		return received(r)
	}
	presign := func(t *testing.T) *http.Request {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target+"&X-Amz-Expires=60", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		signed, _, err := signer.PresignHTTP(t.Context(), credentials, r, "UNSIGNED-PAYLOAD", "s3", "us-east-1", at)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(signed)
		if err != nil {
			t.Fatal(err)
		}
		return received(&http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}})
	}
	for name, made := range map[string]func(*testing.T) *http.Request{"header": sign, "presigned": presign} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !signature.Matches(made(t), credentials.SecretAccessKey) {
				t.Error("the signature does not match")
			}
			if signature.Matches(made(t), "another") {
				t.Error("the signature matches another key")
			}
			for part, change := range map[string]func(*http.Request){
				"method": func(r *http.Request) { r.Method = http.MethodDelete },
				"path":   func(r *http.Request) { r.URL.Path += "x" },
				"query":  func(r *http.Request) { r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "1%2F2", "3", 1) },
				"host":   func(r *http.Request) { r.Host = "localhost:4566" },
			} {
				r := made(t)
				if change(r); signature.Matches(r, credentials.SecretAccessKey) {
					t.Errorf("the signature matches another %s", part)
				}
			}
		})
	}
}

// TestSignatureVersionTwo verifies the example of AWS's page on signature version 2, and a request of the SDK for
// Python.
func TestSignatureVersionTwo(t *testing.T) {
	t.Parallel()
	const secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
	r := httptest.NewRequest(http.MethodGet, "/awsexamplebucket1/photos/puppy.jpg", http.NoBody)
	r.Header.Set("Date", "Tue, 27 Mar 2007 19:36:42 +0000")
	r.Header.Set("Authorization", "AWS AKIAIOSFODNN7EXAMPLE:qgk2+6Sv9/oM7G3qLEjTH1a1l1g=")
	if !signature.Matches(r, secret) {
		t.Error("the signature does not match")
	}
	bucket := httptest.NewRequest(http.MethodPut, "/abcd-x", http.NoBody)
	bucket.Header.Set("Date", "Fri, 27 Nov 2026 10:09:14 GMT")
	bucket.Header.Set("X-Amz-Object-Ownership", "ObjectWriter")
	bucket.Header.Set("Authorization", "AWS KEY:9ceiqEZM7EL3KBYGh9X6KjzYsX0=")
	if !signature.Matches(bucket, "s") {
		t.Error("the signature of a bucket's path with a slash does not match")
	}
	r.Header.Set("X-Amz-Acl", "public-read")
	if signature.Matches(r, secret) {
		t.Error("the signature matches with another header")
	}
}

// TestFormSignatures verifies the policies of forms, whose signatures were computed with another program.
func TestFormSignatures(t *testing.T) {
	t.Parallel()
	fields := map[string]string{"policy": "cG9saWN5", "x-amz-credential": "AKIDEXAMPLE/20151229/us-east-1/s3/aws4_request",
		"x-amz-signature": "0"}
	if signature.MatchesForm(fields, credentials.SecretAccessKey) {
		t.Error("a wrong signature matches")
	}
	fields["x-amz-signature"] = "2a6d05f0527e45ff1af34e5ca1fb2a750696a3d36068523c0acf4d4d1c0db5e0"
	if !signature.MatchesForm(fields, credentials.SecretAccessKey) {
		t.Error("a form of version 4 does not match")
	}
	if !signature.MatchesForm(map[string]string{"policy": "cG9saWN5", "signature": "kWRKRZd+2hb+Njz3yyb+nny+Pyo="}, "s") {
		t.Error("a form of version 2 does not match")
	}
}
