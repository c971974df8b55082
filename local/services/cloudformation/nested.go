package cloudformation

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stepback/aws"
	"stepback/local/services/cloudformation/resource"
	"stepback/local/services/cloudformation/template"
)

// nested returns the parameters and the notification topics of a nested stack.
func nested(r *resource.Request) (given []parameter, topics []string, err error) {
	m, _ := r.Properties["Parameters"].(map[string]any)
	for k, v := range m {
		if l, ok := v.([]any); ok { // a list is passed as its elements
			parts := make([]string, len(l))
			for i, e := range l {
				parts[i] = textOr(e, "")
			}
			v = strings.Join(parts, ",")
		}
		text, ok := template.TextOf(v)
		if !ok {
			return nil, nil, invalid("Value of property Parameters must be an object with String (or simple type) properties")
		}
		given = append(given, parameter{Key: k, Value: text})
	}
	slices.SortFunc(given, func(a, b parameter) int { return strings.Compare(a.Key, b.Key) })
	if l, ok := r.Properties["NotificationARNs"].([]any); ok {
		for _, e := range l {
			topics = append(topics, textOr(e, ""))
		}
	}
	return given, topics, nil
}

func (s *Service) nestedTarget(ctx context.Context, of ofRecord, r *resource.Request, previous *deployed) (deployed, error) {
	given, topics, err := nested(r)
	if err != nil {
		return deployed{}, err
	}
	text, err := s.fetch(ctx, r.Scope, textOr(r.Properties["TemplateURL"], ""))
	if err != nil {
		return deployed{}, err
	}
	to := deployed{Template: text, Tags: mergedTags(r), NotificationARNs: topics,
		Capabilities: of.d.op.Target.Capabilities,
		RoleARN:      of.d.op.Target.RoleARN}
	_, err = s.prepare(ctx, r.Scope, &to, given, previous)
	return to, err
}

func mergedTags(r *resource.Request) map[string]string {
	tags := map[string]string{}
	for k, v := range r.Tags {
		tags[k] = v
	}
	l, _ := r.Properties["Tags"].([]any)
	for _, e := range l {
		m, _ := e.(map[string]any)
		tags[textOr(m["Key"], "")] = textOr(m["Value"], "")
	}
	return tags
}

func (s *Service) nestedCreate(ctx context.Context, r *resource.Request) (resource.State, error) {
	of := recordOf(ctx)
	name := r.Name(128)
	s.mu.Lock()
	child, err := s.find(r.Scope, name)
	s.mu.Unlock()
	if err != nil { // it does not exist yet
		to, err := s.nestedTarget(ctx, of, r, nil)
		if err != nil {
			return resource.State{}, err
		}
		if s.nesting(of.d.st) > s.opts.Nesting {
			return resource.State{}, &aws.Error{Code: "LimitExceededException",
				Message: fmt.Sprintf("Limit for nested stacks has been exceeded: %s would be nested in more than %d stacks",
					name, s.opts.Nesting)}
		}
		child = s.newStack(r.Scope, name)
		child.Parent, child.Root = of.d.st.ID, of.d.st.ID
		if of.d.st.Root != "" {
			child.Root = of.d.st.Root
		}
		minutes, _ := strconv.Atoi(textOr(r.Properties["TimeoutInMinutes"], "0"))
		s.mu.Lock() // the operation around it may be given up in the meantime
		op := &operation{Kind: opCreate, Phase: phaseApply, Target: to, OnFailure: onFailure(of.d.op),
			Caller: of.d.op.Caller, Token: of.d.op.Token, DisableRollback: of.d.op.DisableRollback}
		s.mu.Unlock()
		if err := s.start(child, op, "CREATE_IN_PROGRESS", minutes, func(k *keeper) {
			// The stack around it has to know the nested stack at once, to delete it after a crash.
			of.r.Physical = child.ID
			k.progress(of.d.st, of.r, of.r.Status, "Resource creation Initiated")
		}); err != nil {
			return resource.State{}, err
		}
	}
	return s.nestedWait(ctx, r, of, child, "CREATE_COMPLETE")
}

// nesting returns the number of stacks that a stack nested in st has around it.
func (s *Service) nesting(st *stack) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for ; st != nil; st = s.stacks[st.Parent] {
		n++
	}
	return n
}

func onFailure(op *operation) string {
	if op.DisableRollback || op.OnFailure == "DO_NOTHING" {
		return "DO_NOTHING"
	}
	return "ROLLBACK"
}

