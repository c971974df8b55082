package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"stepback/internal/lazyregexp"
)

// Policy is a parsed policy. It is immutable.
type Policy struct {
	Version    string
	Statements []Statement
}

// Statement is one statement of a policy.
type Statement struct {
	ID    string
	Allow bool // false means Deny

	Actions, NotActions     []string // lower case
	Resources, NotResources []string // nil for resource policies that name none
	Principals              *Principals
	NotPrincipals           *Principals
	Conditions              []Condition
}

// Principals holds the principals that a statement names.
type Principals struct {
	Anyone bool
	// AWS holds ARNs and account IDs. Services holds names such as lambda.amazonaws.com. Federated holds identity
	// providers.
	AWS, Services, Federated []string
}

// oneOrMany is parsed from a string or a list of strings; numbers and booleans become strings.
type oneOrMany []string

// UnmarshalJSON implements json.Unmarshaler.
func (o *oneOrMany) UnmarshalJSON(text []byte) error {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	*o = oneOrMany{}
	for _, e := range list {
		switch e := e.(type) {
		case string:
			*o = append(*o, e)
		case bool, float64:
			*o = append(*o, fmt.Sprint(e))
		default:
			return errors.New("a string or a list of strings is expected")
		}
	}
	return nil
}

type document struct {
	Version   string
	Statement statements
}

type statements []struct {
	Sid, Effect             string
	Action, NotAction       oneOrMany
	Resource, NotResource   oneOrMany
	Principal, NotPrincipal json.RawMessage
	Condition               map[string]map[string]oneOrMany
}

// UnmarshalJSON implements json.Unmarshaler. It accepts a single statement instead of a list.
func (s *statements) UnmarshalJSON(text []byte) error {
	type list statements
	if strings.HasPrefix(strings.TrimSpace(string(text)), "{") {
		text = append(append([]byte{'['}, text...), ']')
	}
	return json.Unmarshal(text, (*list)(s))
}

// Parse parses a policy document. The error describes what is wrong with it.
func Parse(text string) (*Policy, error) {
	var d document
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return nil, fmt.Errorf("the policy is not in the form of a policy: %w", err)
	}
	p := &Policy{Version: d.Version}
	for i, given := range d.Statement {
		s := Statement{ID: given.Sid, Allow: given.Effect == "Allow", Actions: lower(given.Action),
			NotActions: lower(given.NotAction), Resources: given.Resource, NotResources: given.NotResource}
		if !s.Allow && given.Effect != "Deny" {
			return nil, fmt.Errorf("statement %d: Effect is %q; it must be Allow or Deny", i+1, given.Effect)
		}
		if (len(s.Actions) == 0) == (len(s.NotActions) == 0) {
			return nil, fmt.Errorf("statement %d: exactly one of Action and NotAction is expected", i+1)
		}
		var err error
		if s.Principals, err = principals(given.Principal); err == nil {
			s.NotPrincipals, err = principals(given.NotPrincipal)
		}
		if err != nil {
			return nil, fmt.Errorf("statement %d: %w", i+1, err)
		}
		if s.Allow && s.NotPrincipals != nil {
			return nil, fmt.Errorf("statement %d: NotPrincipal is supported only with the Effect Deny; name those who are allowed in Principal", i+1)
		}
		if s.Conditions, err = conditions(given.Condition); err != nil {
			return nil, fmt.Errorf("statement %d: %w", i+1, err)
		}
		p.Statements = append(p.Statements, s)
	}
	return p, nil
}

func lower(all []string) []string {
	made := make([]string, len(all))
	for i, s := range all {
		made[i] = strings.ToLower(s)
	}
	return made
}

func principals(text json.RawMessage) (*Principals, error) {
	if len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	var anyone string
	if json.Unmarshal(text, &anyone) == nil {
		if anyone != "*" {
			return nil, fmt.Errorf("the Principal %q is not known", anyone)
		}
		return &Principals{Anyone: true}, nil
	}
	var named struct{ AWS, Service, Federated, CanonicalUser oneOrMany }
	if err := json.Unmarshal(text, &named); err != nil {
		return nil, fmt.Errorf("Principal: %w", err)
	}
	made := &Principals{AWS: named.AWS, Services: named.Service, Federated: named.Federated}
	for _, name := range named.AWS {
		made.Anyone = made.Anyone || name == "*"
	}
	return made, nil
}

// Malformed returns the first name that has not the form of a principal, such as "SERVICE":"lambda", or "" if there is
// none. Whether a principal exists is not checked. p may be nil.
func (p *Principals) Malformed() string {
	if p == nil {
		return ""
	}
	for _, name := range p.AWS {
		if name != "*" && !IsPrincipal(name) {
			return `"AWS":"` + name + `"`
		}
	}
	for _, name := range p.Services {
		if !strings.Contains(name, ".") {
			return `"SERVICE":"` + name + `"`
		}
	}
	return ""
}

// principalForm matches account IDs, ARNs of IAM and STS, and unique IDs of users, roles and identity centers.
var principalForm = lazyregexp.New(`^(\d{12}|arn:[^:]+:(iam|sts)::[^:]*:.+|A[A-Z0-9]{15,})$`)

// IsPrincipal reports whether name has the form of an AWS principal.
func IsPrincipal(name string) bool { return principalForm.MatchString(name) }

// Principal is the caller of a request.
type Principal struct {
	// ARN is the ARN of a user, of a role session (arn:aws:sts::…:assumed-role/ROLE/SESSION) or of an account's root.
	ARN string
	// Role is the ARN of the session's role; empty for other principals.
	Role string
	// Account is the principal's account ID; empty for services.
	Account string
	// Service is the name of a service that makes the request itself, such as lambda.amazonaws.com; empty for other
	// principals.
	Service string
}

// relation describes the way in which a statement refers to a principal.
type relation int

const (
	stranger  relation = iota
	delegated          // the statement names its account, which delegates to the account's own policies
	named
)

// of returns how the statement's principals refer to the principal who.
func (p *Principals) of(who Principal) relation {
	found := stranger
	if p.Anyone {
		return named
	}
	for _, name := range p.Services {
		if who.Service != "" && strings.EqualFold(name, who.Service) {
			return named
		}
	}
	for _, name := range p.AWS {
		switch {
		case name == who.ARN && name != "" || who.Role != "" && name == who.Role:
			return named
		case who.Account != "" && (name == who.Account || strings.HasPrefix(name, "arn:") &&
			strings.HasSuffix(name, ":iam::"+who.Account+":root")):
			found = delegated
		}
	}
	return found
}
