package cloudformation

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"stepback/aws"
)

var stackName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z][-a-zA-Z0-9]{0,127}$`) })

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

// newStack returns a stack that is not listed yet.
func (s *Service) newStack(scope aws.Scope, name string) *stack {
	return &stack{Account: scope.Account, Region: scope.Region, Name: name,
		ID: scope.ARN("cloudformation", "stack/"+name+"/"+aws.NewID()), Created: s.now().UnixMilli(),
		resources: map[string]*record{}}
}

// admit adds a new stack. The caller holds mu.
func (s *Service) admit(st *stack) error {
	count := 0
	for _, other := range s.stacks {
		if other.scope() != st.scope() || other.gone() {
			continue
		}
		if other.Name == st.Name {
			return &aws.Error{Code: "AlreadyExistsException", Message: fmt.Sprintf("Stack [%s] already exists", st.Name)}
		}
		count++
	}
	if count >= s.opts.Stacks {
		return &aws.Error{Code: "LimitExceededException", Message: fmt.Sprintf(
			"Limit for stack has been exceeded: account %s has %d stacks in %s", st.Account, count, st.Region)}
	}
	s.stacks[st.ID] = st
	return nil
}

// start starts an operation of a stack, after calling brings for its other changes.
func (s *Service) start(st *stack, op *operation, status string, minutes int, brings ...func(*keeper)) error {
	return s.change(func(k *keeper) error {
		if st.busy() {
			return invalid("Stack:%s is in %s state and can not be updated.", st.ID, st.Status)
		}
		if s.stacks[st.ID] == nil {
			if err := s.admit(st); err != nil {
				return err
			}
		}
		for _, change := range brings {
			change(k)
		}
		for _, c := range s.sets { // the stack for which they were created no longer exists
			if c.StackID == st.ID && c.Execution == "AVAILABLE" {
				c.Execution = "OBSOLETE"
				k.set(c)
			}
		}
		s.begin(k, st, op, status, "User Initiated", minutes)
		return nil
	})
}

var lastTypes = map[string]string{opCreate: "CREATE_STACK", opUpdate: "UPDATE_STACK", opDelete: "DELETE_STACK",
	opImport: "UPDATE_STACK"}

// begin sets a stack's operation. The caller holds mu.
func (s *Service) begin(k *keeper, st *stack, op *operation, status, reason string, minutes int) {
	op.ID = aws.NewID()
	if st.Paused != nil && op.Kind == opUpdate && st.Paused.Kind == opCreate {
		op.DisableRollback = true // there is no previous deployment to roll back to
	}
	if minutes > 0 {
		st.TimeoutInMinutes = minutes
		op.Deadline = s.now().Add(time.Duration(minutes) * time.Minute).UnixMilli()
	}
	for _, c := range s.sets { // executed by another operation
		if c.StackID == st.ID && c.executed() {
			k.forgetSet(c)
		}
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
	Policy           *string                `json:"StackPolicyBody"`
	PolicyURL        string                 `json:"StackPolicyURL"`
	DuringBody       string                 `json:"StackPolicyDuringUpdateBody"`
	DuringURL        string                 `json:"StackPolicyDuringUpdateURL"`
	Protection       bool                   `json:"EnableTerminationProtection"`
	RetainNew        bool                   `json:"RetainExceptOnCreate"`
	Rollback         *rollbackConfiguration `json:"RollbackConfiguration"`
	deploymentMode
}

// deploymentMode is the member of all requests that change a stack. The CDK command line sends it with each of them.
type deploymentMode struct {
	Config struct {
		Mode            string
		DisableRollback *bool
	} `json:"DeploymentConfig"`
}

// check rejects the mode EXPRESS, which ends a deployment before its resources are ready.
func (d *deploymentMode) check() error {
	switch {
	case d.Config.Mode == "EXPRESS":
		return notSupported("DeploymentConfig.Mode EXPRESS is not supported; deploy in the mode STANDARD, which waits until resources are ready")
	case d.Config.DisableRollback != nil:
		return notSupported("DeploymentConfig.DisableRollback is not supported; use DisableRollback")
	}
	return nil
}

func notSupported(message string) error {
	return &aws.Error{Code: "NotImplemented", Status: http.StatusNotImplemented, Message: message}
}

type stackID struct {
	ID          string `json:"StackId"`
	OperationID string `json:"OperationId,omitempty"`
}

// refused rejects unsupported members by name.
func (in *stackRequest) refused() error {
	switch {
	case in.PolicyURL != "" && in.Policy != nil:
		return invalid("You cannot specify both StackPolicyURL and StackPolicyBody")
	case in.DuringURL != "" && in.DuringBody != "":
		return invalid("You cannot specify both StackPolicyDuringUpdateURL and StackPolicyDuringUpdateBody")
	case in.Rollback != nil:
		if err := in.Rollback.check(); err != nil {
			return err
		}
	}
	return in.check()
}

func (s *Service) createStack(ctx context.Context, scope aws.Scope, in *stackRequest) (*stackID, error) {
	if err := in.refused(); err != nil {
		return nil, err
	}
	if !stackName().MatchString(in.Name) {
		return nil, invalid("1 validation error detected: Value '%s' at 'stackName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z][-a-zA-Z0-9]*", in.Name)
	}
	if in.OnFailure != "" && in.DisableRollback != nil {
		return nil, invalid("You can specify either DisableRollback or OnFailure, but not both")
	}
	st, old, err := s.snapshot(scope, in.Name)
	if err == nil && old.Status != "REVIEW_IN_PROGRESS" {
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
	policy, err := s.policyOf(ctx, scope, in.Policy, in.PolicyURL)
	if err != nil {
		return nil, err
	}
	if st == nil {
		st = s.newStack(scope, in.Name)
	}
	op := &operation{Kind: opCreate, Phase: phaseApply, Target: to, Token: in.Token, OnFailure: in.OnFailure,
		Caller:          s.opts.Caller(ctx, scope),
		DisableRollback: in.DisableRollback != nil && *in.DisableRollback, RetainNew: in.RetainNew}
	if err := s.start(st, op, "CREATE_IN_PROGRESS", in.TimeoutInMinutes, func(*keeper) {
		st.Protected, st.Policy, st.DisableRollback = in.Protection, policy, op.DisableRollback
	}); err != nil {
		return nil, err
	}
	return &stackID{ID: st.ID, OperationID: op.ID}, nil
}

// target returns what a request asks to deploy.
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
	if st != nil {
		to.Rollback = st.Rollback
	}
	if in.Rollback != nil {
		to.Rollback = *in.Rollback
	}
	c, err := s.prepare(ctx, scope, &to, in.Parameters, previous)
	if err == nil {
		err = c.allowed(in.ResourceTypes)
	}
	return to, c, err
}

// updatable lists the statuses in which a stack can be updated.
var updatable = []string{"CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", "IMPORT_COMPLETE",
	"IMPORT_ROLLBACK_COMPLETE", "UPDATE_FAILED", "CREATE_FAILED"}

func (s *Service) updateStack(ctx context.Context, scope aws.Scope, in *stackRequest) (*stackID, error) {
	if err := in.refused(); err != nil {
		return nil, err
	}
	st, now, err := s.snapshot(scope, in.Name)
	if err != nil {
		return nil, invalid("Stack [%s] does not exist", in.Name)
	}
	if !slices.Contains(updatable, now.Status) || now.busy() {
		return nil, invalid("Stack:%s is in %s state and can not be updated.", st.ID, now.Status)
	}
	to, c, err := s.target(ctx, scope, in, now)
	if err != nil {
		return nil, err
	}
	if err := c.acknowledged(in.Capabilities, false); err != nil {
		return nil, err
	}
	if in.Policy != nil || in.PolicyURL != "" {
		policy, err := s.policyOf(ctx, scope, in.Policy, in.PolicyURL)
		if err != nil {
			return nil, err
		}
		if err := s.change(func(k *keeper) error { st.Policy = policy; k.stack(st); return nil }); err != nil {
			return nil, err
		}
	}
	changed, err := s.differs(ctx, now, &to)
	if err != nil {
		return nil, err
	}
	if !changed && now.Status != "UPDATE_FAILED" && now.Status != "CREATE_FAILED" {
		return nil, invalid("No updates are to be performed.")
	}
	op := &operation{Kind: opUpdate, Phase: phaseApply, Target: to, Token: in.Token, RetainNew: in.RetainNew,
		Caller:          s.opts.Caller(ctx, scope),
		DisableRollback: in.DisableRollback != nil && *in.DisableRollback}
	during := &in.DuringBody
	if in.DuringBody == "" {
		during = nil
	}
	if op.Policy, err = s.policyOf(ctx, scope, during, in.DuringURL); err != nil {
		return nil, err
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
	Role   string   `json:"RoleARN"`
	deploymentMode
}

func (s *Service) deleteStack(ctx context.Context, scope aws.Scope, in *deleteRequest) (*none, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
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
		if st.busy() { // a running creation is given up and its resources are deleted
			k.cancel(st, "DELETE", errUser)
			return nil
		}
		for _, o := range st.Outputs {
			if user := s.importer(st, o.Export); user != "" {
				return invalid("Delete canceled. Cannot delete export %s as it is in use by %s.", o.Export, user)
			}
		}
		s.begin(k, st, &operation{Kind: opDelete, Phase: phaseDelete, Token: in.Token, Retain: in.Retain,
			Target: deployed{RoleARN: in.Role}, Caller: s.opts.Caller(ctx, scope),
			Force: in.Mode == "FORCE_DELETE_STACK"}, "DELETE_IN_PROGRESS", "User Initiated", 0)
		return nil
	})
}
