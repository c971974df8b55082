package iam

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/aws/server"
)

// entity holds what roles, users and groups have in common: inline and attached policies.
type entity struct {
	Name, Path, ID, ARN string
	Created             server.Time
	Inline              map[string]string // documents by name
	Attached            []string          // ARNs, sorted
	Boundary            string            // the ARN of a policy
	Tags                []tag
	Account             string

	Role  *roleParts `json:",omitempty"`
	Group []string   `json:",omitempty"` // the groups that a user belongs to
}

// roleParts holds the fields that only roles have.
type roleParts struct {
	Trust, Description string
	MaxSession         int64
}

type tag struct{ Key, Value string }

// entityNouns maps entity kinds to their names in error messages.
var entityNouns = map[string]string{roles: "role", users: "user", groups: "group"}

// findEntity returns the entity with a name.
func (s *Service) findEntity(account, kind, name string) (*entity, error) {
	e, found, err := get[entity](s, account, kind, name)
	if err == nil && !found {
		err = notFound("The %s with name %s cannot be found.", entityNouns[kind], name)
	}
	return e, err
}

// newEntity validates the name and path of a new entity and returns the entity with its ID and ARN.
func (s *Service) newEntity(c *change, scope aws.Scope, kind, prefix, name, path string) (*entity, error) {
	if path == "" {
		path = "/"
	}
	if !strings.HasPrefix(path, "/") || !strings.HasSuffix(path, "/") {
		return nil, refuse("ValidationError", 400, "The specified value for path is invalid. It must begin and end with / and "+
			"contain only alphanumeric characters and/or / characters.")
	}
	if _, found, err := get[entity](s, c.account, kind, name); err != nil || found {
		if err == nil {
			err = exists("%s with name %s already exists.", strings.ToUpper(entityNouns[kind][:1])+entityNouns[kind][1:], name)
		}
		return nil, err
	}
	return &entity{Name: name, Path: path, ID: newID(prefix), Account: scope.Account, Created: s.now(),
		ARN: scope.GlobalARN("iam", kind+path+name)}, nil
}

// changeEntity runs f on an entity and stores the result.
func (s *Service) changeEntity(scope aws.Scope, kind, name string, f func(*change, *entity) error) error {
	return s.change(scope.Account, func(c *change) error {
		e, err := s.findEntity(scope.Account, kind, name)
		if err == nil {
			err = f(c, e)
		}
		if err == nil {
			c.put(kind, e.Name, e)
		}
		return err
	})
}

// checkUnused returns an error if the entity still has policies, which prevents its deletion.
func (e *entity) checkUnused() error {
	switch {
	case len(e.Attached) > 0:
		return conflict("Cannot delete entity, must detach all policies first.")
	case len(e.Inline) > 0:
		return conflict("Cannot delete entity, must delete policies first.")
	case len(e.Group) > 0:
		return conflict("Cannot delete entity, must remove users from group first.")
	}
	return nil
}

// encoded returns a document URL-encoded, as IAM returns it.
func encoded(document string) string {
	return strings.ReplaceAll(url.QueryEscape(document), "+", "%20")
}

// boundary is a permissions boundary in responses.
type boundary struct {
	Type string `json:"PermissionsBoundaryType"`
	ARN  string `json:"PermissionsBoundaryArn"`
}

func (e *entity) boundary() *boundary {
	if e.Boundary == "" {
		return nil
	}
	return &boundary{"Policy", e.Boundary}
}

// putTags adds tags and replaces those with the same keys.
func (e *entity) putTags(tags []tag) error {
	const most = 50
	e.Tags = merged(e.Tags, tags)
	if len(e.Tags) > most {
		return refuse("LimitExceeded", 409, "The number of tags has reached the maximum limit.")
	}
	return nil
}

func merged(old, tags []tag) []tag {
	all := map[string]string{}
	for _, t := range append(slices.Clone(old), tags...) {
		all[t.Key] = t.Value
	}
	made := make([]tag, 0, len(all))
	for _, k := range slices.Sorted(maps.Keys(all)) {
		made = append(made, tag{k, all[k]})
	}
	return made
}

func without(tags []tag, keys []string) []tag {
	return slices.DeleteFunc(slices.Clone(tags), func(t tag) bool { return slices.Contains(keys, t.Key) })
}

// tagsAnswer is the response of the operations that list tags.
type tagsAnswer struct {
	Tags []tag
	paged
}

// tagsOf returns the requested page of an entity's tags. what names the entity.
func (s *Service) tagsOf(in *paging, what string, tags []tag) (*tagsAnswer, error) {
	answer := &tagsAnswer{}
	var err error
	answer.Tags, answer.paged, err = page(s, in, "tags"+what, tags, func(t tag) string { return t.Key })
	return answer, err
}
