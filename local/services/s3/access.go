package s3

import (
	"cmp"
	"net"
	"net/http"
	"net/url"
	"strings"

	"stepback/internal/lazyregexp"
	"stepback/local/services/iam/access"
	"stepback/local/services/iam/policy"
)

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
