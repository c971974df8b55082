package iam

import (
	"math/rand/v2"
	"slices"

	"stepback/aws"
	"stepback/aws/server"
)

// user is a user in responses.
type user struct {
	Path     string
	Name     string      `json:"UserName"`
	ID       string      `json:"UserId"`
	ARN      string      `json:"Arn"`
	Created  server.Time `json:"CreateDate"`
	Boundary *boundary   `json:"PermissionsBoundary,omitempty"`
	Tags     []tag       `json:",omitempty"`
}

func (e *entity) user() user {
	return user{e.Path, e.Name, e.ID, e.ARN, e.Created, e.boundary(), e.Tags}
}

type userAnswer struct{ User user }

type createUserRequest struct {
	Name     string `json:"UserName"`
	Path     string
	Boundary string `json:"PermissionsBoundary"`
	Tags     []tag
}

func (s *Service) createUser(scope aws.Scope, in *createUserRequest) (answer *userAnswer, err error) {
	return answer, s.change(scope.Account, func(c *change) error {
		e, err := s.newEntity(c, scope, users, "AIDA", in.Name, in.Path)
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
		c.put(users, e.Name, e)
		answer = &userAnswer{e.user()}
		return nil
	})
}

type oneUser struct {
	Name string `json:"UserName"`
}

// getUser returns a user, or the account's root if the request names none.
func (s *Service) getUser(scope aws.Scope, in *oneUser) (*userAnswer, error) {
	if in.Name == "" {
		return &userAnswer{user{Path: "/", ID: scope.Account, ARN: scope.GlobalARN("iam", "root"), Created: s.now()}}, nil
	}
	e, err := s.findEntity(scope.Account, users, in.Name)
	if err != nil {
		return nil, err
	}
	return &userAnswer{e.user()}, nil
}

type usersAnswer struct {
	Users []user
	paged
}

func (s *Service) listUsers(scope aws.Scope, in *paging) (*usersAnswer, error) {
	all, err := list[entity](s, scope.Account, users)
	if err != nil {
		return nil, err
	}
	var found []user
	for _, e := range all {
		if in.under(e.Path) {
			found = append(found, e.user())
		}
	}
	answer := &usersAnswer{}
	answer.Users, answer.paged, err = page(s, in, users, found, func(u user) string { return u.Name })
	return answer, err
}

func (s *Service) deleteUser(scope aws.Scope, in *oneUser) (*none, error) {
	return &none{}, s.change(scope.Account, func(c *change) error {
		e, err := s.findEntity(scope.Account, users, in.Name)
		if err != nil {
			return err
		}
		all, err := list[accessKey](s, scope.Account, keys)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(all, func(k *accessKey) bool { return k.User == e.Name }) {
			return conflict("Cannot delete entity, must delete access keys first.")
		}
		if err := e.checkUnused(); err != nil {
			return err
		}
		c.remove(users, e.Name)
		return nil
	})
}

// accessKey is an access key as it is stored and returned.
type accessKey struct {
	User    string `json:"UserName"`
	ID      string `json:"AccessKeyId"`
	Status  string
	Secret  string      `json:"SecretAccessKey,omitempty"`
	Created server.Time `json:"CreateDate"`
}

type accessKeyAnswer struct{ AccessKey accessKey }

func (s *Service) createAccessKey(scope aws.Scope, in *oneUser) (answer *accessKeyAnswer, err error) {
	const most = 2
	return answer, s.change(scope.Account, func(c *change) error {
		e, err := s.findEntity(scope.Account, users, in.Name)
		if err != nil {
			return err
		}
		all, err := list[accessKey](s, scope.Account, keys)
		if err != nil {
			return err
		}
		n := 0
		for _, k := range all {
			if k.User == e.Name {
				n++
			}
		}
		if n >= most {
			return refuse("LimitExceeded", 409, "Cannot exceed quota for AccessKeysPerUser: %d", most)
		}
		k := accessKey{e.Name, aws.UserKey(scope.Account, rand.Uint32()), "Active", newID("") + newID("") + newID(""), s.now()}
		c.put(keys, k.ID, k)
		answer = &accessKeyAnswer{k}
		return nil
	})
}

type keyRequest struct {
	User   string `json:"UserName"`
	ID     string `json:"AccessKeyId"`
	Status string
}

func (s *Service) changesKey(scope aws.Scope, in *keyRequest, f func(*change, *accessKey)) error {
	return s.change(scope.Account, func(c *change) error {
		k, found, err := get[accessKey](s, scope.Account, keys, in.ID)
		if err == nil && (!found || in.User != "" && in.User != k.User) {
			err = notFound("The Access Key with id %s cannot be found.", in.ID)
		}
		if err == nil {
			f(c, k)
		}
		return err
	})
}

func (s *Service) deleteAccessKey(scope aws.Scope, in *keyRequest) (*none, error) {
	return &none{}, s.changesKey(scope, in, func(c *change, k *accessKey) { c.remove(keys, k.ID) })
}

func (s *Service) updateAccessKey(scope aws.Scope, in *keyRequest) (*none, error) {
	return &none{}, s.changesKey(scope, in, func(c *change, k *accessKey) {
		k.Status = in.Status
		c.put(keys, k.ID, k)
	})
}

// listedKey is an access key in lists.
type listedKey struct {
	User    string `json:"UserName"`
	ID      string `json:"AccessKeyId"`
	Status  string
	Created server.Time `json:"CreateDate"`
}

type keysAnswer struct {
	Keys []listedKey `json:"AccessKeyMetadata"`
	paged
}

func (s *Service) listAccessKeys(scope aws.Scope, in *struct {
	oneUser
	paging
}) (*keysAnswer, error) {
	if _, err := s.findEntity(scope.Account, users, in.Name); err != nil {
		return nil, err
	}
	all, err := list[accessKey](s, scope.Account, keys)
	if err != nil {
		return nil, err
	}
	var found []listedKey
	for _, k := range all {
		if k.User == in.Name {
			found = append(found, listedKey{k.User, k.ID, k.Status, k.Created})
		}
	}
	answer := &keysAnswer{}
	answer.Keys, answer.paged, err = page(s, &in.paging, keys+in.Name, found, func(k listedKey) string { return k.ID })
	return answer, err
}
