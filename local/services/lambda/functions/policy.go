package functions

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"stepback/aws"
	"stepback/internal/lazyregexp"
)

// Statement is a statement of a function's resource-based policy, as the API returns it. This package stores it but
// does not check invocations against it.
type Statement struct {
	Sid, Effect string
	// Principal is "*", or the type of principal (Service or AWS) with its name.
	Principal        any
	Action, Resource string
	Condition        map[string]map[string]string `json:",omitempty"` // keys and values by operator
}

// policy is the resource-based policy of a function, a version or an alias. It is immutable.
type policy struct {
	RevisionID string `json:"RevisionId"`
	Statements []Statement
}

// document returns the policy as the API shows it.
func (p *policy) document() (string, error) {
	text, err := json.Marshal(struct {
		Version   string
		ID        string `json:"Id"`
		Statement []Statement
	}{"2012-10-17", "default", p.Statements})
	return string(text), err
}

func (p *policy) index(sid string) int {
	return slices.IndexFunc(p.Statements, func(s Statement) bool { return s.Sid == sid })
}

// PermissionInput describes a policy statement to add.
type PermissionInput struct {
	StatementID           string `json:"StatementId"`
	Action, Principal     string
	SourceArn             string
	SourceAccount         string
	EventSourceToken      string
	PrincipalOrgID        string
	FunctionURLAuthType   string `json:"FunctionUrlAuthType"`
	InvokedViaFunctionURL *bool  `json:"InvokedViaFunctionUrl"`
	// RevisionID, if set, must equal the revision of the policy or, if the policy has no statement yet, of the
	// version or alias.
	RevisionID string `json:"RevisionId"`
}

// maxPolicy is the maximum size of a policy as JSON, in bytes.
const maxPolicy = 20 << 10

// AddPermission adds a statement to the policy of a function, or of the version or alias that qualifier names.
func (s *Service) AddPermission(ctx context.Context, scope aws.Scope, name, qualifier string,
	in *PermissionInput) (*Statement, error) {
	if qualifier == latest {
		return nil, invalid("We currently do not support adding policies for $LATEST.")
	}
	added, err := in.statement(arnOf(scope, name) + ending(qualifier))
	if err != nil {
		return nil, err
	}
	_, err = s.change(ctx, scope, name, func(a *area, r *record) error {
		old, err := r.policyOf(a, qualifier)
		switch {
		case err != nil:
			return err
		case old.index(added.Sid) >= 0:
			return conflict("The statement id (%s) provided already exists. Please provide a new statement id, or remove the existing statement.",
				added.Sid)
		}
		return r.setPolicy(qualifier, old, in.RevisionID, append(slices.Clone(old.Statements), *added))
	})
	if err != nil {
		return nil, err
	}
	return added, nil
}

// RemovePermission removes a statement. If revision is not empty, it must equal the policy's revision.
func (s *Service) RemovePermission(ctx context.Context, scope aws.Scope, name, qualifier, sid, revision string) error {
	_, err := s.change(ctx, scope, name, func(a *area, r *record) error {
		old, err := r.policyOf(a, qualifier)
		if err != nil {
			return err
		}
		if len(old.Statements) == 0 {
			return notFound("No policy is associated with the given resource.")
		}
		i := old.index(sid)
		if i < 0 {
			return notFound("Statement %s is not found in resource policy.", sid)
		}
		return r.setPolicy(qualifier, old, revision, slices.Delete(slices.Clone(old.Statements), i, i+1))
	})
	return err
}

// Policy returns the policy of a function, a version or an alias as JSON, and its revision.
func (s *Service) Policy(scope aws.Scope, name, qualifier string) (document, revision string, err error) {
	a, r, err := s.find(scope, name, ending(qualifier))
	if err != nil {
		return "", "", err
	}
	p, err := r.policyOf(a, qualifier)
	if err != nil {
		return "", "", err
	}
	if len(p.Statements) == 0 {
		return "", "", notFound("The resource you requested does not exist.")
	}
	document, err = p.document()
	return document, p.RevisionID, err
}

