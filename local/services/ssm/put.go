package ssm

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/aws/javapattern"
	"stepback/aws/server"
	"stepback/internal/lazyregexp"
	"stepback/local/services/documents"
)

// The types of parameters.
const (
	plain  = "String"
	listed = "StringList"
	secure = "SecureString"
)

// The tiers and their limits.
const (
	standard      = "Standard"
	advanced      = "Advanced"
	intelligent   = "Intelligent-Tiering"
	standardBytes = 4 << 10
	advancedBytes = 8 << 10
	mostVersions  = 100
	mostLevels    = 15
	usualKey      = "alias/aws/ssm"
)

var (
	nameCharacters = lazyregexp.New(`^[a-zA-Z0-9_.\-/]+$`)
	nested         = lazyregexp.New(`(?s)\{\{.*\}\}`)
	reserved       = lazyregexp.New(`(?i)^/?(aws|ssm)`)
)

// checkName returns an error if a parameter cannot have the name.
func checkName(scope aws.Scope, name string) error {
	const longest = 1011 // of the whole ARN, as API_PutParameter documents
	switch {
	case len(arnOf(scope, name)) > longest:
		return refuse("ValidationException", "The maximum length of a parameter's name, with its ARN, is %d characters.", longest)
	case !nameCharacters.MatchString(name), strings.Contains(name, "//"), strings.HasSuffix(name, "/"):
		return refuse("ValidationException", "Parameter name: can't be prefixed with \"ssm\" (case-insensitive). If formed as a "+
			"path, it can consist of sub-paths divided by slash symbol; each sub-path can be formed as a mix of letters, numbers "+
			"and the following 3 symbols .-_")
	case strings.Contains(name, "/") && !strings.HasPrefix(name, "/"):
		return refuse("ValidationException", "Parameter name must be a fully qualified name.")
	case reserved.MatchString(name):
		return refuse("ValidationException", "Parameter name: can't be prefixed with \"aws\" or \"ssm\" (case-insensitive).")
	case strings.Count(name, "/") > mostLevels:
		return refuse("HierarchyLevelLimitExceededException", "A parameter's name can have at most %d levels.", mostLevels)
	}
	return nil
}

type putRequest struct {
	Name, Description, Value, Type string
	Key                            string `json:"KeyId"`
	Overwrite                      bool
	AllowedPattern                 string
	Tags                           []tag
	Tier, Policies, DataType       string
}

type putAnswer struct {
	Version int64
	Tier    string
}

func (s *Service) putParameter(ctx context.Context, scope aws.Scope, in *putRequest) (answer *putAnswer, err error) {
	if err := checkName(scope, in.Name); err != nil {
		return nil, err
	}
	switch {
	case in.Value == "": // the model lacks the constraint
		return nil, server.Invalid("1 validation error detected: Value '' at 'value' failed to satisfy constraint: Member must " +
			"have length greater than or equal to 1")
	case in.DataType != "" && in.DataType != "text" && in.DataType != "aws:ec2:image" && in.DataType != "aws:ssm:integration":
		return nil, refuse("ValidationException", "The following data type is not supported: %s (Data type names are all lowercase.)",
			in.DataType)
	case nested.MatchString(in.Value):
		return nil, refuse("ValidationException", "Parameter value can't nest another parameter. Do not use \"{{}}\" in the value.")
	}
	if in.Policies != "" {
		return nil, refuse("PoliciesLimitExceededException", "Policies of parameters are not supported here.")
	}
	if in.Overwrite && len(in.Tags) > 0 {
		return nil, refuse("ValidationException", "Invalid request: tags and overwrite can't be used together. To create a "+
			"parameter with tags, please remove overwrite flag. To update tags for an existing parameter, please use "+
			"AddTagsToResource or RemoveTagsFromResource.")
	}
	kept, err := s.find(scope, in.Name)
	if err != nil {
		return nil, err
	}
	v, err := s.version(ctx, scope, in, kept)
	if err != nil {
		return nil, err
	}
	return answer, s.change(func(b *documents.Batch) error {
		p, err := s.find(scope, in.Name)
		if err != nil {
			return err
		}
		switch {
		case p == nil:
			p = &parameter{Name: in.Name}
			p.addTags(in.Tags)
		case !in.Overwrite:
			return refuse("ParameterAlreadyExists", "The parameter already exists. To overwrite this value, set the overwrite "+
				"option in the request to true.")
		}
		p.Next++
		v.Number = p.Next
		if len(p.Versions) >= mostVersions {
			if len(p.Versions[0].Labels) > 0 {
				return refuse("ParameterMaxVersionLimitExceeded", "You attempted to create a new version of %s by calling the "+
					"PutParameter API with the overwrite flag. Version %d, the oldest version, can't be deleted because it has a "+
					"label associated with it. Move the label to another version of the parameter, and try again.", p.Name,
					p.Versions[0].Number)
			}
			p.Versions = p.Versions[1:]
		}
		p.Versions = append(p.Versions, *v)
		answer = &putAnswer{v.Number, v.Tier}
		return s.put(b, scope, p)
	})
}

