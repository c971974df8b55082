package iam

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stepback/aws"
	"stepback/aws/server"
)

// managed is a managed policy as it is stored, by its name.
type managed struct {
	Name, Path, ID, ARN, Description string
	Created, Updated                 server.Time
	Versions                         []version // in order of creation
	Next                             int       // the number of the next version
	Default                          string
	Tags                             []tag
}

// version is a version of a policy.
type version struct {
	Document string
	ID       string
	Created  server.Time
}

// policy is a managed policy in responses.
type policy struct {
	Name        string `json:"PolicyName"`
	ID          string `json:"PolicyId"`
	ARN         string `json:"Arn"`
	Path        string
	Default     string      `json:"DefaultVersionId"`
	Attachments int         `json:"AttachmentCount"`
	Boundaries  int         `json:"PermissionsBoundaryUsageCount"`
	Attachable  bool        `json:"IsAttachable"`
	Description string      `json:",omitempty"`
	Created     server.Time `json:"CreateDate"`
	Updated     server.Time `json:"UpdateDate"`
	Tags        []tag       `json:",omitempty"`
}

// policyVersion is a policy version in responses.
type policyVersion struct {
	Document  string      `json:",omitempty"`
	ID        string      `json:"VersionId"`
	IsDefault bool        `json:"IsDefaultVersion"`
	Created   server.Time `json:"CreateDate"`
}

// awsManaged reports whether arn names an AWS managed policy.
func awsManaged(arn string) bool {
	a, ok := aws.ParseARN(arn)
	return ok && a.Service == "iam" && a.Account == "aws" && strings.HasPrefix(a.Resource, "policy/")
}

// policyAt returns the managed policy with an ARN.
func (s *Service) policyAt(scope aws.Scope, arn string) (*managed, error) {
	name := arn[strings.LastIndexByte(arn, '/')+1:]
	m, found, err := get[managed](s, scope.Account, policies, name)
	if err == nil && (!found || m.ARN != arn) {
		err = notFound("Policy %s was not found.", arn)
	}
	return m, err
}

// checkAttachable returns an error if arn does not name a policy.
func (s *Service) checkAttachable(scope aws.Scope, arn string) error {
	if awsManaged(arn) {
		return nil
	}
	if _, err := s.policyAt(scope, arn); err != nil {
		return notFound("Policy %s does not exist or is not attachable.", arn)
	}
	return nil
}

// uses counts, for each policy, the entities to which it is attached and the entities whose boundary it is.
func (s *Service) uses(account string) (attached, boundaries map[string]int, err error) {
	attached, boundaries = map[string]int{}, map[string]int{}
	for kind := range entityNouns {
		all, err := list[entity](s, account, kind)
		if err != nil {
			return nil, nil, err
		}
		for _, e := range all {
			for _, arn := range e.Attached {
				attached[arn]++
			}
			boundaries[e.Boundary]++
		}
	}
	return attached, boundaries, nil
}

func (m *managed) answer(attached, boundaries map[string]int) policy {
	return policy{m.Name, m.ID, m.ARN, m.Path, m.Default, attached[m.ARN], boundaries[m.ARN], true, m.Description,
		m.Created, m.Updated, m.Tags}
}

type policyAnswer struct{ Policy policy }

type createPolicyRequest struct {
	Name        string `json:"PolicyName"`
	Document    string `json:"PolicyDocument"`
	Path        string
	Description string
	Tags        []tag
}

func (s *Service) createPolicy(scope aws.Scope, in *createPolicyRequest) (answer *policyAnswer, err error) {
	if err := checkDocument(in.Document, false); err != nil {
		return nil, err
	}
	return answer, s.change(scope.Account, func(c *change) error {
		if _, found, err := get[managed](s, c.account, policies, in.Name); err != nil || found {
			if err == nil {
				err = exists("A policy called %s already exists. Duplicate names are not allowed.", in.Name)
			}
			return err
		}
		path, now := cmp.Or(in.Path, "/"), s.now()
		m := &managed{Name: in.Name, Path: path, ID: newID("ANPA"), ARN: scope.GlobalARN("iam", "policy"+path+in.Name),
			Description: in.Description, Created: now, Updated: now, Next: 2, Default: "v1", Tags: in.Tags,
			Versions: []version{{in.Document, "v1", now}}}
		c.put(policies, m.Name, m)
		answer = &policyAnswer{m.answer(nil, nil)}
		return nil
	})
}

