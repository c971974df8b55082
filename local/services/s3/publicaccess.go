package s3

import (
	"encoding/xml"
	"slices"
	"strings"

	"stepback/local/services/iam/policy"
)

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
