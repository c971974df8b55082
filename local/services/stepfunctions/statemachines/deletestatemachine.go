package statemachines

import (
	"context"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine/history"
	"stepback/local/services/stepfunctions/apierror"
	"stepback/local/services/stepfunctions/resource"
)

type deleteStateMachineRequest struct {
	ARN string `json:"stateMachineArn"`
}

// deleteStateMachine stops a state machine's executions and marks it as DELETING. It is removed once the last
// execution has ended.
func (s *Service) deleteStateMachine(ctx context.Context, scope aws.Scope, in *deleteStateMachineRequest) (*none,
	error) {
	at, err := resource.ParseMachine(in.ARN)
	if err != nil {
		return nil, err
	}
	if at.Qualified() {
		return nil, server.Invalid("This operation does not support state machine version or alias ARNs: " + in.ARN)
	}
	e, err := s.cfg.Engine(scope)
	if err != nil {
		return nil, err
	}
	if err := s.markDeleted(scope, at); err != nil || at.Scope != scope {
		return &none{}, err
	}
	running, err := e.Running(ctx, at.Text)
	if err != nil {
		return nil, err
	}
	for _, arn := range running {
		if err := e.StopExecution(ctx, arn, history.Failure{}); err != nil {
			return nil, err
		}
	}
	return &none{}, nil
}

// markDeleted marks a state machine as DELETING, if it exists.
func (s *Service) markDeleted(scope aws.Scope, at *resource.ARN) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.machine(scope, at)
	if apierror.IsMissing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	m.Deleting = true
	return s.cfg.Store.PutMachine(m)
}

// bury removes a state machine in DELETING once none of its executions is running. The caller holds the lock.
//
//nolint:contextcheck,nolintlint // a machine is buried whole, whoever asked for it and however long they wait
func (s *Service) bury(scope aws.Scope, m *Machine, r *resource.ARN) (*Machine, error) {
	e, err := s.cfg.Engine(scope)
	if err != nil {
		return nil, err
	}
	if e.Recovering() { // Running would wait
		return m, nil
	}
	if running, err := e.Running(context.Background(), m.ARN); err != nil || len(running) > 0 {
		return m, err
	}
	if err := s.cfg.Store.DeleteMachine(m.ARN); err != nil {
		return nil, err
	}
	revisions := append([]string{m.Revision}, m.revisions()...)
	m.Revision, m.Versions = "", nil
	for _, id := range revisions {
		if err := s.forget(m, id); err != nil {
			return nil, err
		}
	}
	return nil, apierror.NoMachine(r.Text)
}
