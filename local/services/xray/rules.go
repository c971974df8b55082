package xray

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/jsonvalue"
	"stepback/local/services/documents"
)

// rule is a sampling rule: it determines how many of the matching requests are traced.
type rule struct {
	RuleName, ResourceARN, ServiceName, ServiceType, Host, HTTPMethod, URLPath string
	RuleARN                                                                    string
	Priority, ReservoirSize, Version                                           int
	FixedRate                                                                  float64
	Attributes                                                                 map[string]string `json:",omitempty"`
	SamplingRateBoost                                                          json.RawMessage   `json:",omitempty"`
}

// ruleRecord is a sampling rule with its creation and modification times.
type ruleRecord struct {
	SamplingRule          rule
	CreatedAt, ModifiedAt server.Time
}

const (
	defaultRule = "Default"
	maxRules    = 26
)

func ruleARN(scope aws.Scope, name string) string { return scope.ARN("xray", "sampling-rule/"+name) }

// all returns the rules of a scope, ordered by priority. The default rule comes last.
func (s *Service) all(scope aws.Scope) ([]ruleRecord, error) {
	list := []ruleRecord{}
	known := false
	err := s.rules.Scan(prefix(scope), func(_ string, text []byte) error {
		var r ruleRecord
		err := decode(text, &r)
		known = known || r.SamplingRule.RuleName == defaultRule
		list = append(list, r)
		return err
	})
	if !known {
		began := server.Time(time.Unix(0, 0).UTC())
		list = append(
			list,
			ruleRecord{
				rule{RuleName: defaultRule, RuleARN: ruleARN(scope, defaultRule), ResourceARN: "*", ServiceName: "*",
					ServiceType: "*", Host: "*", HTTPMethod: "*", URLPath: "*", Priority: 10000, ReservoirSize: 1, Version: 1, FixedRate: 0.05},
				began,
				began,
			},
		)
	}
	slices.SortStableFunc(list, func(a, b ruleRecord) int {
		if a.SamplingRule.Priority != b.SamplingRule.Priority {
			return a.SamplingRule.Priority - b.SamplingRule.Priority
		}
		return strings.Compare(a.SamplingRule.RuleName, b.SamplingRule.RuleName)
	})
	return list, err
}

type oneRule struct {
	RuleName, RuleARN string
	SamplingRule      jsonvalue.Value
	Update            jsonvalue.Value `json:"SamplingRuleUpdate"`
}

type ruleAnswer struct {
	SamplingRuleRecord ruleRecord
}

// name returns the name of the rule that a request refers to.
func (in *oneRule) name() (string, error) {
	if (in.RuleName == "") == (in.RuleARN == "") {
		return "", invalid("Either RuleName or RuleARN must be specified, but not both")
	}
	if in.RuleName != "" {
		return in.RuleName, nil
	}
	return in.RuleARN[strings.LastIndexByte(in.RuleARN, '/')+1:], nil
}

func (s *Service) createRule(_ context.Context, scope aws.Scope, in *oneRule) (*ruleAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := server.Time(s.o.Now())
	r := ruleRecord{CreatedAt: now, ModifiedAt: now}
	if err := json.Unmarshal([]byte(in.SamplingRule.JSON()), &r.SamplingRule); err != nil {
		return nil, invalid("Invalid sampling rule: %v", err)
	}
	list, err := s.all(scope)
	if err != nil {
		return nil, err
	}
	name := r.SamplingRule.RuleName
	switch {
	case name == "":
		return nil, invalid("RuleName must be specified")
	case r.SamplingRule.Version != 1:
		return nil, invalid("Version must be 1")
	case slices.ContainsFunc(list, func(o ruleRecord) bool { return o.SamplingRule.RuleName == name }):
		return nil, invalid("Sampling rule %s already exists.", name)
	case len(list) >= maxRules:
		return nil, &aws.Error{
			Code:    "RuleLimitExceededException",
			Message: "You have reached the maximum number of sampling rules.",
		}
	}
	r.SamplingRule.RuleARN = ruleARN(scope, name)
	return &ruleAnswer{r}, s.keepRule(scope, &r)
}

func (s *Service) keepRule(scope aws.Scope, r *ruleRecord) error {
	delete(s.sampler.rules, scope)
	return s.o.Store.Write(func(b *documents.Batch) error {
		text, err := json.Marshal(r)
		if err == nil {
			b.Put(s.rules, prefix(scope)+r.SamplingRule.RuleName, text)
		}
		return err
	})
}

