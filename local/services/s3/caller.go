package s3

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/aws/signature"
)

// caller is the sender of a request.
type caller struct {
	account   string // empty for an anonymous one
	anonymous bool   // the request is not signed
}

// arn returns the ARN of the caller's account.
func (c caller) arn() string {
	if c.anonymous {
		return "anonymous"
	}
	return aws.Scope{Account: c.account}.GlobalARN("iam", "root")
}

// rootID is the canonical user ID of the default account.
const rootID = "fe7272ea58be830e56fe1663b10fafef"

// canonicalID returns the canonical user ID of an account.
func (s *store) canonicalID(account string) string {
	if account == "" || account == s.account {
		return rootID
	}
	sum := sha256.Sum256([]byte(account))
	return hex.EncodeToString(sum[:])
}

// identify returns the sender of a request, which its access key names. A presigned URL that has expired is refused.
func (s *store) identify(r *http.Request) (caller, error) {
	query := r.URL.Query()
	switch {
	case strings.HasPrefix(r.Header.Get("Authorization"), "AWS "): // signature version 2
		return caller{account: s.accountOf(server.AccessKey(r))}, nil
	case r.Header.Get("Authorization") != "":
		return caller{account: server.ScopeOf(r, aws.Scope{Account: s.account}).Account}, nil
	case query.Has("X-Amz-Credential") || query.Has("X-Amz-Signature"):
		for _, name := range []string{"X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Signature", "X-Amz-Date", "X-Amz-SignedHeaders", "X-Amz-Expires"} {
			if !query.Has(name) {
				return caller{}, fail(
					"AuthorizationQueryParametersError",
					"Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.",
					nil,
				)
			}
		}
		return caller{account: s.accountOf(query.Get("X-Amz-Credential"))}, expired(query)
	case query.Has("AWSAccessKeyId") || query.Has("Signature"):
		at, err := strconv.ParseInt(query.Get("Expires"), 10, 64)
		if err != nil || !query.Has("AWSAccessKeyId") || !query.Has("Signature") {
			return caller{}, fail(
				"AccessDenied",
				"Query-string authentication requires the Signature, Expires and AWSAccessKeyId parameters",
				nil,
			)
		}
		if until := time.Unix(at, 0); time.Now().After(until) {
			return caller{}, requestExpired(until)
		}
		return caller{account: s.accountOf(query.Get("AWSAccessKeyId"))}, nil
	}
	return caller{anonymous: true}, nil
}

// verify returns an error if the signature of a request does not match, for a key whose secret is known.
func (s *store) verify(c *call) error {
	key := server.AccessKey(c.Request)
	if s.secret == nil || c.caller.anonymous || key == "" {
		return nil
	}
	secret, known, err := s.secret(c.Request, key)
	if err != nil || !known || signature.Matches(c.Request, secret) {
		return err
	}
	if strings.HasPrefix(c.Host, c.bucket+".") { // the client has signed the path without the bucket
		r := c.Clone(c.Context())
		r.URL.Path = "/" + c.key
		if signature.Matches(r, secret) {
			return nil
		}
	}
	return signatureMismatch(key)
}

func signatureMismatch(key string) error {
	return fail(
		"SignatureDoesNotMatch",
		"The request signature we calculated does not match the signature you provided. Check your key and signing method.",
		members{"AWSAccessKeyId": key},
	)
}

// accountOf returns the account of a credential.
func (s *store) accountOf(credential string) string {
	r := http.Request{Header: http.Header{"Authorization": {"AWS4-HMAC-SHA256 Credential=" + credential}}}
	if !strings.Contains(credential, "/") {
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+credential+"/20260101/us-east-1/s3/aws4_request")
	}
	return server.ScopeOf(&r, aws.Scope{Account: s.account}).Account
}

// mostPresigned is the maximum lifetime of a presigned URL.
const mostPresigned = 7 * 24 * time.Hour

// expired returns an error if a presigned URL of signature version 4 has expired. Clients sign by the real time.
func expired(query url.Values) error {
	signed, err := time.Parse("20060102T150405Z", query.Get("X-Amz-Date"))
	if err != nil {
		return fail(
			"AuthorizationQueryParametersError",
			`X-Amz-Date must be in the ISO8601 Long Format "yyyyMMdd'T'HHmmss'Z'"`,
			nil,
		)
	}
	seconds, err := strconv.ParseInt(query.Get("X-Amz-Expires"), 10, 64)
	switch {
	case err != nil:
		return fail("AuthorizationQueryParametersError", "X-Amz-Expires should be a number", nil)
	case seconds < 0:
		return fail("AuthorizationQueryParametersError", "X-Amz-Expires must be non-negative", nil)
	case seconds > int64(mostPresigned/time.Second):
		return fail(
			"AuthorizationQueryParametersError",
			"X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be less than 604800 seconds",
			nil,
		)
	}
	if until := signed.Add(time.Duration(seconds) * time.Second); time.Now().After(until) {
		return requestExpired(until)
	}
	return nil
}

func requestExpired(until time.Time) error {
	return fail("AccessDenied", "Request has expired", members{"Expires": until.UTC().Format(time.RFC3339),
		"ServerTime": time.Now().UTC().Format(time.RFC3339)})
}
