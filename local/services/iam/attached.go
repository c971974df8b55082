package iam

import (
	"slices"
	"strings"

	"stepback/aws"
	"stepback/aws/server"
)

// whose names the role, user or group that a request concerns. Only the member for the operation's kind is set.
type whose struct {
	Role  string `json:"RoleName"`
	User  string `json:"UserName"`
	Group string `json:"GroupName"`
}

func (w *whose) name() string { return w.Role + w.User + w.Group }

type attachRequest struct {
	whose
	ARN string `json:"PolicyArn"`
}

// attach returns the operation that attaches a managed policy to an entity of a kind.
func (s *Service) attach(kind string) server.Operation {
	return handle(func(scope aws.Scope, in *attachRequest) (*none, error) {
		const most = 20
		if err := checkARN(in.ARN); err != nil {
			return nil, err
		}
		return &none{}, s.changeEntity(scope, kind, in.name(), func(_ *change, e *entity) error {
			if err := s.checkAttachable(scope, in.ARN); err != nil {
				return err
			}
			at, found := slices.BinarySearch(e.Attached, in.ARN)
			switch {
			case found:
			case len(e.Attached) >= most:
				return refuse("LimitExceeded", 409, "Cannot exceed quota for PoliciesPer%s: %d",
					strings.ToUpper(kind[:1])+kind[1:], most)
			default:
				e.Attached = slices.Insert(e.Attached, at, in.ARN)
			}
			return nil
		})
	})
}

// detach returns the operation that detaches a managed policy from an entity of a kind.
func (s *Service) detach(kind string) server.Operation {
	return handle(func(scope aws.Scope, in *attachRequest) (*none, error) {
		if err := checkARN(in.ARN); err != nil {
			return nil, err
		}
		return &none{}, s.changeEntity(scope, kind, in.name(), func(_ *change, e *entity) error {
			at, found := slices.BinarySearch(e.Attached, in.ARN)
			if !found {
				return notFound("Policy %s was not found.", in.ARN)
			}
			e.Attached = slices.Delete(e.Attached, at, at+1)
			return nil
		})
	})
}

// checkARN returns an error for a policy's ARN that is none.
func checkARN(arn string) error {
	if a, ok := aws.ParseARN(arn); !ok || a.Service != "iam" {
		return refuse("ValidationError", 400, "ARN %s is not valid.", arn)
	}
	return nil
}

type attachedPolicy struct {
	Name string `json:"PolicyName"`
	ARN  string `json:"PolicyArn"`
}

type attachedAnswer struct {
	Policies []attachedPolicy `json:"AttachedPolicies"`
	paged
}

// listAttached returns the operation that lists the managed policies attached to an entity of a kind.
func (s *Service) listAttached(kind string) server.Operation {
	return handle(func(scope aws.Scope, in *struct {
		whose
		paging
	}) (*attachedAnswer, error) {
		e, err := s.findEntity(scope.Account, kind, in.name())
		if err != nil {
			return nil, err
		}
		var found []attachedPolicy
		for _, arn := range e.Attached {
			found = append(found, attachedPolicy{arn[strings.LastIndexByte(arn, '/')+1:], arn})
		}
		answer := &attachedAnswer{}
		answer.Policies, answer.paged, err = page(s, &in.paging, "attached"+kind+e.Name, found,
			func(p attachedPolicy) string { return p.ARN })
		return answer, err
	})
}

type inlineRequest struct {
	whose
	Policy   string `json:"PolicyName"`
	Document string `json:"PolicyDocument"`
}

// putInline returns the operation that adds or replaces an inline policy of an entity of a kind.
func (s *Service) putInline(kind string) server.Operation {
	return handle(func(scope aws.Scope, in *inlineRequest) (*none, error) {
		const most = 10240 // total characters without white space
		if err := checkDocument(in.Document, false); err != nil {
			return nil, err
		}
		return &none{}, s.changeEntity(scope, kind, in.name(), func(_ *change, e *entity) error {
			if e.Inline == nil {
				e.Inline = map[string]string{}
			}
			e.Inline[in.Policy] = in.Document
			size := 0
			for _, document := range e.Inline {
				size += len(strings.Join(strings.Fields(document), ""))
			}
			if size > most {
				return refuse("LimitExceeded", 409, "Maximum policy size of %d bytes exceeded for %s %s", most, entityNouns[kind], e.Name)
			}
			return nil
		})
	})
}

// noInline returns the error for an inline policy that the entity does not have.
func noInline(kind, policy string) error {
	return notFound("The %s policy with name %s cannot be found.", entityNouns[kind], policy)
}

// deleteInline returns the operation that deletes an inline policy from an entity of a kind.
func (s *Service) deleteInline(kind string) server.Operation {
	return handle(func(scope aws.Scope, in *inlineRequest) (*none, error) {
		return &none{}, s.changeEntity(scope, kind, in.name(), func(_ *change, e *entity) error {
			if _, found := e.Inline[in.Policy]; !found {
				return noInline(kind, in.Policy)
			}
			delete(e.Inline, in.Policy)
			return nil
		})
	})
}

type inlineAnswer struct {
	Role     string `json:"RoleName,omitempty"`
	User     string `json:"UserName,omitempty"`
	Group    string `json:"GroupName,omitempty"`
	Policy   string `json:"PolicyName"`
	Document string `json:"PolicyDocument"`
}

// getInline returns the operation that returns an inline policy of an entity of a kind.
func (s *Service) getInline(kind string) server.Operation {
	o := handle(func(scope aws.Scope, in *inlineRequest) (*inlineAnswer, error) {
		e, err := s.findEntity(scope.Account, kind, in.name())
		if err != nil {
			return nil, err
		}
		document, found := e.Inline[in.Policy]
		if !found {
			return nil, noInline(kind, in.Policy)
		}
		return &inlineAnswer{in.Role, in.User, in.Group, in.Policy, encoded(document)}, nil
	})
	o.Answer = nil // inlineAnswer has members for all kinds
	return o
}

