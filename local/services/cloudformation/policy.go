package cloudformation

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"stepback/aws"
)

// stackPolicy determines which resources an update may change.
type stackPolicy struct {
	Statement []policyStatement
}

type policyStatement struct {
	Effect                                   string
	Principal                                any
	Action, NotAction, Resource, NotResource stringList
	Condition                                map[string]map[string]stringList
}

// stringList is a JSON string or an array of strings.
type stringList []string

// UnmarshalJSON implements json.Unmarshaler.
func (w *stringList) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*w = stringList{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(w))
}

const mostPolicy = 16_384

// checkedPolicy rejects a policy that cannot be parsed.
func checkedPolicy(text string) (string, error) {
	if len(text) > mostPolicy {
		return "", invalid("Stack policy may not exceed %d characters", mostPolicy)
	}
	var p stackPolicy
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return "", invalid("Error validating stack policy: Invalid stack policy")
	}
	for _, st := range p.Statement {
		if st.Effect != "Allow" && st.Effect != "Deny" || st.Principal != "*" || len(st.Action)+len(st.NotAction) == 0 ||
			len(st.Resource)+len(st.NotResource) == 0 || !updates(st.Action) || !updates(st.NotAction) {
			return "", invalid("Error validating stack policy: Invalid stack policy")
		}
		for operator, keys := range st.Condition {
			for key := range keys {
				if operator != "StringEquals" && operator != "StringLike" || key != "ResourceType" {
					return "", invalid("Error validating stack policy: Unsupported condition %s of %s", operator, key)
				}
			}
		}
	}
	return text, nil
}

// updates reports whether all actions are update actions, or *.
func updates(actions stringList) bool {
	for _, a := range actions {
		if which, ok := strings.CutPrefix(a, "Update:"); a != "*" && (!ok || which == "") {
			return false
		}
	}
	return true
}

// matches reports whether a text matches one of the patterns, in which * matches anything.
func (w stringList) matches(text string) bool {
	for _, pattern := range w {
		if aws.Matches(pattern, text) {
			return true
		}
	}
	return false
}

// of reports whether a statement applies to an action on a resource.
func (p *policyStatement) of(action, id, typ string) bool {
	if len(p.Action) > 0 && !p.Action.matches(action) || len(p.NotAction) > 0 && p.NotAction.matches(action) {
		return false
	}
	resource := "LogicalResourceId/" + id
	if len(p.Resource) > 0 && !p.Resource.matches(resource) || len(p.NotResource) > 0 &&
		p.NotResource.matches(resource) {
		return false
	}
	for _, keys := range p.Condition {
		for _, types := range keys {
			if !types.matches(typ) {
				return false
			}
		}
	}
	return true
}

// permitted returns an error if the stack's policy, or the update's, does not allow the action.
func (d *deployment) permitted(id, typ, action string) error {
	text := d.op.Policy
	if text == "" {
		text = d.st.Policy
	}
	if text == "" || d.op.Kind != opUpdate {
		return nil
	}
	var p stackPolicy
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return err
	}
	allowed := false
	for i := range p.Statement {
		s := &p.Statement[i]
		if !s.of(action, id, typ) {
			continue
		}
		if s.Effect == "Deny" {
			return invalid("Action denied by stack policy: Statement [#%d] does not allow [%s] for resource [%s]", i+1, action, id)
		}
		allowed = true
	}
	if !allowed {
		return fmt.Errorf("Action not allowed by stack policy: [%s] for resource [%s]", action, id) //nolint:staticcheck // AWS's words
	}
	return nil
}

type policyRequest struct {
	Name string  `json:"StackName"`
	Body *string `json:"StackPolicyBody"`
	URL  string  `json:"StackPolicyURL"`
}

// policyOf returns a policy given in a request or by the URL of an S3 object.
func (s *Service) policyOf(ctx context.Context, scope aws.Scope, body *string, address string) (string, error) {
	if address != "" {
		text, err := s.fetch(ctx, scope, address)
		if err != nil {
			return "", err
		}
		body = &text
	}
	if body == nil {
		return "", nil
	}
	return checkedPolicy(*body)
}

func (s *Service) setStackPolicy(ctx context.Context, scope aws.Scope, in *policyRequest) (*none, error) {
	if in.URL != "" && in.Body != nil {
		return nil, invalid("You cannot specify both StackPolicyURL and StackPolicyBody")
	}
	text, err := s.policyOf(ctx, scope, in.Body, in.URL)
	if err != nil {
		return nil, err
	}
	return &none{}, s.change(func(k *keeper) error {
		st, err := s.find(scope, in.Name)
		if err != nil {
			return err
		}
		st.Policy = text
		k.stack(st)
		return nil
	})
}

func (s *Service) getStackPolicy(_ context.Context, scope aws.Scope, in *policyRequest) (*struct {
	Body string `json:"StackPolicyBody,omitempty"`
}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, err := s.find(scope, in.Name)
	if err != nil {
		return nil, err
	}
	return &struct {
		Body string `json:"StackPolicyBody,omitempty"`
	}{st.Policy}, nil
}