// find returns the rule with a name.
func (s *Service) find(scope aws.Scope, name string) (*ruleRecord, error) {
	list, err := s.all(scope)
	for i := range list {
		if list[i].SamplingRule.RuleName == name {
			return &list[i], err
		}
	}
	if err != nil {
		return nil, err
	}
	return nil, invalid("Sampling rule does not exist.")
}

func (s *Service) updateRule(_ context.Context, scope aws.Scope, in *oneRule) (*ruleAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var named oneRule
	into := &struct{ RuleName, RuleARN *string }{&named.RuleName, &named.RuleARN}
	if err := json.Unmarshal([]byte(in.Update.JSON()), into); err != nil {
		return nil, invalid("Invalid sampling rule: %v", err)
	}
	name, err := named.name()
	if err != nil {
		return nil, err
	}
	r, err := s.find(scope, name)
	if err != nil {
		return nil, err
	}
	if v, ok := in.Update.Get("Attributes"); ok && !v.IsNull() {
		r.SamplingRule.Attributes = nil
	}
	if err := json.Unmarshal([]byte(in.Update.JSON()), &r.SamplingRule); err != nil {
		return nil, invalid("Invalid sampling rule: %v", err)
	}
	r.SamplingRule.RuleName, r.SamplingRule.RuleARN, r.ModifiedAt = name, ruleARN(scope, name), server.Time(s.o.Now())
	return &ruleAnswer{*r}, s.keepRule(scope, r)
}

func (s *Service) deleteRule(_ context.Context, scope aws.Scope, in *oneRule) (*ruleAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, err := in.name()
	if err != nil {
		return nil, err
	}
	if name == defaultRule {
		return nil, invalid("The default sampling rule cannot be deleted.")
	}
	r, err := s.find(scope, name)
	if err != nil {
		return nil, err
	}
	delete(s.sampler.rules, scope)
	return &ruleAnswer{*r}, s.o.Store.Write(func(b *documents.Batch) error {
		b.Delete(s.rules, prefix(scope)+name)
		return nil
	})
}

type rulesAnswer struct {
	SamplingRuleRecords []ruleRecord
	NextToken           string `json:",omitempty"`
}

func (s *Service) getRules(_ context.Context, scope aws.Scope, _ *none) (*rulesAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, err := s.all(scope)
	return &rulesAnswer{SamplingRuleRecords: list}, err
}

type targetsRequest struct {
	Statistics []struct{ RuleName string } `json:"SamplingStatisticsDocuments"`
}

type target struct {
	RuleName       string
	FixedRate      float64
	ReservoirQuota int
	QuotaTTL       server.Time `json:"ReservoirQuotaTTL"`
	Interval       int
	SamplingBoost  json.RawMessage `json:",omitempty"`
}

type unprocessedStatistics struct {
	RuleName, ErrorCode, Message string
}

type targetsAnswer struct {
	SamplingTargetDocuments    []target
	LastRuleModification       server.Time
	UnprocessedStatistics      []unprocessedStatistics
	UnprocessedBoostStatistics []unprocessedStatistics
}

// seconds is the interval at which clients request their sampling targets.
const seconds = 10

func (s *Service) getTargets(_ context.Context, scope aws.Scope, in *targetsRequest) (*targetsAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, err := s.all(scope)
	out := &targetsAnswer{SamplingTargetDocuments: []target{}, UnprocessedStatistics: []unprocessedStatistics{},
		UnprocessedBoostStatistics: []unprocessedStatistics{}}
	for _, r := range list {
		if time.Time(out.LastRuleModification).Before(time.Time(r.ModifiedAt)) {
			out.LastRuleModification = r.ModifiedAt
		}
	}
	for _, asked := range in.Statistics {
		i := slices.IndexFunc(list, func(r ruleRecord) bool { return r.SamplingRule.RuleName == asked.RuleName })
		if i < 0 {
			out.UnprocessedStatistics = append(
				out.UnprocessedStatistics,
				unprocessedStatistics{asked.RuleName, "400", "Unknown rule"},
			)
			continue
		}
		r := list[i].SamplingRule
		out.SamplingTargetDocuments = append(
			out.SamplingTargetDocuments,
			target{r.RuleName, r.FixedRate, r.ReservoirSize,
				server.Time(s.o.Now().Add(seconds * time.Second)), seconds, nil},
		)
	}
	return out, err
}
