package events

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine/clock"
	"stepback/local/services/documents"
	"stepback/local/services/eventpattern"
	"stepback/local/services/schedule"
)

// The states of a rule.
const (
	enabled  = "ENABLED"
	disabled = "DISABLED"
)

// maxRules is the maximum number of rules per bus.
const maxRules = 300

// ruleRecord is a rule as it is stored.
type ruleRecord struct {
	Account, Region, Bus, Name string
	Description                string `json:",omitempty"`
	Pattern                    string `json:",omitempty"`
	Schedule                   string `json:",omitempty"`
	RoleArn                    string `json:",omitempty"`
	State                      string
	Tags                       map[string]string `json:",omitempty"`
	Targets                    []json.RawMessage `json:",omitempty"` // verbatim
	// From is the start of the intervals of a rate expression, in milliseconds since 1970.
	From int64 `json:",omitempty"`
}

// rule is a compiled rule. Rules in use by matching are never changed, only replaced.
type rule struct {
	ruleRecord
	arn      string
	pattern  *eventpattern.Pattern
	schedule schedule.Schedule
	targets  []*target
	timer    *clock.Timer
	// last scheduled time for which the targets were called, in milliseconds since 1970; stored separately
	fired int64
}

func (r *rule) scope() aws.Scope { return aws.Scope{Account: r.Account, Region: r.Region} }

func (r *rule) key() string {
	return "rule/" + r.Account + "/" + r.Region + "/" + r.Bus + "/" + r.Name
}

func (r *rule) firedKey() string { return "fired/" + r.key() }

// ruleARN returns the ARN of a rule. It omits the default bus.
func ruleARN(scope aws.Scope, bus, name string) string {
	if bus != defaultBus {
		name = bus + "/" + name
	}
	return scope.ARN("events", "rule/"+name)
}

// newRule compiles a stored rule.
func newRule(record ruleRecord) (*rule, error) {
	r := &rule{ruleRecord: record}
	r.arn = ruleARN(r.scope(), r.Bus, r.Name)
	if r.Pattern != "" {
		p, err := eventpattern.Compile(r.Pattern, eventpattern.Limits{})
		if err != nil {
			return nil, invalidPattern(err)
		}
		r.pattern = p
	}
	if r.Schedule != "" {
		var err error
		if r.schedule, err = schedule.Parse(r.Schedule, schedule.Style{}); err != nil {
			return nil, invalid("Parameter ScheduleExpression is not valid.")
		}
	}
	for _, text := range r.Targets {
		t, err := newTarget(r, text)
		if err != nil {
			return nil, err
		}
		r.targets = append(r.targets, t)
	}
	return r, nil
}

func invalidPattern(err error) error {
	var wrong *eventpattern.Error
	if errors.As(err, &wrong) {
		return &aws.Error{Code: "InvalidEventPatternException", Message: "Event pattern is not valid. Reason: " + wrong.Reason}
	}
	return err
}

// load reads all stored data.
func (s *Service) load() error {
	if err := s.table.Scan("bus/", func(_ string, text []byte) error {
		b := &bus{rules: map[string]*rule{}, kept: true}
		if err := json.Unmarshal(text, &b.busRecord); err != nil {
			return err
		}
		s.buses[busKey{b.scope(), b.Name}] = b
		return nil
	}); err != nil {
		return err
	}
	if err := s.table.Scan("rule/", func(_ string, text []byte) error {
		var record ruleRecord
		if err := json.Unmarshal(text, &record); err != nil {
			return err
		}
		r, err := newRule(record)
		if err != nil {
			return err
		}
		b, err := s.find(r.scope(), r.Bus)
		if err != nil {
			return err
		}
		b.rules[r.Name] = r
		fired, found, err := s.table.Get(r.firedKey())
		if err == nil && found {
			r.fired, err = strconv.ParseInt(string(fired), 10, 64)
		}
		return err
	}); err != nil {
		return err
	}
	for _, b := range s.buses {
		b.activate()
	}
	return s.loadArchives()
}

// rule returns a rule and its bus. mu is held for writing.
func (s *Service) rule(scope aws.Scope, busName, name string) (*bus, *rule, error) {
	b, err := s.find(scope, busName)
	if err != nil {
		return nil, nil, err
	}
	r := b.rules[name]
	if r == nil {
		return b, nil, notFound("Rule %s does not exist on EventBus %s.", name, b.Name)
	}
	return b, r, nil
}

// replace stores a new version of a rule and activates it. mu is held.
func (s *Service) replace(b *bus, record ruleRecord) (*rule, error) {
	r, err := newRule(record)
	if err != nil {
		return nil, err
	}
	if err := s.keepJSON(r.key(), r.ruleRecord); err != nil {
		return nil, err
	}
	if before := b.rules[r.Name]; before != nil {
		before.unplan()
		r.fired = before.fired
	}
	b.rules[r.Name] = r
	b.activate()
	s.plan(r)
	return r, nil
}

type putRuleRequest struct {
	Name               string
	ScheduleExpression string
	EventPattern       string
	State              string
	Description        string
	RoleArn            string
	Tags               []tag
	EventBusName       string
}

type ruleARNAnswer struct {
	RuleArn string
}