type namesAnswer struct {
	Names []string `json:"PolicyNames"`
	paged
}

// listInline returns the operation that lists the names of an entity's inline policies.
func (s *Service) listInline(kind string) server.Operation {
	return handle(func(scope aws.Scope, in *struct {
		whose
		paging
	}) (*namesAnswer, error) {
		e, err := s.findEntity(scope.Account, kind, in.name())
		if err != nil {
			return nil, err
		}
		names := make([]string, 0, len(e.Inline))
		for name := range e.Inline {
			names = append(names, name)
		}
		slices.Sort(names)
		answer := &namesAnswer{}
		answer.Names, answer.paged, err = page(s, &in.paging, "inline"+kind+e.Name, names,
			func(name string) string { return name })
		return answer, err
	})
}

// putBoundary and deleteBoundary return the operations that set and delete the permissions boundary of an entity of a
// kind.
func (s *Service) putBoundary(kind string) server.Operation {
	return handle(func(scope aws.Scope, in *struct {
		whose
		ARN string `json:"PermissionsBoundary"`
	}) (*none, error) {
		return &none{}, s.changeEntity(scope, kind, in.name(), func(_ *change, e *entity) error {
			e.Boundary = in.ARN
			return s.checkAttachable(scope, in.ARN)
		})
	})
}

func (s *Service) deleteBoundary(kind string) server.Operation {
	return handle(func(scope aws.Scope, in *whose) (*none, error) {
		return &none{}, s.changeEntity(scope, kind, in.name(), func(_ *change, e *entity) error {
			if e.Boundary == "" {
				return notFound("The %s with name %s has no permissions boundary.", entityNouns[kind], e.Name)
			}
			e.Boundary = ""
			return nil
		})
	})
}

// tag, untag and listTags return the tagging operations for entities of a kind.
func (s *Service) tag(kind string) server.Operation {
	return handle(func(scope aws.Scope, in *struct {
		whose
		Tags []tag
	}) (*none, error) {
		return &none{}, s.changeEntity(scope, kind, in.name(), func(_ *change,
			e *entity) error {
			return e.putTags(in.Tags)
		})
	})
}

func (s *Service) untag(kind string) server.Operation {
	return handle(func(scope aws.Scope, in *struct {
		whose
		Keys []string `json:"TagKeys"`
	}) (*none, error) {
		return &none{}, s.changeEntity(scope, kind, in.name(), func(_ *change, e *entity) error {
			e.Tags = without(e.Tags, in.Keys)
			return nil
		})
	})
}

func (s *Service) listTags(kind string) server.Operation {
	return handle(func(scope aws.Scope, in *struct {
		whose
		Marker   string
		MaxItems int
	}) (*tagsAnswer, error) {
		e, err := s.findEntity(scope.Account, kind, in.name())
		if err != nil {
			return nil, err
		}
		return s.tagsOf(&paging{Marker: in.Marker, MaxItems: in.MaxItems}, kind+e.Name, e.Tags)
	})
}

// roleHolder, userHolder and groupHolder are the response forms of entities that have a policy attached.
type roleHolder struct {
	Name string `json:"RoleName"`
	ID   string `json:"RoleId"`
}

type userHolder struct {
	Name string `json:"UserName"`
	ID   string `json:"UserId"`
}

type groupHolder struct {
	Name string `json:"GroupName"`
	ID   string `json:"GroupId"`
}

type holders struct {
	Groups []groupHolder `json:"PolicyGroups"`
	Users  []userHolder  `json:"PolicyUsers"`
	Roles  []roleHolder  `json:"PolicyRoles"`
	paged
}

// holder is an entity that uses a policy.
type holder struct {
	kind string
	*entity
}

// listEntitiesForPolicy lists the entities that use a policy: attached, as their permissions boundary, or both.
func (s *Service) listEntitiesForPolicy(scope aws.Scope, in *struct {
	onePolicy
	paging
	Kind  string `json:"EntityFilter"`
	Usage string `json:"PolicyUsageFilter"`
}) (*holders, error) {
	if err := s.checkAttachable(scope, in.ARN); err != nil {
		return nil, err
	}
	kinds := map[string]string{"User": users, "Role": roles, "Group": groups}
	var using []holder
	for kind := range entityNouns {
		if in.Kind != "" && kinds[in.Kind] != kind {
			continue
		}
		all, err := list[entity](s, scope.Account, kind)
		if err != nil {
			return nil, err
		}
		for _, e := range all {
			attached := in.Usage != "PermissionsBoundary" && slices.Contains(e.Attached, in.ARN)
			boundary := in.Usage != "PermissionsPolicy" && e.Boundary == in.ARN
			if in.under(e.Path) && (attached || boundary) {
				using = append(using, holder{kind, e})
			}
		}
	}
	place := func(h holder) string { return h.kind + "/" + h.Name }
	slices.SortFunc(using, func(a, b holder) int { return strings.Compare(place(a), place(b)) })
	answer := &holders{Groups: []groupHolder{}, Users: []userHolder{}, Roles: []roleHolder{}}
	shown, paged, err := page(s, &in.paging, "holders"+in.ARN+in.Kind+in.Usage, using, place)
	answer.paged = paged
	for _, h := range shown {
		switch h.kind {
		case roles:
			answer.Roles = append(answer.Roles, roleHolder{h.Name, h.ID})
		case users:
			answer.Users = append(answer.Users, userHolder{h.Name, h.ID})
		default:
			answer.Groups = append(answer.Groups, groupHolder{h.Name, h.ID})
		}
	}
	return answer, err
}
