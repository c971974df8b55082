package iam

import (
	"cmp"

	"stepback/aws"
	"stepback/aws/server"
)

// profile is an instance profile as it is stored.
type profile struct {
	Name, Path, ID, ARN string
	Created             server.Time
	Role                string
	Tags                []tag
}

// instanceProfile is an instance profile in responses.
type instanceProfile struct {
	Path    string
	Name    string      `json:"InstanceProfileName"`
	ID      string      `json:"InstanceProfileId"`
	ARN     string      `json:"Arn"`
	Created server.Time `json:"CreateDate"`
	Roles   []role
	Tags    []tag `json:",omitempty"`
}

type profileAnswer struct {
	Profile instanceProfile `json:"InstanceProfile"`
}

func (s *Service) answerProfile(scope aws.Scope, p *profile) (instanceProfile, error) {
	made := instanceProfile{p.Path, p.Name, p.ID, p.ARN, p.Created, []role{}, p.Tags}
	if p.Role == "" {
		return made, nil
	}
	e, err := s.findEntity(scope.Account, roles, p.Role)
	if err == nil {
		made.Roles = append(made.Roles, e.role())
	}
	return made, err
}

type profileRequest struct {
	Name string `json:"InstanceProfileName"`
	Path string
	Role string `json:"RoleName"`
	Tags []tag
}

func (s *Service) createInstanceProfile(scope aws.Scope, in *profileRequest) (answer *profileAnswer, err error) {
	return answer, s.change(scope.Account, func(c *change) error {
		if _, found, err := get[profile](s, c.account, profiles, in.Name); err != nil || found {
			if err == nil {
				err = exists("Instance Profile %s already exists.", in.Name)
			}
			return err
		}
		path := cmp.Or(in.Path, "/")
		p := &profile{Name: in.Name, Path: path, ID: newID("AIPA"), Created: s.now(), Tags: in.Tags,
			ARN: scope.GlobalARN("iam", profiles+path+in.Name)}
		c.put(profiles, p.Name, p)
		made, err := s.answerProfile(scope, p)
		answer = &profileAnswer{made}
		return err
	})
}

func (s *Service) profile(account, name string) (*profile, error) {
	p, found, err := get[profile](s, account, profiles, name)
	if err == nil && !found {
		err = notFound("Instance Profile %s cannot be found.", name)
	}
	return p, err
}

func (s *Service) getInstanceProfile(scope aws.Scope, in *profileRequest) (*profileAnswer, error) {
	p, err := s.profile(scope.Account, in.Name)
	if err != nil {
		return nil, err
	}
	made, err := s.answerProfile(scope, p)
	return &profileAnswer{made}, err
}

type profilesAnswer struct {
	Profiles []instanceProfile `json:"InstanceProfiles"`
	paged
}

// listProfiles returns a page of the instance profiles that listed selects.
func (s *Service) listProfiles(scope aws.Scope, in *paging, listed func(*profile) bool) (*profilesAnswer, error) {
	all, err := list[profile](s, scope.Account, profiles)
	if err != nil {
		return nil, err
	}
	var found []instanceProfile
	for _, p := range all {
		if !listed(p) {
			continue
		}
		made, err := s.answerProfile(scope, p)
		if err != nil {
			return nil, err
		}
		found = append(found, made)
	}
	answer := &profilesAnswer{}
	answer.Profiles, answer.paged, err = page(s, in, profiles, found, func(p instanceProfile) string { return p.Name })
	return answer, err
}

func (s *Service) listInstanceProfiles(scope aws.Scope, in *paging) (*profilesAnswer, error) {
	return s.listProfiles(scope, in, func(p *profile) bool { return in.under(p.Path) })
}

func (s *Service) listInstanceProfilesForRole(scope aws.Scope, in *struct {
	oneRole
	paging
}) (*profilesAnswer, error) {
	if _, err := s.findEntity(scope.Account, roles, in.Name); err != nil {
		return nil, err
	}
	return s.listProfiles(scope, &in.paging, func(p *profile) bool { return p.Role == in.Name })
}

// changeProfile runs f on an instance profile and stores the result.
func (s *Service) changeProfile(scope aws.Scope, name string, f func(*change, *profile) error) error {
	return s.change(scope.Account, func(c *change) error {
		p, err := s.profile(scope.Account, name)
		if err == nil {
			err = f(c, p)
		}
		return err
	})
}

func (s *Service) deleteInstanceProfile(scope aws.Scope, in *profileRequest) (*none, error) {
	return &none{}, s.changeProfile(scope, in.Name, func(c *change, p *profile) error {
		if p.Role != "" {
			return conflict("Cannot delete entity, must remove roles from instance profile first.")
		}
		c.remove(profiles, p.Name)
		return nil
	})
}

func (s *Service) addRoleToInstanceProfile(scope aws.Scope, in *profileRequest) (*none, error) {
	return &none{}, s.changeProfile(scope, in.Name, func(c *change, p *profile) error {
		e, err := s.findEntity(scope.Account, roles, in.Role)
		if err == nil && p.Role != "" {
			err = refuse("LimitExceeded", 409, "Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1")
		}
		if err == nil {
			p.Role = e.Name
			c.put(profiles, p.Name, p)
		}
		return err
	})
}

func (s *Service) removeRoleFromInstanceProfile(scope aws.Scope, in *profileRequest) (*none, error) {
	return &none{}, s.changeProfile(scope, in.Name, func(c *change, p *profile) error {
		if p.Role != in.Role {
			return notFound("The role with name %s cannot be found.", in.Role)
		}
		p.Role = ""
		c.put(profiles, p.Name, p)
		return nil
	})
}