// policyOf returns the policy of a qualifier. An empty policy has the revision of the version or alias.
func (r *record) policyOf(a *area, qualifier string) (*policy, error) {
	if p, ok := r.Policies[qualifier]; ok {
		return p, nil
	}
	if alias, ok := r.Aliases[qualifier]; ok {
		return &policy{RevisionID: alias.RevisionID}, nil
	}
	c, ok := r.version(qualifier)
	switch {
	case ok:
		return &policy{RevisionID: c.RevisionID}, nil
	case versionForm.MatchString(qualifier):
		return nil, notFound("Function not found: %s:%s", a.arn(r.Latest.FunctionName), qualifier)
	}
	return nil, notFound("Cannot find alias arn: %s:%s", a.arn(r.Latest.FunctionName), qualifier)
}

var versionForm = lazyregexp.New(`^\d+$`)

// setPolicy replaces the policy of a qualifier. It returns an error if the policy does not have the given revision.
func (r *record) setPolicy(qualifier string, old *policy, revision string, statements []Statement) error {
	if revision != "" && revision != old.RevisionID {
		return stalePolicy()
	}
	if len(statements) == 0 {
		delete(r.Policies, qualifier)
		return nil
	}
	p := &policy{RevisionID: aws.NewID(), Statements: statements}
	text, err := p.document()
	if err != nil {
		return err
	}
	if len(text) > maxPolicy {
		return &aws.Error{Code: "PolicyLengthExceededException", Status: http.StatusBadRequest,
			Message: fmt.Sprintf("The final policy size (%d) is bigger than the limit (%d).", len(text), maxPolicy)}
	}
	if r.Policies == nil {
		r.Policies = map[string]*policy{}
	}
	r.Policies[qualifier] = p
	return nil
}

var accountPrincipal = lazyregexp.New(`^\d{12}$`)

// statement returns the statement to add to the policy of a resource.
func (in *PermissionInput) statement(resource string) (*Statement, error) {
	s := &Statement{Sid: in.StatementID, Effect: "Allow", Action: in.Action, Resource: resource}
	switch p := in.Principal; {
	case p == "*":
		s.Principal = p
	case accountPrincipal.MatchString(p):
		s.Principal = map[string]string{"AWS": "arn:aws:iam::" + p + ":root"}
	case strings.HasPrefix(p, "arn:"):
		s.Principal = map[string]string{"AWS": p}
	case strings.HasSuffix(p, ".amazonaws.com"), strings.HasSuffix(p, ".amazonaws.com.cn"),
		strings.HasSuffix(p, ".amazon.com"):
		s.Principal = map[string]string{"Service": p}
	default:
		return nil, invalid("The provided principal was invalid. Please check the principal and try again.")
	}
	s.require("StringEquals", "lambda:EventSourceToken", in.EventSourceToken)
	s.require("StringEquals", "lambda:FunctionUrlAuthType", in.FunctionURLAuthType)
	s.require("StringEquals", "aws:PrincipalOrgID", in.PrincipalOrgID)
	s.require("StringEquals", "AWS:SourceAccount", in.SourceAccount)
	s.require("ArnLike", "AWS:SourceArn", in.SourceArn)
	if in.InvokedViaFunctionURL != nil {
		s.require("Bool", "lambda:InvokedViaFunctionUrl", strconv.FormatBool(*in.InvokedViaFunctionURL))
	}
	return s, nil
}

// require adds a condition, unless value is empty.
func (s *Statement) require(operator, key, value string) {
	if value == "" {
		return
	}
	if s.Condition == nil {
		s.Condition = map[string]map[string]string{}
	}
	if s.Condition[operator] == nil {
		s.Condition[operator] = map[string]string{}
	}
	s.Condition[operator][key] = value
}

func stalePolicy() error {
	return &aws.Error{
		Code: "PreconditionFailedException", Status: http.StatusPreconditionFailed,
		Message: "The Revision Id provided does not match the latest Revision Id. Call the GetPolicy API to retrieve the latest Revision Id",
	}
}