type onePolicy struct {
	ARN string `json:"PolicyArn"`
}

func (s *Service) getPolicy(scope aws.Scope, in *onePolicy) (*policyAnswer, error) {
	if awsManaged(in.ARN) {
		path, name := "/", in.ARN[strings.LastIndexByte(in.ARN, '/')+1:]
		_, rest, _ := strings.Cut(in.ARN, ":policy")
		if i := strings.LastIndexByte(rest, '/'); i > 0 {
			path = rest[:i+1]
		}
		return &policyAnswer{policy{Name: name, ARN: in.ARN, Path: path, Default: "v1", Attachable: true}}, nil
	}
	m, err := s.policyAt(scope, in.ARN)
	if err != nil {
		return nil, err
	}
	attached, boundaries, err := s.uses(scope.Account)
	if err != nil {
		return nil, err
	}
	return &policyAnswer{m.answer(attached, boundaries)}, nil
}

type policiesAnswer struct {
	Policies []policy
	paged
}

func (s *Service) listPolicies(scope aws.Scope, in *struct {
	Scope    string
	Attached bool   `json:"OnlyAttached"`
	Usage    string `json:"PolicyUsageFilter"`
	paging
}) (*policiesAnswer, error) {
	all, err := list[managed](s, scope.Account, policies)
	if err != nil {
		return nil, err
	}
	attached, boundaries, err := s.uses(scope.Account)
	if err != nil {
		return nil, err
	}
	var found []policy
	for _, m := range all {
		if in.under(m.Path) && in.Scope != "AWS" && (!in.Attached || attached[m.ARN] > 0) &&
			(in.Usage != "PermissionsPolicy" || attached[m.ARN] > 0) &&
			(in.Usage != "PermissionsBoundary" || boundaries[m.ARN] > 0) {
			found = append(found, m.answer(attached, boundaries))
		}
	}
	answer := &policiesAnswer{}
	answer.Policies, answer.paged, err = page(s, &in.paging, policies, found, func(p policy) string { return p.Name })
	return answer, err
}

// changePolicy runs f on a managed policy of the account and stores the result.
func (s *Service) changePolicy(scope aws.Scope, arn string, f func(*change, *managed) error) error {
	return s.change(scope.Account, func(c *change) error {
		m, err := s.policyAt(scope, arn)
		if err == nil {
			err = f(c, m)
		}
		return err
	})
}

func (s *Service) deletePolicy(scope aws.Scope, in *onePolicy) (*none, error) {
	return &none{}, s.changePolicy(scope, in.ARN, func(c *change, m *managed) error {
		attached, boundaries, err := s.uses(scope.Account)
		switch {
		case err != nil:
			return err
		case attached[m.ARN]+boundaries[m.ARN] > 0:
			return conflict("Cannot delete a policy attached to entities.")
		case len(m.Versions) > 1:
			return conflict("This policy has more than one version. Before you delete a policy, you must delete the " +
				"policy's versions. The default version is deleted with the policy.")
		}
		c.remove(policies, m.Name)
		return nil
	})
}

func (m *managed) version(v version, document bool) policyVersion {
	made := policyVersion{ID: v.ID, IsDefault: v.ID == m.Default, Created: v.Created}
	if document {
		made.Document = encoded(v.Document)
	}
	return made
}

type versionAnswer struct {
	Version policyVersion `json:"PolicyVersion"`
}

func (s *Service) createPolicyVersion(scope aws.Scope, in *struct {
	onePolicy
	Document string `json:"PolicyDocument"`
	Default  bool   `json:"SetAsDefault"`
}) (answer *versionAnswer, err error) {
	const most = 5
	if err := checkDocument(in.Document, false); err != nil {
		return nil, err
	}
	return answer, s.changePolicy(scope, in.ARN, func(c *change, m *managed) error {
		if len(m.Versions) >= most {
			return refuse("LimitExceeded", 409, "A managed policy can have up to %d versions. Before you create a new version, "+
				"you must delete an existing version.", most)
		}
		v := version{in.Document, fmt.Sprint("v", m.Next), s.now()}
		m.Next++
		m.Versions = append(m.Versions, v)
		m.Updated = v.Created
		if in.Default {
			m.Default = v.ID
		}
		c.put(policies, m.Name, m)
		answer = &versionAnswer{m.version(v, false)}
		return nil
	})
}

