package cloudcontrol

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"stepback/aws"
	"stepback/local/services/cloudformation/resource"
)

type createRequest struct {
	TypeName, ClientToken, DesiredState, RoleArn string
}

// properties parses the properties of a resource and checks them as the type's schema does.
func properties(t *resource.Type, text string) (map[string]any, error) {
	var p map[string]any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&p); err != nil || p == nil {
		return nil, refusal("InvalidRequestException", "The desired state is no JSON object: %s", text)
	}
	return p, check(t, p)
}

func check(t *resource.Type, p map[string]any) error {
	var wrong *resource.PropertyError
	if errors.As(t.Check(t.Name, p), &wrong) {
		return &aws.Error{Code: "ValidationException", Message: "Model validation failed (" + strings.Join(wrong.Problems, ", ") + ")"}
	}
	return nil
}

func (s *Service) createResource(ctx context.Context, scope aws.Scope, in *createRequest) (*eventAnswer, error) {
	t, err := s.typeOf(in.TypeName)
	if err != nil {
		return nil, err
	}
	p, err := properties(t, in.DesiredState)
	if err != nil {
		return nil, err
	}
	return s.begin(&request{Client: in.ClientToken, Type: t.Name, Operation: opCreate, Properties: p,
		As:     s.identity(ctx, scope, in.RoleArn),
		Suffix: strings.ToUpper(strings.ReplaceAll(aws.NewID(), "-", ""))[:12], Asked: "create " + t.Name + " " + in.DesiredState}, scope)
}

type resourceRequest struct {
	TypeName, ClientToken, Identifier, PatchDocument, RoleArn string
}

// described is a resource's identifier and its properties as JSON.
type described struct {
	Identifier, Properties string
}

type resourceAnswer struct {
	TypeName            string
	ResourceDescription described
}

// identity returns with whose permissions a request is executed: those of its role, or of its client.
func (s *Service) identity(ctx context.Context, scope aws.Scope, role string) resource.Identity {
	return resource.Identity{Role: role, Caller: s.o.Caller(ctx, scope)}
}

// read returns the properties of a resource as its service reports them, completed by the requested properties that
// the service does not report.
func (s *Service) read(ctx context.Context, scope aws.Scope, t *resource.Type, identifier, role string) (map[string]any, error) {
	s.mu.Lock()
	p := maps.Clone(s.wanted[keyOf(scope, t.Name, identifier)])
	s.mu.Unlock()
	if t.Read == nil {
		return nil, refusal("UnsupportedActionException", "Resource type %s does not support READ action", t.Name)
	}
	r := &request{Account: scope.Account, Region: scope.Region, Type: t.Name, Identifier: identifier,
		As: s.identity(ctx, scope, role)}
	_, told, ok := t.Locate(identifier)
	if !ok {
		return nil, refusal("InvalidRequestException", "Identifier %s is not valid for identifier [%s]", identifier,
			strings.Join(t.IdentifiedBy(), ", "))
	}
	if p == nil {
		p = map[string]any{}
	}
	maps.Copy(p, told)
	r.Properties = p
	_, q := s.ask(r, false)
	found, err := t.Read(ctx, q)
	if errors.Is(err, resource.ErrGone) {
		return nil, refusal("ResourceNotFoundException", "Resource of type '%s' with identifier '%s' was not found.", t.Name, identifier)
	}
	if err != nil {
		return nil, refusal("HandlerFailureException", "%s", messageOf(err))
	}
	maps.Copy(p, found)
	return p, nil
}

// visible returns the readable properties as JSON, including those that identify the resource.
func visible(t *resource.Type, identifier string, p map[string]any) string {
	shown := map[string]any{}
	for name, v := range p {
		if !t.Properties[name].WriteOnly {
			shown[name] = v
		}
	}
	names, parts := t.IdentifiedBy(), strings.Split(identifier, "|")
	for i, name := range names {
		if len(names) == 1 {
			shown[name] = identifier
		} else if i < len(parts) {
			shown[name] = parts[i]
		}
	}
	return jsonOf(shown)
}

func (s *Service) getResource(ctx context.Context, scope aws.Scope, in *resourceRequest) (*resourceAnswer, error) {
	t, err := s.typeOf(in.TypeName)
	if err != nil {
		return nil, err
	}
	p, err := s.read(ctx, scope, t, in.Identifier, in.RoleArn)
	if err != nil {
		return nil, err
	}
	return &resourceAnswer{t.Name, described{in.Identifier, visible(t, in.Identifier, p)}}, nil
}

