package iam

import (
	"slices"

	"stepback/aws"
	"stepback/aws/server"
)

// group is a group in responses.
type group struct {
	Path    string
	Name    string      `json:"GroupName"`
	ID      string      `json:"GroupId"`
	ARN     string      `json:"Arn"`
	Created server.Time `json:"CreateDate"`
}

func (e *entity) group() group { return group{e.Path, e.Name, e.ID, e.ARN, e.Created} }

type groupAnswer struct{ Group group }

type createGroupRequest struct {
	Name string `json:"GroupName"`
	Path string
}

func (s *Service) createGroup(scope aws.Scope, in *createGroupRequest) (answer *groupAnswer, err error) {
	return answer, s.change(scope.Account, func(c *change) error {
		e, err := s.newEntity(c, scope, groups, "AGPA", in.Name, in.Path)
		if err != nil {
			return err
		}
		c.put(groups, e.Name, e)
		answer = &groupAnswer{e.group()}
		return nil
	})
}

type oneGroup struct {
	Name string `json:"GroupName"`
}

type groupUsers struct {
	Group group
	Users []user
	paged
}

// members returns the users of a group.
func (s *Service) members(account, name string) (found []user, err error) {
	all, err := list[entity](s, account, users)
	for _, e := range all {
		if slices.Contains(e.Group, name) {
			found = append(found, e.user())
		}
	}
	return found, err
}

func (s *Service) getGroup(scope aws.Scope, in *struct {
	oneGroup
	paging
}) (*groupUsers, error) {
	e, err := s.findEntity(scope.Account, groups, in.Name)
	if err != nil {
		return nil, err
	}
	found, err := s.members(scope.Account, e.Name)
	if err != nil {
		return nil, err
	}
	answer := &groupUsers{Group: e.group()}
	answer.Users, answer.paged, err = page(s, &in.paging, groups+e.Name, found, func(u user) string { return u.Name })
	return answer, err
}

type groupsAnswer struct {
	Groups []group
	paged
}

func (s *Service) listGroups(scope aws.Scope, in *paging) (*groupsAnswer, error) {
	return s.groupsThat(scope, in, func(e *entity) bool { return in.under(e.Path) })
}

func (s *Service) groupsThat(scope aws.Scope, in *paging, listed func(*entity) bool) (*groupsAnswer, error) {
	all, err := list[entity](s, scope.Account, groups)
	if err != nil {
		return nil, err
	}
	var found []group
	for _, e := range all {
		if listed(e) {
			found = append(found, e.group())
		}
	}
	answer := &groupsAnswer{}
	answer.Groups, answer.paged, err = page(s, in, groups, found, func(g group) string { return g.Name })
	return answer, err
}

func (s *Service) listGroupsForUser(scope aws.Scope, in *struct {
	oneUser
	paging
}) (*groupsAnswer, error) {
	u, err := s.findEntity(scope.Account, users, in.Name)
	if err != nil {
		return nil, err
	}
	return s.groupsThat(scope, &in.paging, func(e *entity) bool { return slices.Contains(u.Group, e.Name) })
}

func (s *Service) deleteGroup(scope aws.Scope, in *oneGroup) (*none, error) {
	return &none{}, s.change(scope.Account, func(c *change) error {
		e, err := s.findEntity(scope.Account, groups, in.Name)
		if err != nil {
			return err
		}
		members, err := s.members(scope.Account, e.Name)
		if err == nil && len(members) > 0 {
			err = conflict("Cannot delete entity, must remove users from group first.")
		}
		if err == nil {
			err = e.checkUnused()
		}
		if err == nil {
			c.remove(groups, e.Name)
		}
		return err
	})
}

type membership struct {
	Group string `json:"GroupName"`
	User  string `json:"UserName"`
}

func (s *Service) addUserToGroup(scope aws.Scope, in *membership) (*none, error) {
	return &none{}, s.changeEntity(scope, users, in.User, func(_ *change, u *entity) error {
		g, err := s.findEntity(scope.Account, groups, in.Group)
		if err == nil && !slices.Contains(u.Group, g.Name) {
			u.Group = append(u.Group, g.Name)
		}
		return err
	})
}

func (s *Service) removeUserFromGroup(scope aws.Scope, in *membership) (*none, error) {
	return &none{}, s.changeEntity(scope, users, in.User, func(_ *change, u *entity) error {
		g, err := s.findEntity(scope.Account, groups, in.Group)
		if err == nil {
			u.Group = slices.DeleteFunc(u.Group, func(name string) bool { return name == g.Name })
		}
		return err
	})
}
