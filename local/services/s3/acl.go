package s3

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"net/http"
	"slices"
	"strings"
)

// grant gives a grantee a permission. The grantee is a canonical user ID or a group.
type grant struct {
	ID         string `json:"id,omitempty"`
	Group      string `json:"group,omitempty"` // URI
	Permission string `json:"permission"`
}

// acl is the access control list of a bucket or an object. Its owner is an account; empty stands for the default one.
type acl struct {
	Owner  string  `json:"owner,omitempty"`
	Grants []grant `json:"grants"`
}

// The predefined groups of grantees.
const (
	allUsers           = "http://acs.amazonaws.com/groups/global/AllUsers"
	authenticatedUsers = "http://acs.amazonaws.com/groups/global/AuthenticatedUsers"
	logDelivery        = "http://acs.amazonaws.com/groups/s3/LogDelivery"
)

// The permissions of a grant.
const (
	fullControl = "FULL_CONTROL"
	readACL     = "READ_ACP"
	writeACL    = "WRITE_ACP"
	reading     = "READ"
	writing     = "WRITE"
)

// grantHeaders maps the headers of explicit grants to permissions.
var grantHeaders = map[string]string{"X-Amz-Grant-Full-Control": fullControl, "X-Amz-Grant-Read": reading,
	"X-Amz-Grant-Read-Acp": readACL, "X-Amz-Grant-Write": writing, "X-Amz-Grant-Write-Acp": writeACL}

// cannedACLs lists the predefined ACLs. bucket-owner-read and bucket-owner-full-control have an effect on objects only.
var cannedACLs = []string{"private", "public-read", "public-read-write", "authenticated-read", "aws-exec-read",
	"bucket-owner-read", "bucket-owner-full-control", "log-delivery-write"}

const aclHeader = "X-Amz-Acl"

// aclSetting is the name of the internal setting that holds a bucket's ACL.
const aclSetting = "grants"

// The values of ObjectOwnership.
const (
	ownerEnforced  = "BucketOwnerEnforced"
	ownerPreferred = "BucketOwnerPreferred"
	objectWriter   = "ObjectWriter"
)

// ownershipOf returns the ObjectOwnership of a bucket. A bucket without the setting is one of before it existed.
func (s *store) ownershipOf(bucket string) (string, error) {
	all, err := s.settingsOf(bucket)
	if err != nil || all["ownershipControls"] == "" {
		return objectWriter, s.storageError(err)
	}
	in, err := parseSetting[ownershipControls](s, all, "ownershipControls")
	return cmp.Or(in.Rule.ObjectOwnership, ownerEnforced), s.storageError(err)
}

// ownershipControls is the XML of a bucket's ownership of objects.
type ownershipControls struct {
	Rule struct{ ObjectOwnership string }
}

// requestedACL returns the ACL that the headers of a request describe, and nil if there are none. owner is the account
// that owns the new resource.
func (s *store) requestedACL(h http.Header, owner, bucketOwner string) (*acl, error) {
	canned := h.Get(aclHeader)
	made := &acl{Owner: owner}
	explicit := false
	for header, permission := range grantHeaders {
		for _, line := range h.Values(header) {
			explicit = true
			grants, err := s.parseGrantees(line, permission)
			if err != nil {
				return nil, err
			}
			made.Grants = append(made.Grants, grants...)
		}
	}
	switch {
	case canned != "" && explicit:
		return nil, fail("InvalidRequest", "Specifying both Canned ACLs and Header Grants is not allowed", nil)
	case explicit:
		slices.SortFunc(made.Grants, func(a, b grant) int {
			return strings.Compare(a.Permission+a.ID+a.Group,
				b.Permission+b.ID+b.Group)
		})
		return made, nil
	case canned == "":
		return nil, nil
	case !slices.Contains(cannedACLs, canned):
		return nil, invalidArgument("x-amz-acl", canned, "")
	}
	return s.canned(canned, owner, bucketOwner), nil
}

