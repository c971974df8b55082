package events

import (
	"context"
	"encoding/json"
	"slices"

	"stepback/aws"
)

// policy is a bus's resource policy in the form that PutPermission writes. Statements that arrived as a whole
// policy are kept verbatim.
type policy struct {
	Version   string
	Statement []json.RawMessage
}

type permissionRequest struct {
	EventBusName string
	Action       string
	Principal    string
	StatementID  string `json:"StatementId"`
	Condition    *struct{ Type, Key, Value string }
	Policy       string
	All          bool `json:"RemoveAllPermissions"`
}

func (s *Service) putPermission(_ context.Context, scope aws.Scope, in *permissionRequest) (*none, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.find(scope, in.EventBusName)
	if err != nil {
		return nil, err
	}
	if in.Policy != "" {
		var p policy
		if json.Unmarshal([]byte(in.Policy), &p) != nil || len(p.Statement) == 0 {
			return nil, invalid("Provided Policy is not valid JSON policy.")
		}
		b.Policy = in.Policy
		return &none{}, s.keepBus(b)
	}
	if in.Action == "" || in.Principal == "" || in.StatementID == "" {
		return nil, invalid("Parameter(s) Action, Principal and StatementId, or Policy must be specified.")
	}
	if in.Action != "events:PutEvents" {
		return nil, invalid("Provided value in parameter 'action' is not supported.")
	}
	principal := any("*")
	if in.Principal != "*" {
		principal = map[string]string{"AWS": aws.Scope{Account: in.Principal, Region: scope.Region}.GlobalARN("iam", "root")}
	}
	type statement struct {
		Sid, Effect string
		Principal   any
		Action      string
		Resource    string
		Condition   map[string]map[string]string `json:",omitempty"`
	}
	st := statement{Sid: in.StatementID, Effect: "Allow", Principal: principal, Action: in.Action, Resource: b.arn()}
	if in.Condition != nil {
		st.Condition = map[string]map[string]string{in.Condition.Type: {in.Condition.Key: in.Condition.Value}}
	}
	text, err := json.Marshal(st)
	if err != nil {
		return nil, err
	}
	p := b.permissions()
	p.Statement = append(p.without(in.StatementID), text)
	return &none{}, s.setPolicy(b, p)
}

func (s *Service) removePermission(_ context.Context, scope aws.Scope, in *permissionRequest) (*none, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.find(scope, in.EventBusName)
	if err != nil {
		return nil, err
	}
	p := b.permissions()
	if in.All {
		p.Statement = nil
		return &none{}, s.setPolicy(b, p)
	}
	left := p.without(in.StatementID)
	if len(left) == len(p.Statement) {
		return nil, notFound("Statement with the provided id does not exist.")
	}
	p.Statement = left
	return &none{}, s.setPolicy(b, p)
}

func (b *bus) permissions() policy {
	p := policy{Version: "2012-10-17"}
	if b.Policy != "" {
		_ = json.Unmarshal([]byte(b.Policy), &p) // was parsed before it was stored
	}
	return p
}

// without returns the statements whose ID is not id.
func (p policy) without(id string) []json.RawMessage {
	return slices.DeleteFunc(slices.Clone(p.Statement), func(text json.RawMessage) bool {
		var s struct{ Sid string }
		return json.Unmarshal(text, &s) == nil && s.Sid == id
	})
}

// setPolicy stores the policy of a bus; a policy without statements is removed. mu is held.
func (s *Service) setPolicy(b *bus, p policy) error {
	b.Policy = ""
	if len(p.Statement) > 0 {
		text, err := json.Marshal(p)
		if err != nil {
			return err
		}
		b.Policy = string(text)
	}
	return s.keepBus(b)
}
