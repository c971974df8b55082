package logs

import (
	"cmp"
	"context"
	"encoding/json"

	"stepback/aws"
	"stepback/local/services/documents"
)

// mostPolicies is the maximum number of resource policies per account and region, AWS's quota.
const mostPolicies = 10

// ofAccount is the only supported policy scope.
const ofAccount = "ACCOUNT"

type resourcePolicy struct {
	Name     string `json:"policyName"`
	Document string `json:"policyDocument"`
	Updated  int64  `json:"lastUpdatedTime"` // milliseconds since 1970
	Scope    string `json:"policyScope"`     // always ofAccount
}

type putResourcePolicyRequest struct {
	Name     string `json:"policyName"`
	Document string `json:"policyDocument"`
	Resource string `json:"resourceArn"`
	Revision string `json:"expectedRevisionId"`
}

type putResourcePolicyResponse struct {
	Policy resourcePolicy `json:"resourcePolicy"`
}

func policyKey(scope aws.Scope, name string) string {
	return "policy/" + scope.Account + "/" + scope.Region + "/" + name
}

// policies returns the resource policies of an account and region, ordered by name.
func (s *Service) policies(scope aws.Scope) ([]resourcePolicy, error) {
	all := []resourcePolicy{}
	err := s.documents.Table("logs").Scan(policyKey(scope, ""), func(_ string, text []byte) error {
		var p resourcePolicy
		err := json.Unmarshal(text, &p)
		all = append(all, p)
		return err
	})
	return all, err
}

func (s *Service) putResourcePolicy(_ context.Context, scope aws.Scope, r *putResourcePolicyRequest) (
	*putResourcePolicyResponse, error,
) {
	s.changes.Lock()
	defer s.changes.Unlock()
	switch {
	case r.Resource != "" || r.Revision != "":
		return nil, invalid("resourceArn and expectedRevisionId are not supported here: policies are those of the account.")
	case r.Name == "":
		return nil, invalid("policyName is missing.")
	case !json.Valid([]byte(r.Document)):
		return nil, invalid("The policy document is not valid JSON.")
	}
	all, err := s.policies(scope)
	if err != nil {
		return nil, err
	}
	known := false
	for _, p := range all {
		known = known || p.Name == r.Name
	}
	if !known && len(all) >= mostPolicies {
		return nil, errTooMany
	}
	p := resourcePolicy{r.Name, r.Document, s.now().UnixMilli(), ofAccount}
	text, err := json.Marshal(p)
	if err == nil {
		err = s.keep(func(b *documents.Batch, t *documents.Table) { b.Put(t, policyKey(scope, r.Name), text) })
	}
	return &putResourcePolicyResponse{p}, err
}

type describeResourcePoliciesRequest struct {
	Limit     int    `json:"limit"`
	NextToken string `json:"nextToken"`
	Resource  string `json:"resourceArn"`
	Scope     string `json:"policyScope"`
}

type describeResourcePoliciesResponse struct {
	Policies  []resourcePolicy `json:"resourcePolicies"`
	NextToken string           `json:"nextToken,omitempty"`
}

func (s *Service) describeResourcePolicies(_ context.Context, scope aws.Scope, r *describeResourcePoliciesRequest) (
	*describeResourcePoliciesResponse, error,
) {
	if r.Resource != "" || r.Scope != "" && r.Scope != ofAccount {
		return nil, invalid("Policies of resources are not supported here: policies are those of the account.")
	}
	all, err := s.policies(scope)
	if err != nil {
		return nil, err
	}
	out := &describeResourcePoliciesResponse{Policies: []resourcePolicy{}}
	const usual = 50
	for _, p := range all {
		if p.Name <= r.NextToken {
			continue
		}
		if len(out.Policies) == cmp.Or(r.Limit, usual) {
			out.NextToken = out.Policies[len(out.Policies)-1].Name
			break
		}
		out.Policies = append(out.Policies, p)
	}
	return out, nil
}

type deleteResourcePolicyRequest struct {
	Name     string `json:"policyName"`
	Resource string `json:"resourceArn"`
	Revision string `json:"expectedRevisionId"`
}

func (s *Service) deleteResourcePolicy(_ context.Context, scope aws.Scope, r *deleteResourcePolicyRequest) (*none, error) {
	s.changes.Lock()
	defer s.changes.Unlock()
	if r.Resource != "" || r.Revision != "" {
		return nil, invalid("resourceArn and expectedRevisionId are not supported here: policies are those of the account.")
	}
	_, found, err := s.documents.Table("logs").Get(policyKey(scope, r.Name))
	if err == nil && !found {
		err = &aws.Error{Code: "ResourceNotFoundException", Message: "Policy with name [" + r.Name + "] does not exist."}
	}
	if err != nil {
		return nil, err
	}
	return &none{}, s.keep(func(b *documents.Batch, t *documents.Table) { b.Delete(t, policyKey(scope, r.Name)) })
}
