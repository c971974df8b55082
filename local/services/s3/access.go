package s3

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/aws/signature"
	"stepback/internal/lazyregexp"
	"stepback/local/services/iam/access"
	"stepback/local/services/iam/policy"
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

// Names of internal settings of a bucket: the account that owns it, and its region.
const (
	ownerSetting  = "owner"
	regionSetting = "region"
)

// ownerOf returns the account that owns a bucket; empty for a bucket that no request created, which every account owns.
func (s *store) ownerOf(bucket string) (string, error) {
	all, err := s.settingsOf(bucket)
	return all[ownerSetting], s.storageError(err)
}

// owns reports whether the caller may act as the owner. The default account is the administrator's: its requests
// include those of the platform itself.
func (s *store) owns(c caller, owner string) bool {
	return !c.anonymous && (c.account == owner || c.account == s.account) || owner == ""
}

// authorize returns an error unless the caller may perform a call: by the identity policies of the signer, and unless
// the signer's account owns the resource, by the bucket's policy or by ACLs. A caller who may list the bucket learns
// that an object is missing; others are denied either way.
func (s *store) authorize(c *call) error {
	err := s.permit(c)
	if err != nil && c.readsObject() && s.permitListing(c) == nil {
		if _, missing := s.describeVersion(c.bucket, c.key, c.query.Get("versionId")); isCode(missing, "NoSuchKey") {
			return missing
		}
	}
	return err
}

// readsObject reports whether a call reads an object or something about it.
func (c *call) readsObject() bool {
	return c.key != "" && c.reads() && !c.query.Has("uploadId")
}

// permitListing returns an error unless the caller may list the keys that begin with the key of a call.
func (s *store) permitListing(c *call) error {
	r := c.Clone(c.Context())
	r.Method, r.URL = http.MethodGet, &url.URL{Path: "/" + c.bucket, RawQuery: url.Values{"prefix": {c.key}}.Encode()}
	return s.permit(&call{Request: r, bucket: c.bucket, query: r.URL.Query(), operation: "ListObjects", caller: c.caller})
}

// permit returns an error unless the policies and ACLs allow a call.
func (s *store) permit(c *call) error {
	if s.authorizes != nil {
		if err := s.authorizes(c.Request, func() policy.Context { return s.conditionKeys(c) }); err != nil {
			return err
		}
	}
	owner, err := s.ownerOf(c.bucket)
	if err != nil {
		return err
	}
	foreign, err := s.isForeign(c, owner)
	if err != nil || s.owns(c.caller, owner) && (!foreign || c.caller.account == s.account) {
		return err
	}
	block, err := s.accessBlock(c.bucket)
	if err != nil {
		return err
	}
	byPolicy, err := s.judgeByPolicy(c, owner, block)
	if err != nil {
		return err
	}
	if byPolicy == nil || *byPolicy && foreign { // a bucket policy gives no access to objects of other accounts
		allowed, err := s.grantsAccess(c, block)
		if err != nil {
			return err
		}
		byPolicy = &allowed
	}
	if !*byPolicy {
		return accessDenied()
	}
	return nil
}

// isForeign reports whether a call needs a permission on an object that another account than the bucket's owner owns.
// There are such objects only in buckets whose ownership of objects is not BucketOwnerEnforced.
func (s *store) isForeign(c *call, owner string) (bool, error) {
	if owner == "" || needed[c.operation].on != onObject {
		return false, nil
	}
	ownership, err := s.ownershipOf(c.bucket)
	if err != nil || ownership == ownerEnforced {
		return false, err
	}
	v, err := s.describeVersion(c.bucket, c.key, c.query.Get("versionId"))
	if err != nil {
		return false, nil //nolint:nilerr // the operation reports it
	}
	return v.ACL != nil && v.ACL.Owner != owner, nil
}