// canned returns a predefined ACL.
func (s *store) canned(name, owner, bucketOwner string) *acl {
	made := &acl{Owner: owner, Grants: []grant{{ID: s.canonicalID(owner), Permission: fullControl}}}
	add := func(g ...grant) { made.Grants = append(made.Grants, g...) }
	switch name {
	case "public-read":
		add(grant{Group: allUsers, Permission: reading})
	case "public-read-write":
		add(grant{Group: allUsers, Permission: reading}, grant{Group: allUsers, Permission: writing})
	case "authenticated-read":
		add(grant{Group: authenticatedUsers, Permission: reading})
	case "log-delivery-write":
		add(grant{Group: logDelivery, Permission: writing}, grant{Group: logDelivery, Permission: readACL})
	case "bucket-owner-read", "bucket-owner-full-control":
		permission := map[string]string{"bucket-owner-read": reading, "bucket-owner-full-control": fullControl}[name]
		if s.canonicalID(bucketOwner) != s.canonicalID(owner) {
			add(grant{ID: s.canonicalID(bucketOwner), Permission: permission})
		}
	}
	return made
}

// parseGrantees parses a header such as id="…", uri="…".
func (s *store) parseGrantees(line, permission string) ([]grant, error) {
	var all []grant
	for item := range strings.SplitSeq(line, ",") {
		kind, value, ok := strings.Cut(strings.TrimSpace(item), "=")
		value = strings.Trim(strings.TrimSpace(value), `"`)
		switch kind = strings.ToLower(strings.TrimSpace(kind)); {
		case !ok:
			return nil, invalidArgument("x-amz-grant", item, "Argument format not recognized")
		case kind == "id":
			if !isCanonicalID(value) {
				return nil, invalidArgument("id", value, "Invalid id")
			}
			all = append(all, grant{ID: value, Permission: permission})
		case kind == "uri":
			if value != allUsers && value != authenticatedUsers && value != logDelivery {
				return nil, invalidArgument("uri", value, "Invalid group uri")
			}
			all = append(all, grant{Group: value, Permission: permission})
		case kind == "emailaddress":
			return nil, fail(
				"UnresolvableGrantByEmailAddress",
				"The e-mail address you provided does not match any account on record.",
				nil,
			)
		default:
			return nil, invalidArgument("x-amz-grant", item, "Argument format not recognized")
		}
	}
	return all, nil
}

// isCanonicalID reports whether a text has the form of a canonical user ID.
func isCanonicalID(text string) bool {
	const length = 64
	return text == rootID || len(text) == length && strings.Trim(text, "0123456789abcdef") == ""
}

// accessControlPolicy is the XML of an ACL.
type accessControlPolicy struct {
	XMLName xml.Name `xml:"AccessControlPolicy"`
	Xmlns   string   `xml:"xmlns,attr,omitempty"`
	Owner   *person
	Grants  *grantList `xml:"AccessControlList"`
}

type grantList struct {
	Grant []grantElement
}

type grantElement struct {
	Grantee    grantee
	Permission string
}

type grantee struct {
	XSI         string `xml:"xmlns:xsi,attr,omitempty"`
	Type        string `xml:"xsi:type,attr,omitempty"`
	ID          string `xml:",omitempty"`
	DisplayName string `xml:",omitempty"`
	URI         string `xml:",omitempty"`
	Email       string `xml:"EmailAddress,omitempty"`
}

// person is an owner or an initiator.
type person struct {
	ID          string
	DisplayName string `xml:",omitempty"`
}

const schemaInstance = "http://www.w3.org/2001/XMLSchema-instance"

// element returns the XML of an ACL.
func (s *store) element(a *acl) accessControlPolicy {
	out := accessControlPolicy{Xmlns: namespace, Owner: &person{ID: s.canonicalID(a.Owner)}, Grants: &grantList{}}
	for _, g := range a.Grants {
		to := grantee{XSI: schemaInstance, Type: "CanonicalUser", ID: g.ID}
		if g.Group != "" {
			to = grantee{XSI: schemaInstance, Type: "Group", URI: g.Group}
		}
		out.Grants.Grant = append(out.Grants.Grant, grantElement{to, g.Permission})
	}
	return out
}

