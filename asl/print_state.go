package asl

import (
	"cmp"

	"stepback/jsonvalue"
)

// writeState writes a state's members in the order in which the developer guide shows them.
func (w writer) writeState(s *State) {
	w.state = cmp.Or(s.QueryLanguage, w.machine)
	w.text("Type", string(s.Type))
	w.text("Comment", s.Comment)
	if w.state != w.machine {
		w.text("QueryLanguage", string(w.state))
	}
	w.text("Resource", s.Resource)
	w.path("InputPath", s.InputPath)
	w.any("Parameters", s.Parameters)
	w.any("Arguments", s.Arguments)
	w.any("Credentials", s.Credentials)
	w.any("Result", s.Result)
	w.scalar("Seconds", s.Seconds)
	w.scalar("Timestamp", s.Timestamp)
	w.scalar("Error", s.Error)
	w.scalar("Cause", s.Cause)
	w.scalar("TimeoutSeconds", s.TimeoutSeconds)
	w.scalar("HeartbeatSeconds", s.HeartbeatSeconds)
	w.rules("Choices", s.Choices)
	w.text("Default", s.Default)
	w.branches(s.Branches)
	w.mapFields(s.Map)
	w.any("ResultSelector", s.ResultSelector)
	w.path("ResultPath", s.ResultPath)
	w.path("OutputPath", s.OutputPath)
	w.any("Assign", s.Assign)
	w.any("Output", s.Output)
	w.retriers(s.Retry)
	w.catchers(s.Catch)
	w.text("Next", s.Next)
	if s.End {
		w.object.Set("End", jsonvalue.OfBool(true))
	}
}

func (w writer) branches(branches []*Graph) {
	if branches == nil {
		return
	}
	elements := make([]jsonvalue.Value, len(branches))
	for i, b := range branches {
		elements[i] = w.element(func(w writer) { w.graph(b) })
	}
	w.object.Set("Branches", jsonvalue.OfArray(elements))
}

func (w writer) rules(key string, rules []Rule) {
	if rules == nil {
		return
	}
	elements := make([]jsonvalue.Value, len(rules))
	for i := range rules {
		elements[i] = w.element(func(w writer) { w.rule(&rules[i]) })
	}
	w.object.Set(key, jsonvalue.OfArray(elements))
}

func (w writer) rule(r *Rule) {
	w.text("Comment", r.Comment)
	w.any("Condition", r.Condition)
	w.rules("And", r.And)
	w.rules("Or", r.Or)
	if r.Not != nil {
		w.inner("Not", func(w writer) { w.rule(r.Not) })
	}
	w.text("Variable", r.Variable)
	if r.Operator != "" {
		w.object.Set(r.Operator, r.Operand)
	}
	w.any("Assign", r.Assign)
	w.any("Output", r.Output)
	w.text("Next", r.Next)
}
