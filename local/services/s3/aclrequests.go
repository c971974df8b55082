package s3

import (
	"encoding/json"
	"encoding/xml"
	"slices"
)

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