// requestACL returns the ACL that a request puts, by its headers or its body.
func (s *store) requestACL(c *call, owner, bucketOwner string) (*acl, error) {
	made, err := s.requestedACL(c.Header, owner, bucketOwner)
	if err != nil {
		return nil, err
	}
	text, err := c.message(maxMessage)
	if err != nil {
		return nil, err
	}
	if made != nil {
		if len(text) > 0 {
			return nil, fail("UnexpectedContent", "This request does not support content", nil)
		}
		return made, nil
	}
	if len(text) == 0 {
		return nil, fail(
			"MissingSecurityHeader",
			"Your request was missing a required header",
			members{"MissingHeaderName": "x-amz-acl"},
		)
	}
	var in accessControlPolicy
	if xml.Unmarshal(text, &in) != nil || in.Grants == nil || in.Owner == nil {
		return nil, fail("MalformedACLError", malformedXML().Message, nil)
	}
	if in.Owner.ID != s.canonicalID(owner) {
		return nil, accessDenied()
	}
	made = &acl{Owner: owner, Grants: []grant{}}
	for _, g := range in.Grants.Grant {
		if !slices.Contains([]string{fullControl, reading, writing, readACL, writeACL}, g.Permission) {
			return nil, fail("MalformedACLError", malformedXML().Message, nil)
		}
		switch {
		case g.Grantee.URI != "":
			made.Grants = append(made.Grants, grant{Group: g.Grantee.URI, Permission: g.Permission})
		case g.Grantee.Email != "":
			return nil, fail(
				"UnresolvableGrantByEmailAddress",
				"The e-mail address you provided does not match any account on record.",
				nil,
			)
		case !isCanonicalID(g.Grantee.ID):
			return nil, invalidArgument("CanonicalUser/ID", g.Grantee.ID, "Invalid id")
		default:
			made.Grants = append(made.Grants, grant{ID: g.Grantee.ID, Permission: g.Permission})
		}
	}
	return made, nil
}

// public reports whether an ACL gives a permission to everybody.
func (a *acl) public() bool {
	return slices.ContainsFunc(a.Grants, func(g grant) bool {
		return g.Group == allUsers ||
			g.Group == authenticatedUsers
	})
}

// permitACL returns an error if a bucket takes no such ACL.
func (s *store) permitACL(bucket string, a *acl) error {
	ownership, err := s.ownershipOf(bucket)
	if err != nil || a == nil {
		return err
	}
	if ownership == ownerEnforced && !s.ownersAlone(bucket, a) {
		return fail("AccessControlListNotSupported", "The bucket does not allow ACLs", nil)
	}
	block, err := s.accessBlock(bucket)
	if err == nil && block.BlockPublicACLs && a.public() {
		err = accessDenied()
	}
	return err
}

// ownersAlone reports whether an ACL gives all permissions to the bucket's owner, and none to others.
func (s *store) ownersAlone(bucket string, a *acl) bool {
	owner, err := s.ownerOf(bucket)
	return err == nil && len(a.Grants) > 0 && !slices.ContainsFunc(a.Grants, func(g grant) bool {
		return g.Group != "" || g.Permission != fullControl ||
			g.ID != s.canonicalID(owner) && g.ID != s.canonicalID(a.Owner)
	})
}

// bucketACL returns the ACL of a bucket.
func (s *store) bucketACL(bucket string) (*acl, error) {
	all, err := s.settingsOf(bucket)
	if err != nil {
		return nil, s.storageError(err)
	}
	if text := all[aclSetting]; text != "" {
		var a acl
		return &a, s.storageError(json.Unmarshal([]byte(text), &a))
	}
	return s.canned("private", all[ownerSetting], all[ownerSetting]), nil
}

// aclOf returns the ACL of an object's version.
func (s *store) aclOf(bucket string, v *version) (*acl, error) {
	if v.ACL != nil {
		return v.ACL, nil
	}
	owner, err := s.ownerOf(bucket)
	return s.canned("private", owner, owner), err
}

func (s *store) getBucketACL(c *call) (any, error) {
	a, err := s.bucketACL(c.bucket)
	if err != nil {
		return nil, err
	}
	return s.element(a), nil
}

func (s *store) putBucketACL(c *call) (any, error) {
	owner, err := s.ownerOf(c.bucket)
	if err != nil {
		return nil, err
	}
	a, err := s.requestACL(c, owner, owner)
	if err != nil {
		return nil, err
	}
	if err := s.permitACL(c.bucket, a); err != nil {
		return nil, err
	}
	text, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	return nil, s.changeSettings(c.bucket, map[string]string{aclSetting: string(text)})
}