// judgeByPolicy returns the decision of a bucket's policy about another account's request; nil if it has none.
func (s *store) judgeByPolicy(c *call, owner string, block accessBlock) (*bool, error) {
	all, err := s.settingsOf(c.bucket)
	if err != nil || all["policy"] == "" {
		return nil, s.storageError(err)
	}
	p, err := policy.Parse(all["policy"])
	if err != nil || block.RestrictPublicBuckets && isPublic(p) {
		return nil, nil //nolint:nilerr // a policy that cannot be read allows nothing
	}
	everything, err := policy.Parse(
		`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`,
	)
	if err != nil {
		return nil, err
	}
	who, err := s.principal(c)
	if err != nil {
		return nil, err
	}
	policies := policy.Policies{Resource: p, Identity: []*policy.Policy{everything}}
	for _, need := range access.OfS3(c.Request) {
		d := policies.Evaluate(&policy.Request{Principal: who, Action: need.Action, Resource: need.Resource,
			Account: owner,
			Context: s.conditionKeys(c)})
		if d.Allowed {
			continue
		}
		if d.Explicit {
			return new(bool), nil
		}
		return nil, nil
	}
	yes := true
	return &yes, nil
}

// principal returns the caller in the terms of policies.
func (s *store) principal(c *call) (policy.Principal, error) {
	if s.signer != nil && !c.caller.anonymous {
		if who, err := s.signer(c.Request); err != nil || who.ARN != "" {
			return who, err
		}
	}
	return policy.Principal{ARN: c.caller.arn(), Account: c.caller.account}, nil
}

// headerKeys lists the headers that are condition keys with the prefix s3:.
var headerKeys = []string{
	"x-amz-acl",
	"x-amz-content-sha256",
	"x-amz-copy-source",
	"x-amz-grant-full-control",
	"x-amz-grant-read",
	"x-amz-grant-read-acp",
	"x-amz-grant-write",
	"x-amz-grant-write-acp",
	"x-amz-metadata-directive",
	"x-amz-object-ownership",
	"x-amz-server-side-encryption",
	"x-amz-server-side-encryption-aws-kms-key-id",
	"x-amz-server-side-encryption-customer-algorithm",
	"x-amz-storage-class",
	"x-amz-website-redirect-location",
}

// otherKeys maps further headers to their condition keys, and parameterKeys query parameters.
var (
	otherKeys = map[string]string{"If-Match": "s3:if-match", "If-None-Match": "s3:if-none-match",
		lockPrefix + "Mode": "s3:object-lock-mode", lockPrefix + "Retain-Until-Date": "s3:object-lock-retain-until-date",
		lockPrefix + "Legal-Hold": "s3:object-lock-legal-hold"}
	parameterKeys = map[string]string{"prefix": "s3:prefix", "max-keys": "s3:max-keys", "delimiter": "s3:delimiter",
		"versionId": "s3:VersionId"}
)

// conditionKeys returns the condition keys of a request.
func (s *store) conditionKeys(c *call) policy.Context {
	keys := policy.Context{
		"aws:SecureTransport": {"true"},
		"aws:SourceIp":        {"127.0.0.1"},
		"aws:UserAgent":       {c.UserAgent()},
		"aws:PrincipalType":   {"Account"},
	}
	if host, _, err := net.SplitHostPort(c.RemoteAddr); err == nil {
		keys["aws:SourceIp"] = []string{host}
	}
	if referer := c.Referer(); referer != "" {
		keys["aws:Referer"] = []string{referer}
	}
	if c.caller.anonymous {
		keys["aws:PrincipalType"] = []string{"Anonymous"}
	} else {
		keys["aws:PrincipalAccount"], keys["aws:PrincipalArn"] = []string{c.caller.account}, []string{c.caller.arn()}
	}
	for parameter, key := range parameterKeys {
		if values, ok := c.query[parameter]; ok {
			keys[key] = values
		}
	}
	for _, header := range headerKeys {
		if values := c.Header.Values(header); len(values) > 0 {
			keys["s3:"+header] = []string{strings.TrimPrefix(values[0], "/")}
		}
	}
	for header, key := range otherKeys {
		if value := c.Header.Get(header); value != "" {
			keys[key] = []string{value}
		}
	}
	s.tagKeys(c, keys)
	return keys
}