func (s *Service) updateResource(ctx context.Context, scope aws.Scope, in *resourceRequest) (*eventAnswer, error) {
	t, err := s.typeOf(in.TypeName)
	if err != nil {
		return nil, err
	}
	before, err := s.read(ctx, scope, t, in.Identifier, in.RoleArn)
	if err != nil {
		return nil, err
	}
	patch, err := jsonpatch.DecodePatch([]byte(in.PatchDocument))
	if err != nil {
		return nil, refusal("InvalidRequestException", "The patch document is no JSON patch: %v", err)
	}
	text, err := patch.Apply([]byte(jsonOf(before)))
	if err != nil {
		return nil, refusal("InvalidRequestException", "The patch cannot be applied: %v", err)
	}
	after, err := properties(t, string(text))
	if err != nil {
		return nil, err
	}
	for name := range after {
		p := t.Properties[name]
		if (p.Replaces || t.Update == nil) && jsonOf(after[name]) != jsonOf(before[name]) {
			return nil, refusal("NotUpdatableException", "Invalid patch update: createOnlyProperties [/properties/%s] cannot be updated", name)
		}
	}
	if t.Update == nil {
		return nil, refusal("UnsupportedActionException", "Resource type %s does not support UPDATE action", t.Name)
	}
	return s.begin(&request{Client: in.ClientToken, Type: t.Name, Operation: opUpdate, Identifier: in.Identifier,
		As:         s.identity(ctx, scope, in.RoleArn),
		Properties: after,
		Previous:   before, Asked: "update " + t.Name + " " + in.Identifier + " " + in.PatchDocument}, scope)
}

func (s *Service) deleteResource(ctx context.Context, scope aws.Scope, in *resourceRequest) (*eventAnswer, error) {
	t, err := s.typeOf(in.TypeName)
	if err != nil {
		return nil, err
	}
	_, p, ok := t.Locate(in.Identifier)
	if !ok {
		return nil, refusal("InvalidRequestException", "Identifier %s is not valid for identifier [%s]", in.Identifier,
			strings.Join(t.IdentifiedBy(), ", "))
	}
	if t.Read != nil {
		if p, err = s.read(ctx, scope, t, in.Identifier, in.RoleArn); err != nil {
			return nil, err
		}
	} else {
		s.mu.Lock()
		wanted := maps.Clone(s.wanted[keyOf(scope, t.Name, in.Identifier)])
		s.mu.Unlock()
		if wanted != nil {
			maps.Copy(wanted, p)
			p = wanted
		}
	}
	return s.begin(&request{Client: in.ClientToken, Type: t.Name, Operation: opDelete, Identifier: in.Identifier,
		As:         s.identity(ctx, scope, in.RoleArn),
		Properties: p,
		Asked:      "delete " + t.Name + " " + in.Identifier}, scope)
}

type listRequest struct {
	TypeName, NextToken, ResourceModel, RoleArn string
	MaxResults                                  int
}

type listAnswer struct {
	TypeName             string
	ResourceDescriptions []described
	NextToken            string `json:",omitempty"`
}

const usualPage = 20

func (s *Service) listResources(ctx context.Context, scope aws.Scope, in *listRequest) (*listAnswer, error) {
	t, err := s.typeOf(in.TypeName)
	if err != nil {
		return nil, err
	}
	if t.List == nil {
		return nil, refusal("UnsupportedActionException", "Resource type %s does not support LIST action", t.Name)
	}
	none := map[string]any{}
	_, q := s.ask(&request{Account: scope.Account, Region: scope.Region, Type: t.Name, Properties: none,
		As: s.identity(ctx, scope, in.RoleArn)}, false)
	ids, err := t.List(ctx, q)
	if err != nil {
		return nil, refusal("HandlerFailureException", "%s", messageOf(err))
	}
	slices.Sort(ids)
	part, next, ok := aws.Page(aws.NewListing(s.o.Clock.Now(), "ListResources", scope.Account, scope.Region, t.Name), in.NextToken,
		cmp.Or(in.MaxResults, usualPage), ids, func(id string) string { return id })
	if !ok {
		return nil, refusal("InvalidRequestException", "NextToken is not valid")
	}
	out := &listAnswer{TypeName: t.Name, ResourceDescriptions: []described{}, NextToken: next}
	for _, id := range part {
		out.ResourceDescriptions = append(out.ResourceDescriptions, described{id, visible(t, id, nil)})
	}
	return out, nil
}

func (s *Service) listRequests(_ context.Context, scope aws.Scope, in *requestsRequest) (*requestsAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []*request{}
	for _, r := range s.requests {
		if r.scope() == scope &&
			(len(in.Filter.Operations) == 0 || slices.Contains(in.Filter.Operations, r.Operation)) &&
			(len(in.Filter.OperationStatuses) == 0 || slices.Contains(in.Filter.OperationStatuses, r.Status)) {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b *request) int { return strings.Compare(a.Token, b.Token) })
	part, next, ok := aws.Page(aws.NewListing(s.o.Clock.Now(), "ListResourceRequests", scope.Account, scope.Region), in.NextToken,
		cmp.Or(in.MaxResults, usualPage), all, func(r *request) string { return r.Token })
	if !ok {
		return nil, refusal("InvalidRequestException", "NextToken is not valid")
	}
	out := &requestsAnswer{ResourceRequestStatusSummaries: []progress{}, NextToken: next}
	for _, r := range part {
		out.ResourceRequestStatusSummaries = append(out.ResourceRequestStatusSummaries, r.shown())
	}
	return out, nil
}
