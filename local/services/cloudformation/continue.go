package cloudformation

import (
	"cmp"
	"context"
	"sort"

	"stepback/aws"
)

type continueRequest struct {
	Name      string   `json:"StackName"`
	Skip      []string `json:"ResourcesToSkip"`
	Token     string   `json:"ClientRequestToken"`
	RetainNew bool     `json:"RetainExceptOnCreate"`
	Role      string   `json:"RoleARN"`
}

func (s *Service) continueUpdateRollback(ctx context.Context, scope aws.Scope, in *continueRequest) (*none, error) {
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
		op.Caller, op.Target.RoleARN = s.opts.Caller(ctx, scope), cmp.Or(in.Role, op.Target.RoleARN)
		s.resumeOperation(k, st, op, "UPDATE_ROLLBACK_IN_PROGRESS")
		return nil
	})
}

// resumeOperation resumes a paused operation. The caller holds mu.
func (s *Service) resumeOperation(k *keeper, st *stack, op *operation, status string) {
	id := op.ID
	st.Operation, st.Paused = op, nil
	k.status(st, status, "User Initiated")
	op.ID = id
	s.launch(st)
}

type rollbackRequest struct {
	continueRequest
	deploymentMode
}

func (s *Service) rollbackStack(ctx context.Context, scope aws.Scope, in *rollbackRequest) (*stackID, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
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
		op.Caller, op.Target.RoleARN = s.opts.Caller(ctx, scope), cmp.Or(in.Role, op.Target.RoleARN)
		status := "UPDATE_ROLLBACK_IN_PROGRESS"
		if op.Kind == opCreate {
			status = "ROLLBACK_IN_PROGRESS"
		}
		s.resumeOperation(k, st, op, status)
		out = stackID{ID: st.ID, OperationID: op.ID}
		return nil
	})
}

func (s *Service) cancelUpdateStack(_ context.Context, scope aws.Scope, in *oneStack) (*none, error) {
	return &none{}, s.change(func(k *keeper) error {
		st, err := s.find(scope, in.Name)
		if err != nil {
			return err
		}
		if !st.busy() || st.Status != "UPDATE_IN_PROGRESS" {
			return invalid("CancelUpdateStack cannot be called from current stack status")
		}
		k.cancel(st, "", errUser)
		return nil
	})
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
