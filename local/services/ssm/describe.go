package ssm

import (
	"context"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/aws/server"
)

// filter is a condition of a list request; the values of a key are alternatives.
type filter struct {
	Key, Option string
	Values      []string
}

// legacyFilter is a filter in the form used before ParameterFilters.
type legacyFilter struct {
	Key    string
	Values []string
}

// filterValues lists the valid values of each filter that does not accept any text.
var filterValues = map[string][]string{
	"Type": {"String", "StringList", secure},
	"Tier": {standard, advanced, intelligent},
}

// checkFilters returns an error for keys and options that a list does not support. Keys that start with tag: are
// accepted where Tag is.
func checkFilters(filters []filter, keys ...string) error {
	seen := map[string]bool{}
	for _, f := range filters {
		if seen[f.Key] {
			return refuse("InvalidFilterKey", "The following filter is duplicated in the request: %s. A request can contain only one "+
				"occurrence of a specific filter.", f.Key)
		}
		seen[f.Key] = true
		if !slices.Contains(keys, f.Key) && (!strings.HasPrefix(f.Key, "tag:") || !slices.Contains(keys, "Tag")) {
			return refuse("InvalidFilterKey", "The following filter key is not valid: %s. Valid filter keys include: [%s].", f.Key,
				strings.Join(keys, ", "))
		}
		options := []string{"", "Equals", "BeginsWith", "Contains"}
		if f.Key == "Path" {
			options = []string{"", "Recursive", "OneLevel"}
		}
		if !slices.Contains(options, f.Option) {
			return refuse("InvalidFilterOption", "The following filter option is not valid: %s. Valid options include: [%s].",
				f.Option, strings.Join(options[1:], ", "))
		}
		if len(f.Values) == 0 && !strings.HasPrefix(f.Key, "tag:") {
			return refuse("InvalidFilterValue", "The following filter values are missing : null for filter key %s", f.Key)
		}
		for _, value := range f.Values {
			if valid := filterValues[f.Key]; valid != nil && !slices.Contains(valid, value) {
				return refuse("InvalidFilterValue", "The following filter value is not valid: %s. Valid values include: [%s].", value,
					strings.Join(valid, ", "))
			}
		}
	}
	return nil
}

// matches reports whether a parameter meets all conditions.
func matches(filters []filter, p *parameter) bool {
	for _, f := range filters {
		if !f.matches(p) {
			return false
		}
	}
	return true
}

func (f *filter) matches(p *parameter) bool {
	v := p.newest()
	var have []string
	switch f.Key {
	case "Name":
		have = []string{p.Name, strings.TrimPrefix(p.Name, "/")}
	case "Type":
		have = []string{v.Type}
	case "KeyId":
		have = []string{v.Key}
	case "Tier":
		have = []string{v.Tier}
	case "DataType":
		have = []string{v.DataType}
	case "Label":
		have = v.Labels
	case "Path":
		return slices.ContainsFunc(f.Values, func(path string) bool {
			rest, ok := strings.CutPrefix(p.Name, strings.TrimSuffix(path, "/")+"/")
			return ok && (f.Option == "Recursive" || !strings.Contains(rest, "/"))
		})
	default: // a tag
		value, ok := p.Tags[strings.TrimPrefix(f.Key, "tag:")]
		if len(f.Values) == 0 || !ok {
			return ok
		}
		have = []string{value}
	}
	return slices.ContainsFunc(have, func(h string) bool {
		return slices.ContainsFunc(f.Values, func(value string) bool {
			switch f.Option {
			case "BeginsWith":
				return strings.HasPrefix(h, value)
			case "Contains":
				return strings.Contains(h, value)
			default:
				return h == value
			}
		})
	})
}

type describeRequest struct {
	Filters    []filter       `json:"ParameterFilters"`
	Older      []legacyFilter `json:"Filters"`
	MaxResults int
	NextToken  string
	Shared     bool
}

// about is the description of a parameter.
type about struct {
	Name, ARN, Type string
	Key             string      `json:"KeyId,omitempty"`
	Modified        server.Time `json:"LastModifiedDate"`
	User            string      `json:"LastModifiedUser"`
	Description     string      `json:",omitempty"`
	AllowedPattern  string      `json:",omitempty"`
	Version         int64
	Tier            string
	Policies        []struct{}
	DataType        string
}

type describeAnswer struct {
	Parameters []about
	NextToken  string `json:",omitempty"`
}

func (s *Service) describeParameters(_ context.Context, scope aws.Scope, in *describeRequest) (*describeAnswer, error) {
	const usual = 50
	if len(in.Older) > 0 && len(in.Filters) > 0 {
		return nil, refuse("ValidationException", "You can use either Filters or ParameterFilters in a single request.")
	}
	for _, f := range in.Older {
		in.Filters = append(in.Filters, filter{Key: f.Key, Values: f.Values})
	}
	if err := checkFilters(in.Filters, "Path", "Name", "Tier", "Type", "KeyId", "DataType", "Label", "Tag"); err != nil {
		return nil, err
	}
	all, err := s.all(scope, "")
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(p *parameter) bool { return in.Shared || !matches(in.Filters, p) })
	if in.MaxResults == 0 {
		in.MaxResults = usual
	}
	page, next, err := s.page(all, in.MaxResults, in.NextToken, "describe", scope.Account, scope.Region)
	if err != nil {
		return nil, err
	}
	answer := &describeAnswer{[]about{}, next}
	for _, p := range page {
		v := p.newest()
		answer.Parameters = append(answer.Parameters, about{p.Name, arnOf(scope, p.Name), v.Type, v.Key,
			v.Modified, v.User,
			v.Description, v.AllowedPattern, v.Number, v.Tier, []struct{}{}, v.DataType})
	}
	return answer, nil
}
