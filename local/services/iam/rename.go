package iam

import (
	"slices"

	"stepback/aws"
)

// renameEntity changes the name and path of an entity; an empty name or path is left as it is. mu is held.
func (s *Service) renameEntity(c *change, scope aws.Scope, kind string, e *entity, name, path string) error {
	old := e.Name
	if name != "" && name != old {
		if _, found, err := get[entity](s, c.account, kind, name); err != nil || found {
			if err == nil {
				err = exists("%s with name %s already exists.", map[string]string{users: "User", groups: "Group"}[kind], name)
			}
			return err
		}
		c.remove(kind, old)
		e.Name = name
	}
	if path != "" {
		e.Path = path
	}
	e.ARN = scope.GlobalARN("iam", kind+e.Path+e.Name)
	c.put(kind, e.Name, e)
	return nil
}

func (s *Service) updateUser(scope aws.Scope, in *struct {
	oneUser
	NewPath string
	NewName string `json:"NewUserName"`
}) (*none, error) {
	return &none{}, s.change(scope.Account, func(c *change) error {
		e, err := s.findEntity(scope.Account, users, in.Name)
		if err == nil {
			err = s.renameEntity(c, scope, users, e, in.NewName, in.NewPath)
		}
		if err != nil || e.Name == in.Name {
			return err
		}
		all, err := list[accessKey](s, scope.Account, keys)
		for _, k := range all {
			if k.User == in.Name {
				k.User = e.Name
				c.put(keys, k.ID, k)
			}
		}
		return err
	})
}

func (s *Service) updateGroup(scope aws.Scope, in *struct {
	Name    string `json:"GroupName"`
	NewPath string
	NewName string `json:"NewGroupName"`
}) (*none, error) {
	return &none{}, s.change(scope.Account, func(c *change) error {
		e, err := s.findEntity(scope.Account, groups, in.Name)
		if err == nil {
			err = s.renameEntity(c, scope, groups, e, in.NewName, in.NewPath)
		}
		if err != nil || e.Name == in.Name {
			return err
		}
		all, err := list[entity](s, scope.Account, users)
		for _, u := range all {
			if i := slices.Index(u.Group, in.Name); i >= 0 {
				u.Group = slices.Clone(u.Group)
				u.Group[i] = e.Name
				c.put(users, u.Name, u)
			}
		}
		return err
	})
}

func (s *Service) tagProfile(scope aws.Scope, in *profileRequest) (*none, error) {
	return &none{}, s.change(scope.Account, func(c *change) error {
		p, err := s.profile(scope.Account, in.Name)
		if err == nil {
			p.Tags = merged(p.Tags, in.Tags)
			c.put(profiles, p.Name, p)
		}
		return err
	})
}

func (s *Service) untagProfile(scope aws.Scope, in *struct {
	Name string   `json:"InstanceProfileName"`
	Keys []string `json:"TagKeys"`
}) (*none, error) {
	return &none{}, s.change(scope.Account, func(c *change) error {
		p, err := s.profile(scope.Account, in.Name)
		if err == nil {
			p.Tags = without(p.Tags, in.Keys)
			c.put(profiles, p.Name, p)
		}
		return err
	})
}

func (s *Service) listProfileTags(scope aws.Scope, in *struct {
	profileRequest
	Marker   string
	MaxItems int
}) (*tagsAnswer, error) {
	p, err := s.profile(scope.Account, in.Name)
	if err != nil {
		return nil, err
	}
	return s.tagsOf(&paging{Marker: in.Marker, MaxItems: in.MaxItems}, profiles+p.Name, p.Tags)
}
