package s3

import (
	"cmp"
	"encoding/json"
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
