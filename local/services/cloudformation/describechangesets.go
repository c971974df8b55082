package cloudformation

import (
	"context"
	"sort"

	"stepback/aws"
	"stepback/aws/server"
)

type shownChangeSet struct {
	Name                  string `json:"ChangeSetName"`
	ID                    string `json:"ChangeSetId"`
	StackID               string `json:"StackId"`
	StackName             string
	Description           string      `json:",omitempty"`
	Parameters            []parameter `json:",omitempty"`
	CreationTime          server.Time
	ExecutionStatus       string
	Status                string
	StatusReason          string `json:",omitempty"`
	NotificationARNs      []string
	RollbackConfiguration rollbackConfiguration
	Capabilities          []string
	Tags                  []tag `json:",omitempty"`
	Changes               []map[string]any
	Next                  string `json:"NextToken,omitempty"`
	Nested                bool   `json:"IncludeNestedStacks"`
	Import                bool   `json:"ImportExistingResources,omitempty"`
	OnStackFailure        string `json:",omitempty"`
}

const changesPage = 100

func (s *Service) describeChangeSet(_ context.Context, scope aws.Scope, in *changeSetAsk) (*shownChangeSet, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.findSet(scope, in.ChangeSet, in.Stack)
	if err != nil {
		return nil, err
	}
	page, next, err := pageOf(c.Changes, in.Token, changesPage)
	if err != nil {
		return nil, err
	}
	out := &shownChangeSet{Name: c.Name, ID: c.ID, StackID: c.StackID, StackName: c.StackName,
		Description: c.Description,
		Parameters:  s.shown(&c.Target), CreationTime: timeOf(c.Created), ExecutionStatus: c.Execution,
		Status:       c.Status,
		StatusReason: c.Reason, RollbackConfiguration: c.Target.Rollback,
		NotificationARNs: orEmpty(c.Target.NotificationARNs),
		Capabilities:     orEmpty(c.Target.Capabilities), Tags: tagsIn(c.Target.Tags), Changes: []map[string]any{},
		Next:   next,
		Nested: c.Nested, Import: c.Import, OnStackFailure: c.OnFailure}
	for i := range page {
		out.Changes = append(
			out.Changes,
			map[string]any{"Type": "Resource", "ResourceChange": page[i].shown(in.Values)},
		)
	}
	return out, nil
}

// shown returns a change as in the response of DescribeChangeSet; values are included only on request.
func (ch *change) shown(values bool) map[string]any {
	m := map[string]any{"Action": ch.Action, "LogicalResourceId": ch.LogicalID, "ResourceType": ch.Type}
	put := func(to map[string]any, name, v string) {
		if v != "" {
			to[name] = v
		}
	}
	put(m, "PhysicalResourceId", ch.Physical)
	if values && ch.Action == "Add" {
		put(m, "Replacement", "True") // as recorded from AWS, although nothing is replaced
	}
	put(m, "Replacement", ch.Replacement)
	put(m, "PolicyAction", ch.Policy)
	m["Scope"] = orEmpty(ch.Scope)
	if values {
		put(m, "BeforeContext", ch.Before)
		put(m, "AfterContext", ch.After)
	}
	details := make([]map[string]any, 0, len(ch.Details))
	for _, d := range ch.Details {
		if d.Valued && !values {
			continue
		}
		target := map[string]any{"Attribute": d.Attribute}
		put(target, "Name", d.Name)
		put(target, "RequiresRecreation", d.Recreation)
		if values {
			put(target, "Path", d.Path)
			if d.Before != nil {
				target["BeforeValue"] = *d.Before
			}
			if d.After != nil {
				target["AfterValue"] = *d.After
			}
			put(target, "AttributeChangeType", d.Kind)
		}
		one := map[string]any{"Target": target, "Evaluation": d.Evaluation, "ChangeSource": d.Source}
		put(one, "CausingEntity", d.Cause)
		details = append(details, one)
	}
	m["Details"] = details
	return m
}

type changeSetSummary struct {
	StackID         string `json:"StackId"`
	StackName       string
	ID              string `json:"ChangeSetId"`
	Name            string `json:"ChangeSetName"`
	ExecutionStatus string
	Status          string
	StatusReason    string `json:",omitempty"`
	CreationTime    server.Time
	Description     string `json:",omitempty"`
	Nested          bool   `json:"IncludeNestedStacks"`
}

type changeSetSummaries struct {
	Summaries []changeSetSummary
	Next      string `json:"NextToken,omitempty"`
}

func (s *Service) listChangeSets(_ context.Context, scope aws.Scope, in *oneStack) (*changeSetSummaries, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, err := s.find(scope, in.Name)
	if err != nil {
		return nil, err
	}
	var list []*changeSet
	for _, c := range s.sets {
		if c.StackID == st.ID {
			list = append(list, c)
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].ID < list[j].ID })
	page, next, err := pageOf(list, in.Token, stacksPage)
	out := &changeSetSummaries{Summaries: []changeSetSummary{}, Next: next}
	for _, c := range page {
		out.Summaries = append(out.Summaries, changeSetSummary{c.StackID, c.StackName, c.ID, c.Name,
			c.Execution, c.Status,
			c.Reason, timeOf(c.Created), c.Description, c.Nested})
	}
	return out, err
}