type versionRequest struct {
	onePolicy
	ID string `json:"VersionId"`
}

// find returns the index of a version.
func (m *managed) find(id string) (int, error) {
	i := slices.IndexFunc(m.Versions, func(v version) bool { return v.ID == id })
	if i < 0 {
		return 0, notFound("Policy %s version %s does not exist or is not attachable.", m.ARN, id)
	}
	return i, nil
}

func (s *Service) getPolicyVersion(scope aws.Scope, in *versionRequest) (*versionAnswer, error) {
	m, err := s.policyAt(scope, in.ARN)
	if err != nil {
		return nil, err
	}
	i, err := m.find(in.ID)
	if err != nil {
		return nil, err
	}
	return &versionAnswer{m.version(m.Versions[i], true)}, nil
}

type versionsAnswer struct {
	Versions []policyVersion
	paged
}

func (s *Service) listPolicyVersions(scope aws.Scope, in *struct {
	onePolicy
	Marker   string
	MaxItems int
}) (*versionsAnswer, error) {
	m, err := s.policyAt(scope, in.ARN)
	if err != nil {
		return nil, err
	}
	var all []policyVersion
	for _, v := range slices.Backward(m.Versions) {
		all = append(all, m.version(v, false))
	}
	answer := &versionsAnswer{}
	answer.Versions, answer.paged, err = page(s, &paging{Marker: in.Marker, MaxItems: in.MaxItems}, "versions"+in.ARN, all,
		func(v policyVersion) string {
			n, _ := strconv.Atoi(strings.TrimPrefix(v.ID, "v"))
			return fmt.Sprintf("%09d", 999_999_999-n) // newest first
		})
	return answer, err
}

func (s *Service) deletePolicyVersion(scope aws.Scope, in *versionRequest) (*none, error) {
	return &none{}, s.changePolicy(scope, in.ARN, func(c *change, m *managed) error {
		i, err := m.find(in.ID)
		if err == nil && in.ID == m.Default {
			err = conflict("Cannot delete the default version of a policy.")
		}
		if err == nil {
			m.Versions = slices.Delete(m.Versions, i, i+1)
			c.put(policies, m.Name, m)
		}
		return err
	})
}

func (s *Service) setDefaultPolicyVersion(scope aws.Scope, in *versionRequest) (*none, error) {
	return &none{}, s.changePolicy(scope, in.ARN, func(c *change, m *managed) error {
		_, err := m.find(in.ID)
		if err == nil {
			m.Default, m.Updated = in.ID, s.now()
			c.put(policies, m.Name, m)
		}
		return err
	})
}

func (s *Service) tagPolicy(scope aws.Scope, in *struct {
	onePolicy
	Tags []tag
}) (*none, error) {
	return &none{}, s.changePolicy(scope, in.ARN, func(c *change, m *managed) error {
		m.Tags = merged(m.Tags, in.Tags)
		c.put(policies, m.Name, m)
		return nil
	})
}

func (s *Service) untagPolicy(scope aws.Scope, in *struct {
	onePolicy
	Keys []string `json:"TagKeys"`
}) (*none, error) {
	return &none{}, s.changePolicy(scope, in.ARN, func(c *change, m *managed) error {
		m.Tags = without(m.Tags, in.Keys)
		c.put(policies, m.Name, m)
		return nil
	})
}

func (s *Service) listPolicyTags(scope aws.Scope, in *struct {
	onePolicy
	Marker   string
	MaxItems int
}) (*tagsAnswer, error) {
	m, err := s.policyAt(scope, in.ARN)
	if err != nil {
		return nil, err
	}
	return s.tagsOf(&paging{Marker: in.Marker, MaxItems: in.MaxItems}, policies+in.ARN, m.Tags)
}