// nestedWait waits for the end of the operation of a nested stack. If the operation of the stack around it is given
// up, it gives up that of the nested stack, and returns the reason once that has ended.
func (s *Service) nestedWait(ctx context.Context, r *resource.Request, of ofRecord, child *stack, want ...string) (resource.State, error) {
	changed := s.opts.Clock.NewBell()
	if r != nil {
		defer of.d.waits.ring(changed)()
	}
	var cause error
	for {
		s.mu.Lock()
		under := child.Operation != nil
		if under {
			s.launch(child)
			if !slices.Contains(child.ended, changed) {
				child.ended = append(child.ended, changed)
			}
		}
		status, reason := child.Status, child.Reason
		state := resource.State{ID: child.ID, Attributes: map[string]any{}}
		for _, o := range child.Outputs {
			state.Attributes["Outputs."+o.Key] = o.Value
		}
		s.mu.Unlock()
		if !under {
			if cause != nil {
				if child.gone() {
					state.ID = ""
				}
				return state, cause
			}
			if slices.Contains(want, status) {
				return state, nil
			}
			return state, invalid("Embedded stack %s was not successfully %s: %s", child.ID, pastOf(want[0]), reason)
		}
		if err := changed.Await(ctx); err != nil {
			return resource.State{}, err
		}
		if r != nil && cause == nil && r.GiveUp.Err() != nil {
			cause = context.Cause(r.GiveUp) //nolint:contextcheck // its cause is the error
			if err := s.change(func(k *keeper) error {
				if child.busy() && child.Operation.Kind != opDelete && child.Operation.Phase == phaseApply {
					undo := ""
					if !of.d.op.DisableRollback && of.d.op.OnFailure != "DO_NOTHING" {
						undo = "DELETE"
					}
					k.cancel(child, undo, errCancelled)
				}
				return nil
			}); err != nil {
				return resource.State{ID: child.ID}, err
			}
		}
	}
}

func pastOf(status string) string {
	switch {
	case strings.HasPrefix(status, "CREATE"):
		return "created"
	case strings.HasPrefix(status, "DELETE"):
		return "deleted"
	}
	return "updated"
}

func (s *Service) child(id string) *stack {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stacks[id]
}

func (s *Service) nestedUpdate(ctx context.Context, r *resource.Request) (resource.State, error) {
	of := recordOf(ctx)
	child := s.child(r.ID)
	if child == nil || child.gone() {
		return resource.State{}, fmt.Errorf("the nested stack %s is not there", r.ID)
	}
	s.mu.Lock()
	under, now := child.busy(), child.copied()
	s.mu.Unlock()
	if !under {
		to, err := s.nestedTarget(ctx, of, r, &now.deployed)
		if err != nil {
			return resource.State{}, err
		}
		changed, err := s.differs(ctx, now, &to)
		if err != nil {
			return resource.State{}, err
		}
		if changed {
			if err := s.start(child, &operation{Kind: opUpdate, Phase: phaseApply, Target: to, Token: of.d.op.Token,
				Caller: of.d.op.Caller},
				"UPDATE_IN_PROGRESS", 0); err != nil {
				return resource.State{}, err
			}
		}
	}
	return s.nestedWait(ctx, r, of, child, "UPDATE_COMPLETE", "CREATE_COMPLETE")
}

func (s *Service) nestedDelete(ctx context.Context, r *resource.Request) error {
	child := s.child(r.ID)
	if child == nil || child.gone() {
		return nil
	}
	of := recordOf(ctx)
	under := false
	if err := s.change(func(k *keeper) error {
		under = child.busy()
		if under && child.Operation.Kind != opDelete && child.Operation.Phase == phaseApply {
			k.cancel(child, "DELETE", errCancelled)
		}
		return nil
	}); err != nil {
		return err
	}
	if under { // until the operation has ended, and perhaps deleted it
		if _, err := s.nestedWait(ctx, nil, of, child, "DELETE_COMPLETE"); err == nil || s.ctx.Err() != nil {
			return err
		}
	}
	if err := s.start(child, &operation{Kind: opDelete, Phase: phaseDelete, Force: of.d.op.Force,
		Caller: of.d.op.Caller},
		"DELETE_IN_PROGRESS", 0); err != nil {
		return err
	}
	_, err := s.nestedWait(ctx, nil, of, child, "DELETE_COMPLETE")
	return err
}
