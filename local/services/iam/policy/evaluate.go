package policy

import "strings"

// Request describes an action that a principal wants to perform.
type Request struct {
	Principal Principal
	// Action is an action such as sqs:SendMessage; Resource is an ARN or "*".
	Action, Resource string
	// Account is the account that owns the resource; empty means the principal's.
	Account string
	// Context holds the values of the condition keys.
	Context Context
}

// Policies holds the policies that apply to a principal and a resource.
type Policies struct {
	// Identity are the policies of a user and its groups, or of a role.
	Identity []*Policy
	// Resource is the policy of the resource; nil for none.
	Resource *Policy
	// Boundary limits what the identity policies allow; nil means no boundary.
	Boundary *Policy
	// Session limits a role session; nil means no session policy.
	Session *Policy
	// NeedsResource is true if the resource's policy must allow the request, as for assuming roles and for KMS keys.
	NeedsResource bool
}

// Decision is the result of an evaluation.
type Decision struct {
	Allowed bool
	// Reason explains a denial in AWS's wording: "with an explicit deny in an identity-based policy".
	Reason string
	// Explicit is true if a statement denies the request.
	Explicit bool
}

// effect is the effect of a policy on a request.
type effect int

const (
	neither effect = iota
	leaves         // the resource's policy delegates the decision to the account
	allows
	denies
)

// Evaluate decides whether r is allowed. A statement that denies r always wins. Within an account, it is enough
// that an identity policy or the resource's policy allows r; across accounts both must allow it.
func (p *Policies) Evaluate(r *Request) Decision {
	identity := neither
	for _, one := range p.Identity {
		identity = max(identity, one.effect(r, false))
	}
	resource := neither
	if p.Resource != nil {
		resource = p.Resource.effect(r, true)
	}
	bound := func(one *Policy) effect {
		if one == nil {
			return allows
		}
		return one.effect(r, false)
	}
	boundary, session := bound(p.Boundary), bound(p.Session)
	denied := func(where string) Decision {
		return Decision{Reason: "with an explicit deny in " + where, Explicit: true}
	}
	missing := func(kind string) Decision {
		return Decision{Reason: "because no " + kind + " allows the " + r.Action + " action"}
	}
	across := r.Account != "" && r.Principal.Account != "" && r.Account != r.Principal.Account
	switch {
	case identity == denies:
		return denied("an identity-based policy")
	case resource == denies:
		return denied("a resource-based policy")
	case boundary == denies:
		return denied("a permissions boundary")
	case session == denies:
		return denied("a session policy")
	case (across || p.NeedsResource) && resource < leaves:
		return missing("resource-based policy")
	case resource == allows && !across:
		return Decision{Allowed: true}
	case identity != allows:
		return missing("identity-based policy")
	case boundary != allows:
		return missing("permissions boundary")
	case session != allows:
		return missing("session policy")
	}
	return Decision{Allowed: true}
}

// effect returns the effect of one policy on r. The statements of a resource policy name their principals.
func (p *Policy) effect(r *Request, resource bool) effect {
	found := neither
	for i := range p.Statements {
		found = max(found, p.effectOf(&p.Statements[i], r, resource))
	}
	return found
}

func (p *Policy) effectOf(s *Statement, r *Request, resource bool) effect {
	who := named
	switch {
	case !resource:
	case s.Principals != nil:
		who = s.Principals.of(r.Principal)
	case s.NotPrincipals != nil:
		if s.NotPrincipals.of(r.Principal) != stranger {
			who = stranger
		}
	default:
		who = stranger
	}
	action := strings.ToLower(r.Action)
	acts := len(s.NotActions) > 0 && !p.anyOf(s.NotActions, action, r.Context) || p.anyOf(s.Actions, action, r.Context)
	on := p.anyOf(s.Resources, r.Resource, r.Context) ||
		len(s.NotResources) > 0 && !p.anyOf(s.NotResources, r.Resource, r.Context) ||
		resource && len(s.Resources) == 0 && len(s.NotResources) == 0
	if who == stranger || !acts || !on {
		return neither
	}
	for i := range s.Conditions {
		if !s.Conditions[i].holds(p, r.Context) {
			return neither
		}
	}
	switch {
	case !s.Allow:
		return denies
	case who == delegated:
		return leaves
	}
	return allows
}
