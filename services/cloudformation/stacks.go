package cloudformation

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"stepback/aws"
	"stepback/aws/server"
)

var stackName = regexp.MustCompile(`^[a-zA-Z][-a-zA-Z0-9]{0,127}$`)

type tag struct{ Key, Value string }

func tagsOf(list []tag) map[string]string {
	m := map[string]string{}
	for _, t := range list {
		m[t.Key] = t.Value
	}
	return m
}

func tagsIn(m map[string]string) []tag {
	list := make([]tag, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		list = append(list, tag{k, m[k]})
	}
	return list
}

// newStack makes a stack that nobody knows yet.
func (s *Service) newStack(scope aws.Scope, name string) *stack {
	return &stack{Account: scope.Account, Region: scope.Region, Name: name,
		ID: scope.ARN("cloudformation", "stack/"+name+"/"+aws.NewID()), Created: s.now().UnixMilli(),
		resources: map[string]*record{}, ended: make(chan struct{})}
}

// start begins an operation of a stack.
func (s *Service) start(st *stack, op *operation, status string, minutes int) error {
	return s.change(func(k *keeper) error {
		if st.busy() {
			return invalid("Stack:%s is in %s state and can not be updated.", st.ID, st.Status)
		}
		if s.stacks[st.ID] == nil {
			for _, other := range s.stacks {
				if other.Name == st.Name && other.scope() == st.scope() && !other.gone() {
					return &aws.Error{Code: "AlreadyExistsException", Message: fmt.Sprintf("Stack [%s] already exists", st.Name)}
				}
			}
			s.stacks[st.ID] = st
		}
		s.begin(k, st, op, status, "User Initiated", minutes)
		return nil
	})
}

var lastTypes = map[string]string{opCreate: "CREATE_STACK", opUpdate: "UPDATE_STACK", opDelete: "DELETE_STACK"}

// begin gives a stack an operation. mu is held.
func (s *Service) begin(k *keeper, st *stack, op *operation, status, reason string, minutes int) {
	op.ID = aws.NewID()
	if st.Paused != nil && op.Kind == opUpdate && st.Paused.Kind == opCreate {
		op.DisableRollback = true // there is no deployment to go back to
	}
	if minutes > 0 {
		st.TimeoutInMinutes = minutes
		op.Deadline = s.now().Add(time.Duration(minutes) * time.Minute).UnixMilli()
	}
	st.Paused, st.Operation = nil, op
	st.Last = append([]lastOperation{{lastTypes[op.Kind], op.ID}}, st.Last...)
	st.Last = st.Last[:min(len(st.Last), 5)]
	if op.Kind != opDelete {
		k.text(st, textTarget, op.Target.Template)
		k.text(st, textExpanded, op.Target.Processed)
	}
	if op.Kind == opUpdate {
		st.Updated = s.now().UnixMilli()
	}
	k.status(st, status, reason)
	s.launch(st)
}

type stackRequest struct {
	Name string `json:"StackName"`
	source
	Parameters       []parameter
	Capabilities     []string
	ResourceTypes    []string
	NotificationARNs []string
	RoleARN          string
	Tags             *[]tag
	Token            string `json:"ClientRequestToken"`
	DisableRollback  *bool
	OnFailure        string
	TimeoutInMinutes int
	Policy           *string `json:"StackPolicyBody"`
	PolicyURL        string  `json:"StackPolicyURL"`
	DuringBody       string  `json:"StackPolicyDuringUpdateBody"`
	DuringURL        string  `json:"StackPolicyDuringUpdateURL"`
	Protection       bool    `json:"EnableTerminationProtection"`
	RetainNew        bool    `json:"RetainExceptOnCreate"`
	Rollback         *struct {
		Triggers []any `json:"RollbackTriggers"`
	} `json:"RollbackConfiguration"`
}

type stackID struct {
	ID          string `json:"StackId"`
	OperationID string `json:"OperationId,omitempty"`
}

// refused refuses what is not done here, by its name.
func (in *stackRequest) refused() error {
	switch {
	case len(in.ResourceTypes) > 0:
		return invalid("ResourceTypes is not supported here")
	case in.PolicyURL != "" || in.DuringURL != "":
		return invalid("StackPolicyURL and StackPolicyDuringUpdateURL are not supported here: give the policy in the request")
	case in.Rollback != nil && len(in.Rollback.Triggers) > 0:
		return invalid("RollbackTriggers of RollbackConfiguration are not supported here")
	}
	return nil
}

