package cloudwatch

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"stepback/aws"
	"stepback/local/services/documents"
)

// insightRule is the stored form of a Contributor Insights rule. Contributors are not counted here.
type insightRule struct {
	Name, State, Schema, Definition string
	Transformed                     bool              `json:",omitempty"`
	Tags                            map[string]string `json:",omitempty"`
}

func insightKey(scope aws.Scope, name string) string { return insightKeys + scopeKey(scope) + name }

func (s *Service) insightRule(scope aws.Scope, name string) (*insightRule, error) {
	text, found, err := s.table.Get(insightKey(scope, name))
	if err != nil || !found {
		return nil, err
	}
	r := new(insightRule)
	return r, json.Unmarshal(text, r)
}

func (s *Service) keepInsightRule(b *documents.Batch, scope aws.Scope, r *insightRule) error {
	text, err := json.Marshal(r)
	if err == nil {
		b.Put(s.table, insightKey(scope, r.Name), text)
	}
	return err
}

type putInsightRuleRequest struct {
	Name        string `json:"RuleName"`
	State       string `json:"RuleState"`
	Definition  string `json:"RuleDefinition"`
	Tags        []tag
	Transformed bool `json:"ApplyOnTransformedLogs"`
}

func (s *Service) putInsightRule(_ context.Context, scope aws.Scope, in *putInsightRuleRequest) (*none, error) {
	var definition struct {
		Schema struct {
			Name    string
			Version json.Number
		}
		LogGroupNames, LogGroupARNs []string
		Contribution                *struct{ Keys []string }
	}
	if err := json.Unmarshal([]byte(in.Definition), &definition); err != nil {
		return nil, invalid("The value of the parameter RuleDefinition is not valid JSON: %s", err)
	}
	switch {
	case in.Name == "":
		return nil, missing("The parameter RuleName is required.")
	case definition.Schema.Name != "CloudWatchLogRule":
		return nil, invalid("The RuleDefinition must have the Schema {\"Name\": \"CloudWatchLogRule\", \"Version\": 1}.")
	case len(definition.LogGroupNames)+len(definition.LogGroupARNs) == 0:
		return nil, invalid("The RuleDefinition must have LogGroupNames.")
	case definition.Contribution == nil || len(definition.Contribution.Keys) == 0:
		return nil, invalid("The RuleDefinition must have a Contribution with Keys.")
	case in.State != "" && in.State != "ENABLED" && in.State != "DISABLED":
		return nil, invalid("The value %s for parameter RuleState is invalid: ENABLED and DISABLED are allowed.", in.State)
	}
	return &none{}, s.change(func(b *documents.Batch) error {
		before, err := s.insightRule(scope, in.Name)
		if err != nil {
			return err
		}
		r := &insightRule{Name: in.Name, State: cmp.Or(in.State, "ENABLED"), Definition: in.Definition, Transformed: in.Transformed,
			Schema: "CloudWatchLogRule/1"}
		if before != nil {
			r.Tags = before.Tags
		} else if len(in.Tags) > 0 {
			r.Tags = map[string]string{}
			for _, t := range in.Tags {
				r.Tags[t.Key] = t.Value
			}
		}
		return s.keepInsightRule(b, scope, r)
	})
}

type describeInsightRulesRequest struct {
	Most      int `json:"MaxResults"`
	NextToken string
}

type describedInsightRule struct {
	Name, State, Schema, Definition string
	Managed                         bool `json:"ManagedRule"`
	Transformed                     bool `json:"ApplyOnTransformedLogs,omitempty"`
}

type describeInsightRulesAnswer struct {
	Rules     []describedInsightRule `json:"InsightRules"`
	NextToken string                 `json:",omitempty"`
}

func (s *Service) describeInsightRules(_ context.Context, scope aws.Scope, in *describeInsightRulesRequest) (
	*describeInsightRulesAnswer, error) {
	const usual = 500
	all := []describedInsightRule{}
	if err := s.table.Scan(insightKeys+scopeKey(scope), func(_ string, text []byte) error {
		var r insightRule
		err := json.Unmarshal(text, &r)
		all = append(all, describedInsightRule{r.Name, r.State, r.Schema, r.Definition, false, r.Transformed})
		return err
	}); err != nil {
		return nil, err
	}
	page, next, ok := aws.Page(aws.NewListing(s.opts.Clock.Now(), "insights", scopeKey(scope)), in.NextToken,
		cmp.Or(in.Most, usual), all, func(r describedInsightRule) string { return r.Name })
	if !ok {
		return nil, invalidToken()
	}
	return &describeInsightRulesAnswer{page, next}, nil
}

type insightRuleNames struct {
	Names []string `json:"RuleNames"`
}

type partialFailure struct {
	Resource    string `json:"FailureResource"`
	Type        string `json:"ExceptionType"`
	Code        string `json:"FailureCode"`
	Description string `json:"FailureDescription"`
}

type insightRuleFailures struct{ Failures []partialFailure }

// eachInsightRule calls f for each rule that the request names, and returns a failure for each one that does not
// exist.
func (s *Service) eachInsightRule(scope aws.Scope, in *insightRuleNames, f func(*documents.Batch, *insightRule) error) (
	*insightRuleFailures, error) {
	answer := &insightRuleFailures{[]partialFailure{}}
	if len(in.Names) == 0 {
		return nil, missing("The parameter RuleNames is required.")
	}
	return answer, s.change(func(b *documents.Batch) error {
		for _, name := range slices.Compact(slices.Sorted(slices.Values(in.Names))) {
			r, err := s.insightRule(scope, name)
			if err != nil {
				return err
			}
			if r == nil {
				answer.Failures = append(answer.Failures, partialFailure{name, "ResourceNotFoundException", "404",
					"The rule " + name + " does not exist."})
				continue
			}
			if err := f(b, r); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Service) enableInsightRules(_ context.Context, scope aws.Scope, in *insightRuleNames) (*insightRuleFailures, error) {
	return s.eachInsightRule(scope, in, func(b *documents.Batch, r *insightRule) error {
		r.State = "ENABLED"
		return s.keepInsightRule(b, scope, r)
	})
}

func (s *Service) disableInsightRules(_ context.Context, scope aws.Scope, in *insightRuleNames) (*insightRuleFailures, error) {
	return s.eachInsightRule(scope, in, func(b *documents.Batch, r *insightRule) error {
		r.State = "DISABLED"
		return s.keepInsightRule(b, scope, r)
	})
}

func (s *Service) deleteInsightRules(_ context.Context, scope aws.Scope, in *insightRuleNames) (*insightRuleFailures, error) {
	return s.eachInsightRule(scope, in, func(b *documents.Batch, r *insightRule) error {
		b.Delete(s.table, insightKey(scope, r.Name))
		return nil
	})
}
