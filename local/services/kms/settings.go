package kms

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"stepback/aws"
	document "stepback/local/services/iam/policy"
)

func malformedPolicy(reason string) error {
	return refuse("MalformedPolicyDocumentException", "%s", reason)
}

// checkPolicy rejects a key policy that is malformed or, unless bypass is true, that no principal of the key's account
// could change again. AWS requires that the caller could; here the caller is usually the account's root, whatever the
// policy names.
func checkPolicy(scope aws.Scope, text string, bypass bool) error {
	if !json.Valid([]byte(text)) {
		return malformedPolicy("The policy document is not valid JSON.")
	}
	p, err := document.Parse(text)
	if err != nil {
		return malformedPolicy(err.Error())
	}
	if len(p.Statements) == 0 {
		return malformedPolicy("The policy has no statement.")
	}
	names, possible := []string{scope.GlobalARN("iam", "root")}, &document.Policy{Version: p.Version}
	for i := range p.Statements {
		s := &p.Statements[i]
		if name := cmp.Or(s.Principals.Malformed(), s.NotPrincipals.Malformed()); name != "" {
			return malformedPolicy("Policy contains a statement with one or more invalid principals.")
		}
		if s.Allow && s.Principals != nil {
			names = append(names, s.Principals.AWS...)
		}
		if s.Allow || len(s.Conditions) == 0 { // a condition can be met, so it does not lock out
			kept := *s
			kept.Conditions = nil
			possible.Statements = append(possible.Statements, kept)
		}
	}
	if bypass {
		return nil
	}
	policies := document.Policies{Resource: possible, Identity: []*document.Policy{everything}, NeedsResource: true}
	for _, name := range names {
		if arn, ok := aws.ParseARN(name); !ok || arn.Account != scope.Account {
			continue // the account's root stands for its ID
		}
		who := document.Principal{ARN: name, Account: scope.Account}
		if policies.Evaluate(&document.Request{Principal: who, Action: "kms:PutKeyPolicy", Resource: "*"}).Allowed {
			return nil
		}
	}
	return malformedPolicy("The new key policy will not allow you to update the key policy in the future.")
}

// everything allows all actions, as the policy of an administrator does.
var everything = &document.Policy{Statements: []document.Statement{{Allow: true, Actions: []string{"*"}, Resources: []string{"*"}}}}

// policyName is the only name that a policy may have.
const policyName = "default"

type policy struct {
	one
	Name   string `json:"PolicyName"`
	Policy string
}

type putPolicy struct {
	policy
	Bypass bool `json:"BypassPolicyLockoutSafetyCheck"`
}

type gottenPolicy struct {
	Policy string
	Name   string `json:"PolicyName"`
}

func checkPolicyName(name string) error {
	if name != "" && name != policyName {
		return refuse(codeNotFound, "No such policy exists")
	}
	return nil
}

func (s *Service) getKeyPolicy(_ context.Context, scope aws.Scope, in *policy) (*gottenPolicy, error) {
	k, err := s.find(scope, in.Key)
	if err == nil {
		err = checkPolicyName(in.Name)
	}
	if err != nil {
		return nil, err
	}
	return &gottenPolicy{k.policy(), policyName}, nil
}

// policy returns the key's policy. The default policy lets every principal in the account do everything.
func (k *key) policy() string {
	if k.Policy != "" {
		return k.Policy
	}
	return `{
  "Version" : "2012-10-17",
  "Id" : "key-default-1",
  "Statement" : [ {
    "Sid" : "Enable IAM User Permissions",
    "Effect" : "Allow",
    "Principal" : {
      "AWS" : "` + k.scope.GlobalARN("iam", "root") + `"
    },
    "Action" : "kms:*",
    "Resource" : "*"
  } ]
}`
}

func (s *Service) putKeyPolicy(_ context.Context, scope aws.Scope, in *putPolicy) (*none, error) {
	if err := checkPolicyName(in.Name); err != nil {
		return nil, err
	}
	if err := checkPolicy(scope, in.Policy, in.Bypass); err != nil {
		return nil, err
	}
	return &none{}, s.alter(scope, "PutKeyPolicy", in.Key, func(k *key) error {
		k.Policy = in.Policy
		return k.checkNotPending()
	})
}

type policyNames struct {
	Names []string `json:"PolicyNames"`
	nextPage
}

func (s *Service) listKeyPolicies(_ context.Context, scope aws.Scope, in *one) (*policyNames, error) {
	if _, err := s.find(scope, in.Key); err != nil {
		return nil, err
	}
	return &policyNames{Names: []string{policyName}}, nil
}

type tag struct {
	Key   string `json:"TagKey"`
	Value string `json:"TagValue"`
}

const mostTags = 50

func withTags(tags map[string]string, more []tag) (map[string]string, error) {
	made := maps.Clone(tags)
	seen := map[string]bool{}
	for _, t := range more {
		if seen[t.Key] {
			return nil, refuse("TagException", "Duplicate tag keys")
		}
		seen[t.Key] = true
		if made == nil {
			made = map[string]string{}
		}
		made[t.Key] = t.Value
	}
	if len(made) > mostTags {
		return nil, refuse("TagException", "Too many tags")
	}
	return made, nil
}

type tagging struct {
	one
	paging
	Tags []tag
	Keys []string `json:"TagKeys"`
}

func (s *Service) tagResource(_ context.Context, scope aws.Scope, in *tagging) (*none, error) {
	return &none{}, s.alter(scope, "TagResource", in.Key, func(k *key) (err error) {
		if k.Tags, err = withTags(k.Tags, in.Tags); err != nil {
			return err
		}
		return k.checkNotPending()
	})
}

func (s *Service) untagResource(_ context.Context, scope aws.Scope, in *tagging) (*none, error) {
	return &none{}, s.alter(scope, "UntagResource", in.Key, func(k *key) error {
		maps.DeleteFunc(k.Tags, func(name, _ string) bool { return slices.Contains(in.Keys, name) })
		return k.checkNotPending()
	})
}

type tagList struct {
	Tags []tag
	nextPage
}

func (s *Service) listResourceTags(_ context.Context, scope aws.Scope, in *tagging) (*tagList, error) {
	k, err := s.find(scope, in.Key)
	if err != nil {
		return nil, err
	}
	all := []tag{}
	for _, name := range slices.Sorted(maps.Keys(k.Tags)) {
		all = append(all, tag{name, k.Tags[name]})
	}
	out := &tagList{}
	out.Tags, out.nextPage, err = page(in.paging, all, func(t tag) string { return t.Key })
	return out, err
}
