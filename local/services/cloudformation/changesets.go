package cloudformation

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"stepback/aws"
)

// changeSet is the stored form of a change set.
type changeSet struct {
	ID, Name, StackID, StackName, Kind string
	Description                        string
	Status, Reason, Execution          string
	Created                            int64
	Target                             deployed
	OnFailure                          string
	Nested                             bool
	Import                             bool // existing resources with a name given by the template are imported
	Changes                            []change
	// Imports maps logical IDs to the identifiers of the resources to import.
	Imports map[string]string `json:",omitempty"`
}

// keptChangeSet is a change set on disk, including its texts.
type keptChangeSet struct {
	changeSet
	Text, Expanded string
}

func (k *keeper) set(c *changeSet) {
	k.put(c.key(), keptChangeSet{*c, c.Target.Template, c.Target.Processed})
}

type changeSetRequest struct {
	stackRequest
	ChangeSet   string `json:"ChangeSetName"`
	Kind        string `json:"ChangeSetType"`
	Description string
	Token       string     `json:"ClientToken"`
	Nested      bool       `json:"IncludeNestedStacks"`
	Import      []toImport `json:"ResourcesToImport"`
	Existing    bool       `json:"ImportExistingResources"`
	Mode        string     `json:"DeploymentMode"`
}

type changeSetID struct {
	ID      string `json:"Id"`
	StackID string `json:"StackId"`
}

