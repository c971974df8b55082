package iam

import (
	"strings"

	"stepback/aws"
	rules "stepback/local/services/iam/policy"
)

// Grants holds the policies and tags of a user or a role.
type Grants struct {
	Identity []*rules.Policy
	Boundary *rules.Policy
	// Tags are the tags of the user or the role.
	Tags map[string]string
	// Trust is the trust policy: who may assume the role. It is nil for users.
	Trust *rules.Policy
}

// UserOfKey returns the user that an access key belongs to; found is false for keys that IAM did not create.
func (s *Service) UserOfKey(account, id string) (user string, active, found bool, err error) {
	k, found, err := get[accessKey](s, account, keys, id)
	if err != nil || !found {
		return "", false, false, err
	}
	return k.User, k.Status == "Active", true, nil
}

// SecretOf returns the secret access key of a user's access key; found is false for other keys.
func (s *Service) SecretOf(account, id string) (secret string, found bool, err error) {
	k, found, err := get[accessKey](s, account, keys, id)
	if err != nil || !found {
		return "", false, err
	}
	return k.Secret, k.Secret != "", nil
}

// Signer returns the ARN and the ID of the user that an access key belongs to; found is false if it belongs to no
// user.
func (s *Service) Signer(account, key string) (arn, id string, found bool, err error) {
	user, _, found, err := s.UserOfKey(account, key)
	if err != nil || !found {
		return "", "", false, err
	}
	e, err := s.findEntity(account, users, user)
	if err != nil {
		return "", "", false, err
	}
	return e.ARN, e.ID, true, nil
}

// ARNOfUser returns the ARN of a user.
func (s *Service) ARNOfUser(account, name string) (string, error) {
	e, err := s.findEntity(account, users, name)
	if err != nil {
		return "", err
	}
	return e.ARN, nil
}

// GrantsOf returns the policies of the user or the role that arn names. AWS managed policies whose documents are not
// known here grant nothing. It returns an error if there is no such user or role.
func (s *Service) GrantsOf(arn aws.ARN) (*Grants, error) {
	kind, path, _ := strings.Cut(arn.Resource, "/")
	name := path[strings.LastIndexByte(path, '/')+1:]
	if kind != users && kind != roles {
		return nil, notFound("%s is neither a user nor a role.", arn)
	}
	e, err := s.findEntity(arn.Account, kind, name)
	if err != nil {
		return nil, err
	}
	scope := aws.Scope{Account: arn.Account}
	g := &Grants{Tags: map[string]string{}}
	all := []*entity{e}
	for _, t := range e.Tags {
		g.Tags[t.Key] = t.Value
	}
	if kind == users {
		groupsOf, err := s.groupsOf(arn.Account, e)
		if err != nil {
			return nil, err
		}
		all = append(all, groupsOf...)
	}
	for _, one := range all {
		for _, document := range one.Inline {
			g.add(document)
		}
		for _, attached := range one.Attached {
			document, err := s.documentOf(scope, attached)
			if err != nil {
				return nil, err
			}
			g.add(document)
		}
	}
	if e.Boundary != "" {
		document, err := s.documentOf(scope, e.Boundary)
		if err != nil {
			return nil, err
		}
		if g.Boundary, err = rules.Parse(document); err != nil {
			g.Boundary = &rules.Policy{} // an unreadable boundary allows nothing
		}
	}
	if e.Role != nil {
		g.Trust, _ = rules.Parse(e.Role.Trust)
	}
	return g, nil
}

// add adds an identity policy. A document that cannot be parsed grants nothing.
func (g *Grants) add(document string) {
	if p, err := rules.Parse(document); err == nil {
		g.Identity = append(g.Identity, p)
	}
}

// documentOf returns the default version of a managed policy; it is empty for an AWS managed policy that is not known
// here.
func (s *Service) documentOf(scope aws.Scope, arn string) (string, error) {
	if awsManaged(arn) {
		return managedDocument(arn), nil
	}
	m, err := s.policyAt(scope, arn)
	if err != nil {
		return "", err
	}
	for _, v := range m.Versions {
		if v.ID == m.Default {
			return v.Document, nil
		}
	}
	return "", nil
}

// groupsOf returns the groups that a user belongs to.
func (s *Service) groupsOf(account string, user *entity) (found []*entity, err error) {
	for _, name := range user.Group {
		g, err := s.findEntity(account, groups, name)
		if err != nil {
			return nil, err
		}
		found = append(found, g)
	}
	return found, nil
}
