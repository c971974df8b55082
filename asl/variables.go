package asl

import (
	"maps"
	"slices"
	"strings"

	"stepback/asl/source"
	"stepback/jsonvalue"
)

// checkVariables checks the assignments inside Parallel and Map states. Inner states may read the variables of
// outer states, but not change them. It therefore reports an inner state that assigns a variable which a state
// before the Parallel or Map has already assigned. Variables assigned by the Parallel or Map itself do not exist
// yet. The children of a distributed Map are separate executions and are not restricted.
func (d *decoder) checkVariables(g *Graph) {
	if d.failures == 0 {
		d.checkInner(g, nil)
	}
}

func (d *decoder) checkInner(g *Graph, outer map[string]bool) {
	d.enter("States")
	defer d.leave()
	for _, s := range g.States {
		d.enter(s.Name)
		d.checkAssigned(s, outer)
		if s.Branches != nil || s.Map != nil {
			d.checkContainer(g, s, outer)
		}
		d.leave()
	}
}

func (d *decoder) checkContainer(g *Graph, s *State, outer map[string]bool) {
	visible := variablesBefore(g, s.Name)
	for name := range outer {
		visible[name] = true
	}
	for i, b := range s.Branches {
		d.path = append(d.path, source.Member("Branches"), source.Element(i))
		d.checkInner(b, visible)
		d.path = d.path[:len(d.path)-2]
	}
	if s.Map == nil || s.Map.Processor == nil {
		return
	}
	if s.Map.Distributed {
		visible = nil
	}
	d.enter("ItemProcessor")
	if d.iterators[s.Map] {
		d.path[len(d.path)-1] = source.Member("Iterator")
	}
	d.checkInner(s.Map.Processor, visible)
	d.leave()
}

// checkAssigned reports assignments by the state at the current path to variables of the surrounding graphs.
func (d *decoder) checkAssigned(s *State, outer map[string]bool) {
	if len(outer) == 0 {
		return
	}
	eachAssign(s, func(assign *jsonvalue.Value, at ...source.Step) {
		for _, key := range assign.Keys() {
			name := variableName(key, s.QueryLanguage)
			if !outer[name] {
				continue
			}
			before := d.path
			d.path = d.path.Join(append(at, source.Member("Assign"))...)
			d.fail("Variable '%s' is already assigned in an outer scope", name).onKey(key).
				hint("inner states may read the variables around them, not assign them; choose another name")
			d.path = before
		}
	})
}

// eachAssign calls visit for every Assign of a state, with its path.
func eachAssign(s *State, visit func(assign *jsonvalue.Value, at ...source.Step)) {
	if s.Assign != nil {
		visit(s.Assign)
	}
	for i, r := range s.Choices {
		if r.Assign != nil {
			visit(r.Assign, source.Member("Choices"), source.Element(i))
		}
	}
	for i, c := range s.Catch {
		if c.Assign != nil {
			visit(c.Assign, source.Member("Catch"), source.Element(i))
		}
	}
}

// variableName returns the name of the variable that a key of an Assign field assigns to.
func variableName(key string, language QueryLanguage) string {
	if language == JSONPath {
		return strings.TrimSuffix(key, ".$")
	}
	return key
}

// variablesBefore returns the variables that may have been assigned in the same graph by the time the named state is
// entered.
func variablesBefore(g *Graph, name string) map[string]bool {
	before := map[string][]*State{}
	for _, s := range g.States {
		for _, target := range s.targets() {
			before[target] = append(before[target], s)
		}
	}
	variables, seen, pending := map[string]bool{}, map[string]bool{name: true}, []string{name}
	for len(pending) > 0 {
		last := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		for _, s := range before[last] {
			if seen[s.Name] {
				continue
			}
			seen[s.Name] = true
			pending = append(pending, s.Name)
			eachAssign(s, func(assign *jsonvalue.Value, _ ...source.Step) {
				for _, key := range assign.Keys() {
					variables[variableName(key, s.QueryLanguage)] = true
				}
			})
		}
	}
	return variables
}

// VariablesAt returns the names of the variables that may have been assigned by the time a state is entered, sorted.
// These include variables of the states around it, except outside a distributed Map, whose child executions do not have
// them. It returns nil if the machine has no such state.
func (m *Machine) VariablesAt(state string) []string {
	visible := visibleAt(&m.Graph, state, map[string]bool{})
	return slices.Sorted(maps.Keys(visible))
}

// visibleAt returns the variables that the named state can read; nil if it is not in the graph. outer are those of the
// states around the graph.
func visibleAt(g *Graph, state string, outer map[string]bool) map[string]bool {
	for _, s := range g.States {
		if s.Name != state && s.Branches == nil && s.Map == nil {
			continue
		}
		visible := variablesBefore(g, s.Name)
		maps.Copy(visible, outer)
		if s.Name == state {
			return visible
		}
		inner := s.Branches
		if s.Map != nil && s.Map.Processor != nil {
			inner = []*Graph{s.Map.Processor}
			if s.Map.Distributed {
				visible = map[string]bool{}
			}
		}
		for _, b := range inner {
			if found := visibleAt(b, state, visible); found != nil {
				return found
			}
		}
	}
	return nil
}

// targets returns the names of all states that may follow this state.
func (s *State) targets() []string {
	targets := make([]string, 0, 2+len(s.Choices)+len(s.Catch))
	targets = append(targets, s.Next, s.Default)
	for _, r := range s.Choices {
		targets = append(targets, r.Next)
	}
	for _, c := range s.Catch {
		targets = append(targets, c.Next)
	}
	return targets
}
