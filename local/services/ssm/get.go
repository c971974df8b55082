package ssm

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"stepback/aws"
	"stepback/aws/server"
)

// answered is a parameter in responses.
type answered struct {
	Name, Type, Value string
	Version           int64
	Selector          string      `json:",omitempty"`
	Source            string      `json:"SourceResult,omitempty"`
	Modified          server.Time `json:"LastModifiedDate"`
	ARN               string
	DataType          string
}

// value returns a version in the form of a response; decrypt requests the plain text of a SecureString.
func (s *Service) value(ctx context.Context, scope aws.Scope, p *parameter, v *version, selector string, decrypt bool) (
	*answered, error) {
	made := &answered{p.Name, v.Type, v.Value, v.Number, selector, "", v.Modified, arnOf(scope, p.Name), v.DataType}
	if v.Type != secure || !decrypt || s.opts.Secrets == nil {
		return made, nil
	}
	text, err := s.opts.Secrets.Decrypt(ctx, scope, made.ARN, v.Value)
	made.Value = text
	return made, err
}

// selected returns what a name refers to: NAME, NAME:VERSION, NAME:LABEL or the ARN of a parameter.
func (s *Service) selected(scope aws.Scope, asked string) (p *parameter, v *version, selector string, err error) {
	name := asked
	if arn, ok := aws.ParseARN(asked); ok {
		scope = arn.Scope()
		name = strings.TrimPrefix(arn.Resource, "parameter")
		if p, err := s.find(scope, strings.TrimPrefix(name, "/")); err != nil || p != nil { // names that are not paths
			name = strings.TrimPrefix(name, "/")
		}
	}
	name, selector, found := strings.Cut(name, ":")
	if p, err = s.find(scope, name); err != nil || p == nil {
		return nil, nil, "", err
	}
	if !found {
		return p, p.newest(), "", nil
	}
	number, err := strconv.ParseInt(selector, 10, 64)
	for i := range p.Versions {
		v := &p.Versions[i]
		if err == nil && v.Number == number || slices.Contains(v.Labels, selector) {
			return p, v, ":" + selector, nil
		}
	}
	if err == nil {
		return nil, nil, "", refuse("ParameterVersionNotFound", "Systems Manager could not find version %d of %s. Verify the "+
			"version and try again.", number, name)
	}
	return nil, nil, "", refuse("ParameterVersionNotFound", "Systems Manager could not find label %s of %s. Verify the label "+
		"and try again.", selector, name)
}

type getRequest struct {
	Name    string
	Decrypt bool `json:"WithDecryption"`
}

type getAnswer struct{ Parameter *answered }

func (s *Service) getParameter(ctx context.Context, scope aws.Scope, in *getRequest) (*getAnswer, error) {
	if id, ok := strings.CutPrefix(in.Name, secretPrefix); ok {
		made, err := s.secret(ctx, scope, id, in.Decrypt)
		return &getAnswer{made}, err
	}
	p, v, selector, err := s.selected(scope, in.Name)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, noParameter()
	}
	made, err := s.value(ctx, scope, p, v, selector, in.Decrypt)
	if err == nil {
		made.named(in.Name)
	}
	return &getAnswer{made}, err
}

// named sets the name to that which the request has, if they differ by the first slash.
func (a *answered) named(asked string) {
	name, _, _ := strings.Cut(asked, ":")
	if strings.TrimPrefix(name, "/") == strings.TrimPrefix(a.Name, "/") {
		a.Name = name
	}
}

// secretPrefix is the prefix of the names of parameters that are secrets of Secrets Manager.
const secretPrefix = "/aws/reference/secretsmanager/"

// secret returns a secret of Secrets Manager as a parameter.
func (s *Service) secret(ctx context.Context, scope aws.Scope, id string, decrypt bool) (*answered, error) {
	name := secretPrefix + id
	if !decrypt {
		return nil, refuse("ValidationException", "WithDecryption flag must be True for retrieving a Secret Manager secret.")
	}
	missing := refuse("ParameterNotFound", "An error occurred (ParameterNotFound) when referencing Secrets Manager: Secret %s not "+
		"found.", name)
	if s.opts.Secret == nil {
		return nil, missing
	}
	value, source, err := s.opts.Secret(ctx, scope, id)
	if e, ok := errors.AsType[*aws.Error](err); ok && e.Code == "ResourceNotFoundException" {
		return nil, missing
	}
	if err != nil {
		return nil, err
	}
	var about struct {
		ARN     string
		Created server.Time `json:"createdDate"`
	}
	if err := json.Unmarshal(source, &about); err != nil {
		return nil, err
	}
	return &answered{Name: name, Type: secure, Value: value, Source: string(source), Modified: about.Created,
		ARN: scope.ARN("ssm", "parameter"+name), DataType: "text"}, nil
}

type getAllRequest struct {
	Names   []string
	Decrypt bool `json:"WithDecryption"`
}

type getAllAnswer struct {
	Parameters        []*answered
	InvalidParameters []string
}

