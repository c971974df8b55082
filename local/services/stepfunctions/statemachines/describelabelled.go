package statemachines

import (
	"slices"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/jsonvalue"
	"stepback/local/services/stepfunctions/apierror"
	"stepback/local/services/stepfunctions/resource"
)

// describeLabelled describes the state machine of a distributed Map's child executions, stateMachine:NAME/LABEL: the
// state machine that contains the Map, under the labelled ARN.
func (s *Service) describeLabelled(scope aws.Scope, at *resource.ARN, included string) (*describeStateMachineResponse,
	error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, r, err := s.labelledMachine(scope, at)
	if err != nil {
		return nil, err
	}
	_, label := at.Unlabelled()
	return &describeStateMachineResponse{
		ARN: at.Text, Name: m.Name, Status: m.status(), Type: m.Type, Created: server.Time(m.Created), Label: label,
		RevisionDetails: DetailsOf(r, included),
	}, nil
}

// labelledMachine returns the state machine that contains the distributed Map named by a labelled ARN. The caller
// holds the lock.
func (s *Service) labelledMachine(scope aws.Scope, at *resource.ARN) (*Machine, *Revision, error) {
	if at.Qualified() {
		return nil, nil, apierror.NoMachine(at.Text)
	}
	base, label := at.Unlabelled()
	m, err := s.machine(scope, base)
	if apierror.IsMissing(err) {
		err = apierror.NoMachine(at.Text)
	}
	if err != nil {
		return nil, nil, err
	}
	r, err := s.cfg.Store.Revision(m.Revision)
	if err != nil {
		return nil, nil, err
	}
	if !slices.Contains(labels(r.Definition), label) {
		return nil, nil, apierror.NoMachine(at.Text)
	}
	return m, r, nil
}

// labels returns the labels of a definition's distributed Maps. A Map without a Label is labelled with the state's
// name.
func labels(definition string) []string {
	v, err := jsonvalue.Parse(definition)
	if err != nil {
		return nil
	}
	return appendLabels(nil, v)
}

func appendLabels(found []string, graph jsonvalue.Value) []string {
	states, _ := graph.Get("States")
	for _, name := range states.Keys() {
		state, _ := states.Get(name)
		branches, _ := state.Get("Branches")
		for _, b := range branches.Elements() {
			found = appendLabels(found, b)
		}
		processor, ok := state.Get("ItemProcessor")
		if !ok {
			processor, _ = state.Get("Iterator")
		}
		found = appendLabels(found, processor)
		if config, _ := processor.Get("ProcessorConfig"); textOf(config, "Mode") == "DISTRIBUTED" {
			if label := textOf(state, "Label"); label != "" {
				name = label
			}
			found = append(found, name)
		}
	}
	return found
}

// textOf returns a string member, or "" if it is missing.
func textOf(v jsonvalue.Value, member string) string {
	t, ok := v.Get(member)
	if !ok || t.Kind() != jsonvalue.String {
		return ""
	}
	return t.Text()
}