func (s *store) getObjectACL(c *call) (any, error) {
	v, err := s.describeVersion(c.bucket, c.key, c.query.Get("versionId"))
	if err != nil {
		return nil, err
	}
	a, err := s.aclOf(c.bucket, &v)
	if err != nil {
		return nil, err
	}
	c.showVersion(&v)
	return s.element(a), nil
}

func (s *store) putObjectACL(c *call) (any, error) {
	v, err := s.describeVersion(c.bucket, c.key, c.query.Get("versionId"))
	if err != nil {
		return nil, err
	}
	old, err := s.aclOf(c.bucket, &v)
	if err != nil {
		return nil, err
	}
	owner, err := s.ownerOf(c.bucket)
	if err != nil {
		return nil, err
	}
	a, err := s.requestACL(c, old.Owner, owner)
	if err != nil {
		return nil, err
	}
	if err := s.permitACL(c.bucket, a); err != nil {
		return nil, err
	}
	if v, err = s.changeVersion(
		c.bucket,
		c.key,
		c.query.Get("versionId"),
		func(v *version) error { v.ACL = a; return nil },
	); err != nil {
		return nil, err
	}
	c.showVersion(&v)
	s.announceChange(c, &v, "ObjectAcl:Put", "Object ACL Updated")
	return nil, nil
}

// needed maps operations to the permission that another account needs for them, on the bucket or on the object.
var needed = map[string]struct {
	on, permission string
}{
	"ListObjects":   {onBucket, reading},
	"ListObjectsV2": {onBucket, reading},
	"HeadBucket":    {onBucket, reading},
	"ListMultipartUploads": {
		onBucket,
		reading,
	},
	"ListObjectVersions": {onBucket, reading},
	"GetBucketAcl":       {onBucket, readACL},
	"PutBucketAcl": {
		onBucket,
		writeACL,
	},
	"PutObject":  {onBucket, writing},
	"PostObject": {onBucket, writing},
	"CopyObject": {onBucket, writing},
	"DeleteObject": {
		onBucket,
		writing,
	},
	"DeleteObjects":         {onBucket, writing},
	"CreateMultipartUpload": {onBucket, writing},
	"UploadPart": {
		onBucket,
		writing,
	},
	"UploadPartCopy":          {onBucket, writing},
	"CompleteMultipartUpload": {onBucket, writing},
	"GetObject":               {onObject, reading},
	"HeadObject":              {onObject, reading},
	"GetObjectAcl":            {onObject, readACL},
	"PutObjectAcl":            {onObject, writeACL},
}

// grantsAccess reports whether the ACL of the bucket or object lets the caller perform a call.
func (s *store) grantsAccess(c *call, block accessBlock) (bool, error) {
	need, ok := needed[c.operation]
	if !ok {
		return s.initiated(c), nil
	}
	if need.on == onObject {
		return s.mayReach(c.caller, c.bucket, c.key, c.query.Get("versionId"), need.permission, block)
	}
	a, err := s.bucketACL(c.bucket)
	if err != nil {
		return false, err
	}
	return s.enforced(c.bucket) == nil && s.gives(a, c.caller, need.permission, block), nil
}

// mayReach reports whether the ACL of an object gives a permission to a caller. It is false if the object is missing.
func (s *store) mayReach(who caller, bucket, key, id, permission string, block accessBlock) (bool, error) {
	v, err := s.describeVersion(bucket, key, id)
	if isCode(err, "NoSuchKey") || isCode(err, "NoSuchVersion") {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	a, err := s.aclOf(bucket, &v)
	if err != nil {
		return false, err
	}
	return s.enforced(bucket) == nil && s.gives(a, who, permission, block), nil
}

// enforced returns an error if ACLs have no effect in a bucket.
func (s *store) enforced(bucket string) error {
	ownership, err := s.ownershipOf(bucket)
	if err == nil && ownership == ownerEnforced {
		err = accessDenied()
	}
	return err
}

// gives reports whether an ACL gives a permission to a caller.
func (s *store) gives(a *acl, who caller, permission string, block accessBlock) bool {
	return slices.ContainsFunc(a.Grants, func(g grant) bool {
		if g.Permission != permission && g.Permission != fullControl {
			return false
		}
		switch g.Group {
		case allUsers:
			return !block.IgnorePublicACLs
		case authenticatedUsers:
			return !block.IgnorePublicACLs && !who.anonymous
		}
		return !who.anonymous && g.ID == s.canonicalID(who.account)
	})
}