var changeSetName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z][-a-zA-Z0-9]{0,127}$`) })

func (s *Service) createChangeSet(ctx context.Context, scope aws.Scope, in *changeSetRequest) (*changeSetID, error) {
	if err := in.refused(); err != nil {
		return nil, err
	}
	switch {
	case in.Kind == opImport && len(in.Import) == 0:
		return nil, invalid("ResourcesToImport must be specified for change sets of type IMPORT")
	case in.Kind != opImport && len(in.Import) > 0:
		return nil, invalid("ResourcesToImport can be specified for change sets of type IMPORT only")
	case in.Mode != "":
		return nil, invalid("DeploymentMode %s is not supported here", in.Mode)
	case !changeSetName().MatchString(in.ChangeSet):
		return nil, invalid(
			"1 validation error detected: Value '%s' at 'changeSetName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z][-a-zA-Z0-9]*",
			in.ChangeSet,
		)
	}
	s.mu.Lock()
	st, err := s.find(scope, in.Name)
	now := st
	for _, c := range s.sets {
		if err == nil && c.StackID == st.ID && c.Name == in.ChangeSet && !c.executed() {
			s.mu.Unlock()
			return nil, &aws.Error{
				Code:    "AlreadyExistsException",
				Message: fmt.Sprintf("ChangeSet %s already exists", c.ID),
			}
		}
	}
	if err == nil {
		now = st.copied()
	}
	s.mu.Unlock()
	imports, wrong := s.imports(in.Import)
	if wrong != nil {
		return nil, wrong
	}
	create := in.Kind == "CREATE" || in.Kind == opImport && (err != nil || now.Status == "REVIEW_IN_PROGRESS")
	switch {
	case create && err == nil && now.Status != "REVIEW_IN_PROGRESS":
		return nil, invalid(
			"Stack [%s] already exists and cannot be created again with the changeSet [%s].",
			in.Name,
			in.ChangeSet,
		)
	case !create && err != nil:
		return nil, invalid("Stack [%s] does not exist", in.Name)
	case !create && now.Status == "REVIEW_IN_PROGRESS":
		return nil, invalid("Stack [%s] does not exist", in.Name)
	case !create && (now.busy() || now.Status == "ROLLBACK_COMPLETE" || strings.HasSuffix(now.Status, "DELETE_FAILED")):
		return nil, invalid("Stack:%s is in %s state and can not be updated.", st.ID, now.Status)
	}
	if create && err != nil {
		if !stackName().MatchString(in.Name) {
			return nil, invalid(
				"1 validation error detected: Value '%s' at 'stackName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z][-a-zA-Z0-9]*|arn:[-a-zA-Z0-9:/._+]*",
				in.Name,
			)
		}
		st, now = nil, nil
	}
	to, c, err := s.target(ctx, scope, &in.stackRequest, now)
	if err != nil {
		return nil, err
	}
	if err := c.acknowledged(in.Capabilities, true); err != nil {
		return nil, err
	}
	fresh := st == nil
	if fresh {
		st = s.newStack(scope, in.Name)
		now = st
	}
	set := &changeSet{Name: in.ChangeSet, StackID: st.ID, StackName: st.Name, Kind: in.Kind,
		Description: in.Description,
		Status:      "CREATE_COMPLETE", Execution: "AVAILABLE", Created: s.now().UnixMilli(), Target: to,
		OnFailure: in.OnFailure, Nested: in.Nested, Import: in.Existing, Imports: imports}
	set.ID = scope.ARN("cloudformation", "changeSet/"+in.ChangeSet+"/"+aws.NewID())
	if err := s.judge(ctx, set, now, c); err != nil {
		return nil, err
	}
	if in.Kind == opImport && set.Status == "CREATE_COMPLETE" {
		if err := s.judgeImport(now, set, c); err != nil {
			return nil, err
		}
	}
	return &changeSetID{set.ID, st.ID}, s.change(func(k *keeper) error {
		if fresh {
			if err := s.admit(st); err != nil {
				return err
			}
			k.status(st, "REVIEW_IN_PROGRESS", "User Initiated")
		}
		for _, other := range s.sets {
			if other.StackID == st.ID && other.Name == set.Name {
				k.forgetSet(other) // it has been executed
			}
		}
		s.sets[set.ID] = set
		k.set(set)
		return nil
	})
}

// judge computes the changes of a change set, which fails if there are none.
func (s *Service) judge(ctx context.Context, set *changeSet, st *stack, _ *compiled) error {
	ctx = s.acting(ctx, st.scope(), set.Target.RoleARN)
	changes, c, err := s.plan(ctx, st, &set.Target)
	if err != nil {
		if e := failure(err); e != nil {
			err = e
		}
		set.Status, set.Execution, set.Reason = "FAILED", "UNAVAILABLE", why(err)
		return nil
	}
	if set.Import {
		for i := range changes {
			if ch := &changes[i]; ch.Action == "Add" && ch.wanted != nil &&
				s.importable(ctx, st, ch.LogicalID, *ch.wanted) != "" {
				ch.Action = "Import"
			}
		}
	}
	set.Changes = changes
	outer, err := s.outerDiffers(st, &set.Target, c)
	if err != nil {
		return err
	}
	if len(changes) == 0 && !outer && st.Status != "" && st.Status != "REVIEW_IN_PROGRESS" {
		set.Status, set.Execution = "FAILED", "UNAVAILABLE"
		set.Reason = "The submitted information didn't contain changes. Submit different information to create a change set."
	}
	return nil
}

// findSet returns a change set by its ID, or by its name and the stack. The caller holds mu.
func (s *Service) findSet(scope aws.Scope, name, stackName string) (*changeSet, error) {
	if strings.HasPrefix(name, "arn:") {
		if c := s.sets[name]; c != nil {
			return c, nil
		}
		return nil, &aws.Error{
			Code:    "ChangeSetNotFound",
			Status:  404,
			Message: fmt.Sprintf("ChangeSet [%s] does not exist", name),
		}
	}
	if stackName == "" {
		return nil, invalid("StackName must be specified if ChangeSetName is not specified as an ARN.")
	}
	st, err := s.find(scope, stackName)
	if err != nil {
		return nil, invalid("Stack [%s] does not exist", stackName)
	}
	for _, c := range s.sets {
		if c.StackID == st.ID && c.Name == name {
			return c, nil
		}
	}
	return nil, &aws.Error{
		Code:    "ChangeSetNotFound",
		Status:  404,
		Message: fmt.Sprintf("ChangeSet [%s] does not exist", name),
	}
}

type changeSetAsk struct {
	ChangeSet string `json:"ChangeSetName"`
	Stack     string `json:"StackName"`
	Token     string `json:"NextToken"`
	Values    bool   `json:"IncludePropertyValues"`

	Request         string `json:"ClientRequestToken"`
	DisableRollback *bool
	RetainNew       bool `json:"RetainExceptOnCreate"`
}

func (s *Service) executeChangeSet(ctx context.Context, scope aws.Scope, in *changeSetAsk) (*none, error) {
	return &none{}, s.change(func(k *keeper) error {
		c, err := s.findSet(scope, in.ChangeSet, in.Stack)
		if err != nil {
			return err
		}
		st := s.stacks[c.StackID]
		switch {
		case c.Execution == executing && in.Request != "" && st.Operation != nil && st.Operation.Token == in.Request:
			return nil // it was requested twice
		case c.Execution == executing || c.executed():
			return &aws.Error{
				Code: "InvalidChangeSetStatus",
				Message: fmt.Sprintf("ChangeSet [%s] cannot be executed in its current execution status of [%s]",
					c.ID, c.Execution),
			}
		case c.Execution != "AVAILABLE":
			return &aws.Error{
				Code: "InvalidChangeSetStatus",
				Message: fmt.Sprintf("ChangeSet [%s] cannot be executed in its current status of [%s]",
					c.ID, c.Status),
			}
		case st == nil || st.gone():
			return invalid("Stack [%s] does not exist", c.StackName)
		case st.busy():
			return invalid("Stack:%s is in %s state and can not be updated.", st.ID, st.Status)
		}
		op := &operation{Kind: opUpdate, Phase: phaseApply, Target: c.Target, Token: in.Request,
			RetainNew: in.RetainNew, Import: c.Import, Caller: s.opts.Caller(ctx, scope),
			DisableRollback: in.DisableRollback != nil && *in.DisableRollback || c.OnFailure == "DO_NOTHING"}
		status := "UPDATE_IN_PROGRESS"
		switch {
		case c.Kind == opImport:
			op.Kind, op.Imports, status = opImport, c.Imports, "IMPORT_IN_PROGRESS"
		case st.Status == "REVIEW_IN_PROGRESS":
			op.Kind, status = opCreate, "CREATE_IN_PROGRESS"
			op.OnFailure = c.OnFailure
			st.DisableRollback, st.Updated = op.DisableRollback, s.now().UnixMilli()
		}
		for _, other := range s.sets { // the other change sets are now obsolete
			if other.StackID == st.ID && other != c {
				k.forgetSet(other)
			}
		}
		c.Execution = executing
		k.set(c)
		st.ChangeSet = c.ID
		s.begin(k, st, op, status, "User Initiated", 0)
		return nil
	})
}

func (s *Service) deleteChangeSet(_ context.Context, scope aws.Scope, in *changeSetAsk) (*none, error) {
	return &none{}, s.change(func(k *keeper) error {
		c, err := s.findSet(scope, in.ChangeSet, in.Stack)
		if err != nil {
			// A missing change set has already been deleted; a missing stack is an error.
			if e, ok := err.(*aws.Error); ok && e.Code == "ChangeSetNotFound" { //nolint:errorlint // it is ours
				return nil
			}
			return err
		}
		if c.Execution == executing {
			return &aws.Error{
				Code: "InvalidChangeSetStatus",
				Message: fmt.Sprintf("ChangeSet [%s] cannot be deleted in its current execution status of [%s]",
					c.ID, c.Execution),
			}
		}
		k.forgetSet(c)
		return nil
	})
}

// The execution statuses of a change set. EXECUTE_COMPLETE is reported until the stack's next operation.
const (
	executing   = "EXECUTE_IN_PROGRESS"
	hasExecuted = "EXECUTE_COMPLETE"
	notExecuted = "EXECUTE_FAILED"
)

func (c *changeSet) executed() bool { return c.Execution == hasExecuted || c.Execution == notExecuted }

// forgetSet removes a change set.
func (k *keeper) forgetSet(c *changeSet) {
	delete(k.s.sets, c.ID)
	k.b.Delete(k.s.table, c.key())
}

// concludeSet updates the execution status of the change set that a stack has executed.
func (k *keeper) concludeSet(st *stack, status string) {
	c := k.s.sets[st.ChangeSet]
	if c == nil || c.Execution != executing {
		return
	}
	c.Execution = notExecuted
	if status == "CREATE_COMPLETE" || status == "UPDATE_COMPLETE" || status == "IMPORT_COMPLETE" {
		c.Execution = hasExecuted
	}
	k.set(c)
}