func (s *Service) createStack(ctx context.Context, scope aws.Scope, in *stackRequest) (*stackID, error) {
	if err := in.refused(); err != nil {
		return nil, err
	}
	if !stackName.MatchString(in.Name) {
		return nil, invalid("1 validation error detected: Value '%s' at 'stackName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z][-a-zA-Z0-9]*", in.Name)
	}
	if in.OnFailure != "" && in.DisableRollback != nil {
		return nil, invalid("You can specify either DisableRollback or OnFailure, but not both")
	}
	s.mu.Lock()
	old, err := s.find(scope, in.Name)
	s.mu.Unlock()
	if err == nil {
		if in.Token != "" && old.busy() && old.Operation.Token == in.Token {
			return &stackID{ID: old.ID, OperationID: old.Operation.ID}, nil
		}
		return nil, &aws.Error{Code: "AlreadyExistsException", Message: fmt.Sprintf("Stack [%s] already exists", in.Name)}
	}
	to, c, err := s.target(ctx, scope, in, nil)
	if err != nil {
		return nil, err
	}
	if err := c.acknowledged(in.Capabilities, false); err != nil {
		return nil, err
	}
	st := s.newStack(scope, in.Name)
	st.Protected = in.Protection
	if in.Policy != nil {
		if st.Policy, err = checkedPolicy(*in.Policy); err != nil {
			return nil, err
		}
	}
	op := &operation{Kind: opCreate, Phase: phaseApply, Target: to, Token: in.Token, OnFailure: in.OnFailure,
		DisableRollback: in.DisableRollback != nil && *in.DisableRollback, RetainNew: in.RetainNew}
	st.DisableRollback = op.DisableRollback
	if err := s.start(st, op, "CREATE_IN_PROGRESS", in.TimeoutInMinutes); err != nil {
		return nil, err
	}
	return &stackID{ID: st.ID, OperationID: op.ID}, nil
}

// target is what a request wants to deploy.
func (s *Service) target(ctx context.Context, scope aws.Scope, in *stackRequest, st *stack) (deployed, *compiled, error) {
	text, err := s.read(ctx, scope, in.source, st)
	if err != nil {
		return deployed{}, nil, err
	}
	to := deployed{Template: text, Capabilities: in.Capabilities, NotificationARNs: in.NotificationARNs,
		RoleARN: in.RoleARN}
	var previous *deployed
	if st != nil {
		previous = &st.deployed
		to.Tags = st.Tags
		if in.RoleARN == "" {
			to.RoleARN = st.RoleARN
		}
	}
	if in.Tags != nil {
		to.Tags = tagsOf(*in.Tags)
	}
	c, err := s.prepare(ctx, scope, &to, in.Parameters, previous)
	return to, c, err
}

// updatable are the states in which a stack can be updated.
var updatable = []string{"CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", "IMPORT_COMPLETE",
	"IMPORT_ROLLBACK_COMPLETE", "UPDATE_FAILED", "CREATE_FAILED"}

