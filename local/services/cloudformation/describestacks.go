package cloudformation

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"stepback/aws"
	"stepback/aws/server"
)

// described is a stack as in the response of DescribeStacks.
type described struct {
	ID                          string      `json:"StackId"`
	Name                        string      `json:"StackName"`
	ChangeSetID                 string      `json:"ChangeSetId,omitempty"`
	Description                 string      `json:",omitempty"`
	Parameters                  []parameter `json:",omitempty"`
	CreationTime                server.Time
	DeletionTime                server.Time `json:",omitzero"`
	LastUpdatedTime             server.Time `json:",omitzero"`
	RollbackConfiguration       rollbackConfiguration
	StackStatus                 string
	StackStatusReason           string `json:",omitempty"`
	DisableRollback             bool
	NotificationARNs            []string
	TimeoutInMinutes            int      `json:",omitempty"`
	Capabilities                []string `json:",omitempty"`
	Outputs                     []output `json:",omitempty"`
	RoleARN                     string   `json:",omitempty"`
	Tags                        []tag
	EnableTerminationProtection *bool           `json:",omitempty"` // absent for deleted stacks
	ParentID                    string          `json:"ParentId,omitempty"`
	RootID                      string          `json:"RootId,omitempty"`
	DriftInformation            driftInfo       `json:"DriftInformation"`
	LastOperations              []lastOperation `json:",omitempty"`
}

type driftInfo struct {
	Status string      `json:"StackDriftStatus"`
	Last   server.Time `json:"LastCheckTimestamp,omitzero"`
}

func timeOf(ms int64) server.Time {
	if ms == 0 {
		return server.Time{}
	}
	return server.Time(instant(ms))
}

func (st *stack) drift() driftInfo {
	status := st.Drift
	if status == "" {
		status = "NOT_CHECKED"
	}
	return driftInfo{status, timeOf(st.DriftAt)}
}

const masked = "****"

// shown returns the parameters of a deployed template, with those marked NoEcho masked.
func (s *Service) shown(of *deployed) []parameter {
	list := []parameter{}
	hidden := map[string]bool{}
	order := []string{}
	if _, head, err := declared(of.Template); err == nil {
		for _, p := range head.Parameters {
			hidden[p.Name] = p.NoEcho
			order = append(order, p.Name)
		}
	} else {
		order = slices.Sorted(maps.Keys(of.Values))
	}
	for _, k := range order {
		v, ok := of.Values[k]
		if !ok {
			continue
		}
		if hidden[k] {
			v = masked
		}
		list = append(list, parameter{Key: k, Value: v, Resolved: of.Resolved[k]})
	}
	return list
}

func (s *Service) describe(st *stack) described {
	of := &st.deployed
	if st.Template == "" && st.Operation != nil && st.Operation.Kind == opCreate {
		of = &st.Operation.Target
	}
	d := described{ID: st.ID, Name: st.Name, Description: of.Description,
		Parameters: s.shown(of), CreationTime: timeOf(st.Created), DeletionTime: timeOf(st.Deleted),
		LastUpdatedTime: timeOf(st.Updated), StackStatus: st.Status, StackStatusReason: st.Reason,
		DisableRollback: st.DisableRollback, NotificationARNs: orEmpty(of.NotificationARNs),
		TimeoutInMinutes: st.TimeoutInMinutes, Capabilities: of.Capabilities, Outputs: st.Outputs,
		RoleARN: of.RoleARN, Tags: tagsIn(of.Tags), RollbackConfiguration: of.Rollback, ParentID: st.Parent,
		RootID: st.Root, DriftInformation: st.drift(), LastOperations: st.Last}
	if !st.gone() {
		d.EnableTerminationProtection, d.ChangeSetID = &st.Protected, st.ChangeSet
	}
	return d
}

func orEmpty(l []string) []string {
	if l == nil {
		return []string{}
	}
	return l
}

type oneStack struct {
	Name  string `json:"StackName"`
	Token string `json:"NextToken"`
}

type describedStacks struct {
	Stacks []described
	Next   string `json:"NextToken,omitempty"`
}

const stacksPage = 100