// tagKeys adds the condition keys of tags: those of the object, and those of the request.
func (s *store) tagKeys(c *call, keys policy.Context) {
	if c.key == "" {
		return
	}
	if v, err := s.describeVersion(c.bucket, c.key, c.query.Get("versionId")); err == nil {
		for _, t := range v.Tags {
			keys["s3:ExistingObjectTag/"+t.Key] = []string{t.Value}
		}
	}
	tags, err := uploadedTags(c.Header.Get(tagsHeader))
	if err != nil {
		return
	}
	for _, t := range tags {
		keys["s3:RequestObjectTag/"+t.Key] = []string{t.Value}
		keys["s3:RequestObjectTagKeys"] = append(keys["s3:RequestObjectTagKeys"], t.Key)
	}
}

// accessBlock is a bucket's block of public access.
type accessBlock struct {
	BlockPublicACLs       bool `xml:"BlockPublicAcls"`
	IgnorePublicACLs      bool `xml:"IgnorePublicAcls"`
	BlockPublicPolicy     bool
	RestrictPublicBuckets bool
}

func (s *store) accessBlock(bucket string) (b accessBlock, err error) {
	all, err := s.settingsOf(bucket)
	if err != nil {
		return b, s.storageError(err)
	}
	parsed, err := parseSetting[accessBlock](s, all, "publicAccessBlock")
	return *parsed, s.storageError(err)
}

// isPublic reports whether a policy gives access to everybody without a condition that names who.
func isPublic(p *policy.Policy) bool {
	return slices.ContainsFunc(p.Statements, func(s policy.Statement) bool {
		return s.Allow && s.Principals != nil && s.Principals.Anyone && !slices.ContainsFunc(s.Conditions, narrows)
	})
}

// narrows reports whether a condition restricts a statement to some callers.
func narrows(c policy.Condition) bool {
	switch strings.ToLower(c.Key()) {
	case "aws:principalarn",
		"aws:principalaccount",
		"aws:principalorgid",
		"aws:sourcearn",
		"aws:sourceaccount",
		"aws:sourcevpc",
		"aws:sourcevpce",
		"aws:userid",
		"aws:sourceip",
		"s3:dataaccesspointaccount",
		"s3:dataaccesspointarn":
		return true
	}
	return false
}

// policyStatus is the response of GetBucketPolicyStatus.
type policyStatus struct {
	XMLName  xml.Name `xml:"PolicyStatus"`
	Xmlns    string   `xml:"xmlns,attr"`
	IsPublic bool
}

// getPolicyStatus implements GetBucketPolicyStatus.
func (s *store) getPolicyStatus(c *call) (any, error) {
	all, err := s.settingsOf(c.bucket)
	if err != nil {
		return nil, s.storageError(err)
	}
	known := settings["policy"]
	if all["policy"] == "" {
		return nil, fail(known.code, known.message, members{"BucketName": c.bucket})
	}
	p, err := policy.Parse(all["policy"])
	return policyStatus{Xmlns: namespace, IsPublic: err == nil && isPublic(p)}, nil
}

var accountID = lazyregexp.New(`^[0-9]{12}$`)

// expectedOwner returns an error if a request expects a bucket to belong to another account.
func (s *store) expectedOwner(c *call) error {
	for header, bucket := range map[string]string{"X-Amz-Expected-Bucket-Owner": c.bucket, "X-Amz-Source-Expected-Bucket-Owner": ""} {
		expected := c.Header.Get(header)
		if expected == "" {
			continue
		}
		if !accountID.MatchString(expected) {
			return fail("InvalidBucketOwnerAWSAccountID", "The value of the expected bucket owner parameter must be an AWS Account ID...",
				nil)
		}
		if bucket == "" {
			bucket, _, _, _ = copySource(c.Header.Get("X-Amz-Copy-Source")) // one that cannot be read is refused later
		}
		owner, err := s.ownerOf(bucket)
		if err != nil {
			return err
		}
		if owner == "" { // every account's
			owner = cmp.Or(c.caller.account, s.account)
			if expected == s.account {
				owner = s.account
			}
		}
		if expected != owner {
			return accessDenied()
		}
	}
	return nil
}