func (s *Service) updateStack(ctx context.Context, scope aws.Scope, in *stackRequest) (*stackID, error) {
	if err := in.refused(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	st, err := s.find(scope, in.Name)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if !slices.Contains(updatable, st.Status) || st.busy() {
		return nil, invalid("Stack:%s is in %s state and can not be updated.", st.ID, st.Status)
	}
	to, c, err := s.target(ctx, scope, in, st)
	if err != nil {
		return nil, err
	}
	if err := c.acknowledged(in.Capabilities, false); err != nil {
		return nil, err
	}
	if in.Policy != nil {
		policy, err := checkedPolicy(*in.Policy)
		if err != nil {
			return nil, err
		}
		if err := s.change(func(k *keeper) error { st.Policy = policy; k.stack(st); return nil }); err != nil {
			return nil, err
		}
	}
	changed, err := s.differs(ctx, st, &to)
	if err != nil {
		return nil, err
	}
	if !changed && st.Status != "UPDATE_FAILED" && st.Status != "CREATE_FAILED" {
		return nil, invalid("No updates are to be performed.")
	}
	op := &operation{Kind: opUpdate, Phase: phaseApply, Target: to, Token: in.Token, RetainNew: in.RetainNew,
		DisableRollback: in.DisableRollback != nil && *in.DisableRollback}
	if in.DuringBody != "" {
		if op.Policy, err = checkedPolicy(in.DuringBody); err != nil {
			return nil, err
		}
	}
	if err := s.start(st, op, "UPDATE_IN_PROGRESS", 0); err != nil {
		return nil, err
	}
	return &stackID{ID: st.ID, OperationID: op.ID}, nil
}

type deleteRequest struct {
	Name   string   `json:"StackName"`
	Retain []string `json:"RetainResources"`
	Token  string   `json:"ClientRequestToken"`
	Mode   string   `json:"DeletionMode"`
}

func (s *Service) deleteStack(_ context.Context, scope aws.Scope, in *deleteRequest) (*none, error) {
	return &none{}, s.change(func(k *keeper) error {
		st, err := s.find(scope, in.Name)
		if err != nil {
			if !strings.HasPrefix(in.Name, "arn:") {
				return nil // there is nothing to delete
			}
			return err
		}
		switch {
		case st.gone() || st.busy() && st.Operation.Kind == opDelete:
			return nil
		case st.Parent != "" && !s.stacks[st.Parent].gone():
			return invalid("Nested stack [%s] cannot be deleted on its own: delete its root stack [%s]", st.ID, st.Root)
		case st.Protected:
			return invalid("Stack [%s] cannot be deleted while TerminationProtection is enabled", st.Name)
		case st.busy():
			if st.Operation.Phase != phaseApply || st.Operation.Kind != opCreate {
				return invalid("Stack [%s] cannot be deleted while in status %s", st.Name, st.Status)
			}
		case len(in.Retain) > 0 && st.Status != "DELETE_FAILED":
			return invalid("Invalid operation on stack [%s]. Retain resources can be specified only when the stack is in the DELETE_FAILED state",
				st.ID)
		}
		if st.busy() { // a creation is given up and its resources are deleted
			st.Operation.OnFailure, st.Operation.DisableRollback = "DELETE", false
			k.stack(st)
			if st.giveUp != nil {
				st.giveUp(errUser)
			}
			return nil
		}
		for _, o := range st.Outputs {
			if user := s.importer(st, o.Export); user != "" {
				return invalid("Delete canceled. Cannot delete export %s as it is in use by %s.", o.Export, user)
			}
		}
		s.begin(k, st, &operation{Kind: opDelete, Phase: phaseDelete, Token: in.Token, Retain: in.Retain,
			Force: in.Mode == "FORCE_DELETE_STACK"}, "DELETE_IN_PROGRESS", "User Initiated", 0)
		return nil
	})
}

// described is a stack as DescribeStacks has it.
type described struct {
	ID                          string `json:"StackId"`
	Name                        string `json:"StackName"`
	ChangeSetID                 string `json:"ChangeSetId,omitempty"`
	Description                 string `json:",omitempty"`
	Parameters                  []parameter
	CreationTime                server.Time
	DeletionTime                server.Time `json:",omitzero"`
	LastUpdatedTime             server.Time `json:",omitzero"`
	RollbackConfiguration       struct{}
	StackStatus                 string
	StackStatusReason           string `json:",omitempty"`
	DisableRollback             bool
	NotificationARNs            []string
	TimeoutInMinutes            int `json:",omitempty"`
	Capabilities                []string
	Outputs                     []output
	RoleARN                     string `json:",omitempty"`
	Tags                        []tag
	EnableTerminationProtection bool
	ParentID                    string    `json:"ParentId,omitempty"`
	RootID                      string    `json:"RootId,omitempty"`
	DriftInformation            driftInfo `json:"DriftInformation"`
	LastOperations              []lastOperation
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

// shown are the parameters of what is deployed, those with NoEcho masked.
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
	d := described{ID: st.ID, Name: st.Name, ChangeSetID: st.ChangeSet, Description: of.Description,
		Parameters: s.shown(of), CreationTime: timeOf(st.Created), DeletionTime: timeOf(st.Deleted),
		LastUpdatedTime: timeOf(st.Updated), StackStatus: st.Status, StackStatusReason: st.Reason,
		DisableRollback: st.DisableRollback, NotificationARNs: orEmpty(of.NotificationARNs),
		TimeoutInMinutes: st.TimeoutInMinutes, Capabilities: orEmpty(of.Capabilities), Outputs: st.Outputs,
		RoleARN: of.RoleARN, Tags: tagsIn(of.Tags), EnableTerminationProtection: st.Protected, ParentID: st.Parent,
		RootID: st.Root, DriftInformation: st.drift(), LastOperations: st.Last}
	if d.Outputs == nil {
		d.Outputs = []output{}
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

// pageOf cuts a page out of a list; a token is the index behind the last one, which holds as long as nothing is added.
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
		return nil, err
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

type continueRequest struct {
	Name      string   `json:"StackName"`
	Skip      []string `json:"ResourcesToSkip"`
	Token     string   `json:"ClientRequestToken"`
	RetainNew bool     `json:"RetainExceptOnCreate"`
}

func (s *Service) continueUpdateRollback(_ context.Context, scope aws.Scope, in *continueRequest) (*none, error) {
	return &none{}, s.change(func(k *keeper) error {
		st, err := s.find(scope, in.Name)
		if err != nil {
			return err
		}
		if st.Status != "UPDATE_ROLLBACK_FAILED" || st.Paused == nil {
			return invalid("Stack:%s is in %s state and can not continue update rollback.", st.ID, st.Status)
		}
		for _, id := range in.Skip {
			if r := st.resources[id]; r == nil || r.Status != "UPDATE_FAILED" {
				return invalid("ResourcesToSkip must be in the state UPDATE_FAILED: %s", id)
			}
		}
		op := st.Paused
		op.Phase, op.Skip, op.Token = phaseRollback, in.Skip, in.Token
		s.goOn(k, st, op, "UPDATE_ROLLBACK_IN_PROGRESS")
		return nil
	})
}

// goOn takes a paused operation up again. mu is held.
func (s *Service) goOn(k *keeper, st *stack, op *operation, status string) {
	id := op.ID
	st.Operation, st.Paused = op, nil
	k.status(st, status, "User Initiated")
	op.ID = id
	s.launch(st)
}

func (s *Service) rollbackStack(_ context.Context, scope aws.Scope, in *continueRequest) (*stackID, error) {
	var out stackID
	return &out, s.change(func(k *keeper) error {
		st, err := s.find(scope, in.Name)
		if err != nil {
			return err
		}
		if st.Paused == nil || st.Status != "CREATE_FAILED" && st.Status != "UPDATE_FAILED" {
			return invalid("Stack:%s is in %s state and can not be rolled back.", st.ID, st.Status)
		}
		op := st.Paused
		op.Phase, op.Token, op.RetainNew = phaseRollback, in.Token, in.RetainNew
		status := "UPDATE_ROLLBACK_IN_PROGRESS"
		if op.Kind == opCreate {
			status = "ROLLBACK_IN_PROGRESS"
		}
		s.goOn(k, st, op, status)
		out = stackID{ID: st.ID, OperationID: op.ID}
		return nil
	})
}

func (s *Service) cancelUpdateStack(_ context.Context, scope aws.Scope, in *oneStack) (*none, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, err := s.find(scope, in.Name)
	if err != nil {
		return nil, err
	}
	if !st.busy() || st.Status != "UPDATE_IN_PROGRESS" || st.giveUp == nil {
		return nil, invalid("CancelUpdateStack cannot be called from current stack status")
	}
	st.giveUp(errUser)
	return &none{}, nil
}

type protectionRequest struct {
	Name    string `json:"StackName"`
	Enabled bool   `json:"EnableTerminationProtection"`
}

func (s *Service) updateTerminationProtection(_ context.Context, scope aws.Scope, in *protectionRequest) (*stackID, error) {
	var out stackID
	return &out, s.change(func(k *keeper) error {
		st, err := s.find(scope, in.Name)
		if err != nil {
			return err
		}
		if st.Parent != "" {
			return invalid("Termination protection cannot be changed on a nested stack: %s", st.ID)
		}
		st.Protected = in.Enabled
		k.stack(st)
		out.ID = st.ID
		return nil
	})
}

func sortOutputs(list []output) {
	sort.Slice(list, func(i, j int) bool { return list[i].Key < list[j].Key })
}