func (s *Service) getParameters(ctx context.Context, scope aws.Scope, in *getAllRequest) (*getAllAnswer, error) {
	answer := &getAllAnswer{[]*answered{}, []string{}}
	for _, name := range in.Names {
		if id, ok := strings.CutPrefix(name, secretPrefix); ok {
			made, err := s.secret(ctx, scope, id, in.Decrypt)
			switch e, refused := errors.AsType[*aws.Error](err); {
			case err == nil:
				answer.Parameters = append(answer.Parameters, made)
			case refused && e.Code == "ParameterNotFound":
				answer.InvalidParameters = append(answer.InvalidParameters, name)
			default:
				return nil, err
			}
			continue
		}
		p, v, selector, err := s.selected(scope, name)
		if _, refused := err.(*aws.Error); refused || p == nil && err == nil { //nolint:errorlint // it is not wrapped
			answer.InvalidParameters = append(answer.InvalidParameters, name)
			continue
		}
		if err != nil {
			return nil, err
		}
		made, err := s.value(ctx, scope, p, v, selector, in.Decrypt)
		if err != nil {
			return nil, err
		}
		made.named(name)
		answer.Parameters = append(answer.Parameters, made)
	}
	return answer, nil
}

type pathRequest struct {
	Path       string
	Recursive  bool
	Decrypt    bool     `json:"WithDecryption"`
	Filters    []filter `json:"ParameterFilters"`
	MaxResults int
	NextToken  string
}

type pathAnswer struct {
	Parameters []*answered
	NextToken  string `json:",omitempty"`
}

func (s *Service) getParametersByPath(ctx context.Context, scope aws.Scope, in *pathRequest) (*pathAnswer, error) {
	const usual = 10
	if !strings.HasPrefix(in.Path, "/") {
		return nil, refuse("ValidationException", "The parameter doesn't meet the parameter name requirements. The parameter name "+
			"must begin with a forward slash \"/\". It can't be prefixed with \"aws\" or \"ssm\" (case-insensitive).")
	}
	if err := checkFilters(in.Filters, "Type", "KeyId", "Label"); err != nil {
		return nil, err
	}
	prefix := strings.TrimSuffix(in.Path, "/") + "/"
	all, err := s.all(scope, prefix)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(p *parameter) bool {
		return !in.Recursive && strings.Contains(p.Name[len(prefix):], "/") || !matches(in.Filters, p)
	})
	if in.MaxResults == 0 {
		in.MaxResults = usual
	}
	page, next, err := s.page(all, in.MaxResults, in.NextToken, "path", scope.Account, scope.Region, in.Path)
	if err != nil {
		return nil, err
	}
	answer := &pathAnswer{[]*answered{}, next}
	for _, p := range page {
		made, err := s.value(ctx, scope, p, p.newest(), "", in.Decrypt)
		if err != nil {
			return nil, err
		}
		answer.Parameters = append(answer.Parameters, made)
	}
	return answer, nil
}

// page returns the requested page of a list of parameters.
func (s *Service) page(all []*parameter, size int, token string, request ...string) ([]*parameter, string, error) {
	page, next, ok := aws.Page(aws.NewListing(s.opts.Clock.Now(), request...), token, size, all,
		func(p *parameter) string { return p.Name })
	if !ok {
		return nil, "", refuse("InvalidNextToken", "The specified token isn't valid.")
	}
	return page, next, nil
}

type historyRequest struct {
	Name       string
	Decrypt    bool `json:"WithDecryption"`
	MaxResults int
	NextToken  string
}

// past is a version in a parameter's history.
type past struct {
	Name, Type     string
	Key            string      `json:"KeyId,omitempty"`
	Modified       server.Time `json:"LastModifiedDate"`
	User           string      `json:"LastModifiedUser"`
	Description    string      `json:",omitempty"`
	Value          string
	AllowedPattern string `json:",omitempty"`
	Version        int64
	Labels         []string
	Tier           string
	Policies       []struct{}
	DataType       string
}

type historyAnswer struct {
	Parameters []past
	NextToken  string `json:",omitempty"`
}

func (s *Service) getParameterHistory(ctx context.Context, scope aws.Scope, in *historyRequest) (*historyAnswer, error) {
	const usual = 50
	p, err := s.find(scope, in.Name)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, noParameter()
	}
	if in.MaxResults == 0 {
		in.MaxResults = usual
	}
	page, next, ok := aws.Page(aws.NewListing(s.opts.Clock.Now(), "history", scope.Account, scope.Region, in.Name), in.NextToken,
		in.MaxResults, p.Versions, func(v version) string { return strconv.FormatInt(1e9+v.Number, 10) })
	if !ok {
		return nil, refuse("InvalidNextToken", "The specified token isn't valid.")
	}
	answer := &historyAnswer{NextToken: next}
	for i := range page {
		v := &page[i]
		made, err := s.value(ctx, scope, p, v, "", in.Decrypt)
		if err != nil {
			return nil, err
		}
		answer.Parameters = append(answer.Parameters, past{p.Name, v.Type, v.Key, v.Modified, v.User,
			v.Description, made.Value,
			v.AllowedPattern, v.Number, append([]string{}, v.Labels...), v.Tier, []struct{}{}, v.DataType})
	}
	return answer, nil
}
