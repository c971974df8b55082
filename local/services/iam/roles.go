package iam

import (
	"cmp"

	"stepback/aws"
	"stepback/aws/server"
)

// role is a role in responses.
type role struct {
	Path        string
	Name        string      `json:"RoleName"`
	ID          string      `json:"RoleId"`
	ARN         string      `json:"Arn"`
	Created     server.Time `json:"CreateDate"`
	Trust       string      `json:"AssumeRolePolicyDocument"`
	Description string      `json:",omitempty"`
	MaxSession  int64       `json:"MaxSessionDuration,omitempty"`
	Boundary    *boundary   `json:"PermissionsBoundary,omitempty"`
	Tags        []tag       `json:",omitempty"`
	LastUsed    *struct{}   `json:"RoleLastUsed,omitempty"` // last use is not tracked
}

func (e *entity) role() role {
	return role{e.Path, e.Name, e.ID, e.ARN, e.Created, encoded(e.Role.Trust), e.Role.Description, e.Role.MaxSession,
		e.boundary(), e.Tags, nil}
}

type roleAnswer struct{ Role role }

type createRoleRequest struct {
	Name        string `json:"RoleName"`
	Path        string
	Trust       string `json:"AssumeRolePolicyDocument"`
	Description string
	MaxSession  int64  `json:"MaxSessionDuration"`
	Boundary    string `json:"PermissionsBoundary"`
	Tags        []tag
}

func (s *Service) createRole(scope aws.Scope, in *createRoleRequest) (answer *roleAnswer, err error) {
	const hour = 3600
	if err := checkDocument(in.Trust, true); err != nil {
		return nil, err
	}
	return answer, s.change(scope.Account, func(c *change) error {
		e, err := s.newEntity(c, scope, roles, "AROA", in.Name, in.Path)
		if err == nil {
			err = e.putTags(in.Tags)
		}
		if err == nil && in.Boundary != "" {
			err = s.checkAttachable(scope, in.Boundary)
		}
		if err != nil {
			return err
		}
		e.Boundary = in.Boundary
		e.Role = &roleParts{in.Trust, in.Description, cmp.Or(in.MaxSession, hour)}
		c.put(roles, e.Name, e)
		answer = &roleAnswer{e.role()}
		answer.Role.MaxSession = in.MaxSession // this response includes it if it was given
		return nil
	})
}

type oneRole struct {
	Name string `json:"RoleName"`
}

func (s *Service) getRole(scope aws.Scope, in *oneRole) (*roleAnswer, error) {
	e, err := s.findEntity(scope.Account, roles, in.Name)
	if err != nil {
		return nil, err
	}
	answer := &roleAnswer{e.role()}
	answer.Role.LastUsed = &struct{}{}
	return answer, nil
}

type rolesAnswer struct {
	Roles []role
	paged
}

func (s *Service) listRoles(scope aws.Scope, in *paging) (*rolesAnswer, error) {
	all, err := list[entity](s, scope.Account, roles)
	if err != nil {
		return nil, err
	}
	var found []role
	for _, e := range all {
		if in.under(e.Path) {
			found = append(found, e.role())
		}
	}
	answer := &rolesAnswer{}
	answer.Roles, answer.paged, err = page(s, in, roles, found, func(r role) string { return r.Name })
	return answer, err
}

func (s *Service) deleteRole(scope aws.Scope, in *oneRole) (*none, error) {
	return &none{}, s.change(scope.Account, func(c *change) error {
		e, err := s.findEntity(scope.Account, roles, in.Name)
		if err != nil {
			return err
		}
		all, err := list[profile](s, scope.Account, profiles)
		if err != nil {
			return err
		}
		for _, p := range all {
			if p.Role == e.Name {
				return conflict("Cannot delete entity, must remove roles from instance profile first.")
			}
		}
		if err := e.checkUnused(); err != nil {
			return err
		}
		c.remove(roles, e.Name)
		return nil
	})
}

type updateRoleRequest struct {
	Name        string `json:"RoleName"`
	Description *string
	MaxSession  int64 `json:"MaxSessionDuration"`
}

func (s *Service) updateRole(scope aws.Scope, in *updateRoleRequest) (*none, error) {
	return &none{}, s.changeEntity(scope, roles, in.Name, func(_ *change, e *entity) error {
		if in.Description != nil {
			e.Role.Description = *in.Description
		}
		e.Role.MaxSession = cmp.Or(in.MaxSession, e.Role.MaxSession)
		return nil
	})
}

func (s *Service) updateRoleDescription(scope aws.Scope, in *updateRoleRequest) (*roleAnswer, error) {
	if _, err := s.updateRole(scope, in); err != nil {
		return nil, err
	}
	return s.getRole(scope, &oneRole{in.Name})
}

type trustRequest struct {
	Name     string `json:"RoleName"`
	Document string `json:"PolicyDocument"`
}

func (s *Service) updateAssumeRolePolicy(scope aws.Scope, in *trustRequest) (*none, error) {
	if err := checkDocument(in.Document, true); err != nil {
		return nil, err
	}
	return &none{}, s.changeEntity(scope, roles, in.Name, func(_ *change, e *entity) error {
		e.Role.Trust = in.Document
		return nil
	})
}

// Trust returns the trust policy and the ID of the role that arn names; found is false if there is no such role.
func (s *Service) Trust(arn aws.ARN) (document, id string, found bool, err error) {
	name := arn.Resource
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '/' {
			name = name[i+1:]
			break
		}
	}
	e, found, err := get[entity](s, arn.Account, roles, name)
	if err != nil || !found || e.ARN != arn.String() {
		return "", "", false, err
	}
	return e.Role.Trust, e.ID, true, nil
}