// version returns the new version that a put request describes. p is the existing parameter, or nil for a new one.
func (s *Service) version(ctx context.Context, scope aws.Scope, in *putRequest, p *parameter) (*version, error) {
	v := &version{Type: in.Type, Value: in.Value, Description: in.Description, AllowedPattern: in.AllowedPattern,
		DataType: cmp.Or(in.DataType, "text"), Tier: cmp.Or(in.Tier, standard), User: scope.GlobalARN("iam", "root"),
		Modified: server.Time(s.opts.Clock.Now())}
	if p != nil && v.Type == "" {
		v.Type = p.newest().Type
	}
	if p != nil && p.newest().Tier == advanced {
		if in.Tier == standard {
			return nil, refuse("ValidationException", "This parameter uses the advanced-parameter tier. You can't downgrade a parameter "+
				"from the advanced-parameter tier to the standard-parameter tier. If necessary, you can delete the advanced parameter "+
				"and recreate it as a standard parameter.")
		}
		v.Tier, in.Tier = advanced, advanced
	}
	switch {
	case v.Type == "":
		return nil, refuse("ValidationException", "A parameter type is required when you create a parameter.")
	case in.Tier == intelligent && len(in.Value) <= standardBytes, v.Tier == standard && len(in.Value) <= standardBytes:
		v.Tier = standard
	case in.Tier == intelligent && len(in.Value) <= advancedBytes:
		v.Tier = advanced
	case v.Tier == standard:
		return nil, refuse("ValidationException", "Standard tier parameters support a maximum parameter value of %d characters. "+
			"To create a larger parameter value, upgrade the parameter to use the advanced-parameter tier. For more information, "+
			"see https://docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-advanced-parameters.html", standardBytes)
	case len(in.Value) > advancedBytes:
		return nil, refuse("ValidationException", "Advanced tier parameters support a maximum parameter value of %d characters.",
			advancedBytes)
	}
	if v.AllowedPattern != "" {
		pattern, err := javapattern.Compile(v.AllowedPattern)
		if err != nil {
			return nil, refuse("InvalidAllowedPatternException", "%q is not a regular expression.", v.AllowedPattern)
		}
		if !pattern.MatchString(v.Value) {
			return nil, refuse("ParameterPatternMismatchException", "Parameter value, cannot be validated against allowedPattern: %s",
				v.AllowedPattern)
		}
	}
	if v.Type != secure {
		if in.Key != "" {
			return nil, refuse("ValidationException", "KeyId is not required for String and StringList type parameter.")
		}
		return v, nil
	}
	v.Key = cmp.Or(in.Key, usualKey)
	if s.opts.Secrets == nil {
		return v, nil
	}
	encrypted, err := s.opts.Secrets.Encrypt(ctx, scope, v.Key, arnOf(scope, in.Name), v.Value)
	v.Value = encrypted
	return v, err
}

// arnOf returns the ARN of a parameter.
func arnOf(scope aws.Scope, name string) string {
	return scope.ARN("ssm", "parameter/"+strings.TrimPrefix(name, "/"))
}

type deleteRequest struct{ Name string }

func (s *Service) deleteParameter(_ context.Context, scope aws.Scope, in *deleteRequest) (*none, error) {
	return &none{}, s.change(func(b *documents.Batch) error {
		p, err := s.find(scope, in.Name)
		if err == nil && p == nil {
			err = noParameter()
		}
		if err != nil {
			return err
		}
		b.Delete(s.table, key(scope, p.Name))
		return nil
	})
}

type deleteAllRequest struct{ Names []string }

type deleteAllAnswer struct{ DeletedParameters, InvalidParameters []string }

func (s *Service) deleteParameters(_ context.Context, scope aws.Scope, in *deleteAllRequest) (*deleteAllAnswer, error) {
	answer := &deleteAllAnswer{[]string{}, []string{}}
	slices.Sort(in.Names)
	return answer, s.change(func(b *documents.Batch) error {
		for _, name := range slices.Compact(in.Names) {
			p, err := s.find(scope, name)
			switch {
			case err != nil:
				return err
			case p == nil:
				answer.InvalidParameters = append(answer.InvalidParameters, name)
			default:
				answer.DeletedParameters = append(answer.DeletedParameters, name)
				b.Delete(s.table, key(scope, p.Name))
			}
		}
		return nil
	})
}
