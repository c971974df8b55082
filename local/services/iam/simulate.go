package iam

import (
	"stepback/aws"
	rules "stepback/local/services/iam/policy"
)

// simulation is the request of both simulation operations.
type simulation struct {
	Source     string   `json:"PolicySourceArn"`
	Policies   []string `json:"PolicyInputList"`
	Boundaries []string `json:"PermissionsBoundaryPolicyInputList"`
	Actions    []string `json:"ActionNames"`
	Resources  []string `json:"ResourceArns"`
	Resource   string   `json:"ResourcePolicy"`
	Caller     string   `json:"CallerArn"`
	Context    []struct {
		Name   string   `json:"ContextKeyName"`
		Values []string `json:"ContextKeyValues"`
	} `json:"ContextEntries"`
	paging
}

type evaluation struct {
	Action   string   `json:"EvalActionName"`
	Resource string   `json:"EvalResourceName"`
	Decision string   `json:"EvalDecision"`
	Matched  []string `json:"MatchedStatements"`
	Missing  []string `json:"MissingContextValues"`
}

type simulated struct {
	Results []evaluation `json:"EvaluationResults"`
	paged
}

// simulatePrincipalPolicy evaluates the policies of a user or a role together with those of the request.
func (s *Service) simulatePrincipalPolicy(scope aws.Scope, in *simulation) (*simulated, error) {
	arn, ok := aws.ParseARN(in.Source)
	if !ok {
		return nil, refuse("InvalidInput", 400, "Invalid Entity Arn: %s", in.Source)
	}
	g, err := s.GrantsOf(arn)
	if err != nil {
		return nil, err
	}
	who := rules.Principal{ARN: in.Source, Account: arn.Account}
	return s.simulate(in, g, who)
}

// simulateCustomPolicy evaluates the policies in the request.
func (s *Service) simulateCustomPolicy(scope aws.Scope, in *simulation) (*simulated, error) {
	return s.simulate(in, &Grants{}, rules.Principal{ARN: in.Caller, Account: scope.Account})
}

func (s *Service) simulate(in *simulation, g *Grants, who rules.Principal) (*simulated, error) {
	p := rules.Policies{Identity: g.Identity, Boundary: g.Boundary}
	read := func(text string) (*rules.Policy, error) {
		one, err := rules.Parse(text)
		if err != nil {
			return nil, refuse("InvalidInput", 400, "Invalid Input for parameter PolicyInputList: %s", err)
		}
		return one, nil
	}
	for _, text := range in.Policies {
		one, err := read(text)
		if err != nil {
			return nil, err
		}
		p.Identity = append(p.Identity, one)
	}
	for _, text := range in.Boundaries {
		one, err := read(text)
		if err != nil {
			return nil, err
		}
		p.Boundary = one
	}
	if in.Resource != "" {
		var err error
		if p.Resource, err = read(in.Resource); err != nil {
			return nil, err
		}
	}
	context := rules.Context{}
	for _, e := range in.Context {
		context[e.Name] = e.Values
	}
	resources := in.Resources
	if len(resources) == 0 {
		resources = []string{"*"}
	}
	var all []evaluation
	for _, action := range in.Actions {
		for _, resource := range resources {
			d := p.Evaluate(&rules.Request{Principal: who, Action: action, Resource: resource, Context: context})
			e := evaluation{Action: action, Resource: resource, Decision: "implicitDeny", Matched: []string{}, Missing: []string{}}
			switch {
			case d.Allowed:
				e.Decision = "allowed"
			case d.Explicit:
				e.Decision = "explicitDeny"
			}
			all = append(all, e)
		}
	}
	out := &simulated{}
	var err error
	out.Results, out.paged, err = page(s, &in.paging, "simulated", all, func(e evaluation) string { return e.Action + " " + e.Resource })
	return out, err
}