func (s *Service) putRule(_ context.Context, scope aws.Scope, in *putRuleRequest) (*ruleARNAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.find(scope, in.EventBusName)
	if err != nil {
		return nil, err
	}
	if in.EventPattern == "" && in.ScheduleExpression == "" {
		return nil, invalid("Parameter(s) EventPattern or ScheduleExpression must be specified.")
	}
	if in.ScheduleExpression != "" && b.Name != defaultBus {
		return nil, invalid("ScheduleExpression is supported only on the default event bus.")
	}
	record := ruleRecord{Account: b.Account, Region: b.Region, Bus: b.Name, Name: in.Name, Description: in.Description,
		Pattern: in.EventPattern, Schedule: in.ScheduleExpression, RoleArn: in.RoleArn, State: in.State,
		Tags: tagsOf(in.Tags), From: s.now().UnixMilli()}
	if record.State == "" {
		record.State = enabled
	}
	if before := b.rules[in.Name]; before != nil {
		record.Tags, record.Targets = before.Tags, before.Targets
		if before.Schedule == record.Schedule && before.State == record.State {
			record.From = before.From
		}
	} else if len(b.rules) >= maxRules {
		return nil, &aws.Error{Code: "LimitExceededException",
			Message: "The requested resource exceeds the maximum number allowed."}
	}
	r, err := s.replace(b, record)
	if err != nil {
		return nil, err
	}
	return &ruleARNAnswer{r.arn}, nil
}

type ruleRequest struct {
	Name, EventBusName string
}

type ruleAnswer struct {
	Name, Arn          string
	EventPattern       string `json:",omitempty"`
	ScheduleExpression string `json:",omitempty"`
	State              string
	Description        string `json:",omitempty"`
	RoleArn            string `json:",omitempty"`
	EventBusName       string
	ManagedBy          string `json:",omitempty"` // a service; no service manages rules here
}

type describeRuleAnswer struct {
	ruleAnswer
	CreatedBy string
}

func (r *rule) shown() ruleAnswer {
	return ruleAnswer{Name: r.Name, Arn: r.arn, EventPattern: r.Pattern, ScheduleExpression: r.Schedule, State: r.State,
		Description: r.Description, RoleArn: r.RoleArn, EventBusName: r.Bus}
}

func (s *Service) describeRule(_ context.Context, scope aws.Scope, in *ruleRequest) (*describeRuleAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, r, err := s.rule(scope, in.EventBusName, in.Name)
	if err != nil {
		return nil, err
	}
	return &describeRuleAnswer{r.shown(), r.Account}, nil
}

func (s *Service) deleteRule(_ context.Context, scope aws.Scope, in *ruleRequest) (*none, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.find(scope, in.EventBusName)
	if err != nil {
		return nil, err
	}
	r := b.rules[in.Name]
	if r == nil {
		return &none{}, nil
	}
	if len(r.targets) > 0 {
		return nil, invalid("Rule can't be deleted since it has targets.")
	}
	if err := s.o.Store.Write(func(batch *documents.Batch) error {
		batch.Delete(s.table, r.key())
		batch.Delete(s.table, r.firedKey())
		return nil
	}); err != nil {
		return nil, err
	}
	r.unplan()
	delete(b.rules, r.Name)
	b.activate()
	return &none{}, nil
}

func (s *Service) enableRule(_ context.Context, scope aws.Scope, in *ruleRequest) (*none, error) {
	return s.setState(scope, in, enabled)
}

func (s *Service) disableRule(_ context.Context, scope aws.Scope, in *ruleRequest) (*none, error) {
	return s.setState(scope, in, disabled)
}

func (s *Service) setState(scope aws.Scope, in *ruleRequest, state string) (*none, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, r, err := s.rule(scope, in.EventBusName, in.Name)
	if err != nil {
		return nil, err
	}
	if r.State == state {
		return &none{}, nil
	}
	record := r.ruleRecord
	record.State, record.From = state, s.now().UnixMilli()
	_, err = s.replace(b, record)
	return &none{}, err
}

type listRulesRequest struct {
	paged
	NamePrefix, EventBusName string
}

type rulesAnswer struct {
	Rules     []ruleAnswer
	NextToken string `json:",omitempty"`
}

// sorted returns the rules of the bus, sorted by name. mu is held.
func (b *bus) sorted() []*rule {
	all := make([]*rule, 0, len(b.rules))
	for _, r := range b.rules {
		all = append(all, r)
	}
	slices.SortFunc(all, func(x, y *rule) int { return strings.Compare(x.Name, y.Name) })
	return all
}

func (s *Service) listRules(_ context.Context, scope aws.Scope, in *listRulesRequest) (*rulesAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.find(scope, in.EventBusName)
	if err != nil {
		return nil, err
	}
	all := []ruleAnswer{}
	for _, r := range b.sorted() {
		if strings.HasPrefix(r.Name, in.NamePrefix) {
			all = append(all, r.shown())
		}
	}
	part, next, err := page(s, in.paged, []string{"ListRules", b.arn(), in.NamePrefix}, all,
		func(r ruleAnswer) string { return r.Name })
	return &rulesAnswer{part, next}, err
}

type listByTargetRequest struct {
	paged
	TargetArn, EventBusName string
}

type ruleNamesAnswer struct {
	RuleNames []string
	NextToken string `json:",omitempty"`
}

func (s *Service) listRuleNamesByTarget(_ context.Context, scope aws.Scope, in *listByTargetRequest) (*ruleNamesAnswer,
	error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.find(scope, in.EventBusName)
	if err != nil {
		return nil, err
	}
	all := []string{}
	for _, r := range b.sorted() {
		if slices.ContainsFunc(r.targets, func(t *target) bool { return t.ARN == in.TargetArn }) {
			all = append(all, r.Name)
		}
	}
	part, next, err := page(s, in.paged, []string{"ListRuleNamesByTarget", b.arn(), in.TargetArn}, all,
		func(name string) string { return name })
	return &ruleNamesAnswer{part, next}, err
}

func timeOf(ms int64) server.Time {
	if ms == 0 {
		return server.Time{}
	}
	return server.Time(time.UnixMilli(ms).UTC())
}