func (s *Service) describeStacks(_ context.Context, scope aws.Scope, in *oneStack) (*describedStacks, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in.Name != "" {
		st, err := s.find(scope, in.Name)
		if err != nil {
			return nil, err
		}
		return &describedStacks{Stacks: []described{s.describe(st)}}, nil
	}
	var list []*stack
	for _, st := range s.all(scope) {
		if !st.gone() {
			list = append(list, st)
		}
	}
	page, next, err := pageOf(list, in.Token, stacksPage)
	out := &describedStacks{Stacks: []described{}, Next: next}
	for _, st := range page {
		out.Stacks = append(out.Stacks, s.describe(st))
	}
	return out, err
}

// pageOf returns one page of a list. The token is the index after the page's last element; it is valid as long as
// nothing is added.
func pageOf[T any](list []T, token string, size int) (page []T, next string, err error) {
	start := 0
	if token != "" {
		if _, err := fmt.Sscanf(token, "%d", &start); err != nil || start < 0 || start > len(list) {
			return nil, "", invalid("The pagination token is not valid: %s", token)
		}
	}
	end := min(start+size, len(list))
	if end < len(list) {
		next = strconv.Itoa(end)
	}
	return list[start:end], next, nil
}

type listRequest struct {
	Token  string   `json:"NextToken"`
	Filter []string `json:"StackStatusFilter"`
}

type summary struct {
	ID               string `json:"StackId"`
	Name             string `json:"StackName"`
	Description      string `json:"TemplateDescription,omitempty"`
	CreationTime     server.Time
	LastUpdatedTime  server.Time `json:",omitzero"`
	DeletionTime     server.Time `json:",omitzero"`
	StackStatus      string
	Reason           string          `json:"StackStatusReason,omitempty"`
	ParentID         string          `json:"ParentId,omitempty"`
	RootID           string          `json:"RootId,omitempty"`
	DriftInformation driftInfo       `json:"DriftInformation"`
	LastOperations   []lastOperation `json:",omitempty"`
}

type summaries struct {
	Stacks []summary `json:"StackSummaries"`
	Next   string    `json:"NextToken,omitempty"`
}

func (s *Service) listStacks(_ context.Context, scope aws.Scope, in *listRequest) (*summaries, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*stack
	for _, st := range s.all(scope) {
		if len(in.Filter) == 0 || slices.Contains(in.Filter, st.Status) {
			list = append(list, st)
		}
	}
	page, next, err := pageOf(list, in.Token, stacksPage)
	out := &summaries{Stacks: []summary{}, Next: next}
	for _, st := range page {
		out.Stacks = append(out.Stacks, summary{ID: st.ID, Name: st.Name, Description: st.Description,
			CreationTime: timeOf(st.Created), LastUpdatedTime: timeOf(st.Updated), DeletionTime: timeOf(st.Deleted),
			StackStatus: st.Status, Reason: st.Reason, ParentID: st.Parent, RootID: st.Root,
			DriftInformation: st.drift(),
			LastOperations:   st.Last})
	}
	return out, err
}

type eventsAnswer struct {
	Events []map[string]any `json:"StackEvents"`
	Next   string           `json:"NextToken,omitempty"`
}

func (s *Service) describeStackEvents(_ context.Context, scope aws.Scope, in *oneStack) (*eventsAnswer, error) {
	if in.Name == "" {
		return nil, invalid("1 validation error detected: Value null at 'stackName' failed to satisfy constraint: Member must not be null")
	}
	s.mu.Lock()
	st, err := s.find(scope, in.Name)
	if err != nil {
		s.mu.Unlock()
		// Only this operation uses this wording; cdk destroy waits for it.
		return nil, invalid("Stack [%s] does not exist", in.Name)
	}
	n := st.Events
	s.mu.Unlock()
	if in.Token != "" {
		if _, err := fmt.Sscanf(in.Token, "%d", &n); err != nil {
			return nil, invalid("The pagination token is not valid: %s", in.Token)
		}
	}
	const size = 100
	out := &eventsAnswer{Events: []map[string]any{}}
	for ; n > 0 && len(out.Events) < size; n-- {
		value, found, err := s.table.Get(st.eventKey(n))
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		e, err := shownEvent(st, value)
		if err != nil {
			return nil, err
		}
		out.Events = append(out.Events, e)
	}
	if n > 0 {
		out.Next = strconv.Itoa(n)
	}
	return out, nil
}
