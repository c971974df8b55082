package graph

import "stepback/asl"

// Part returns the part of a machine that a state belongs to, as a machine: what a child execution of a Map Run runs,
// when the state is one of its own. It is the whole machine when the state is at its top, or there is none of the name.
func Part(m *asl.Machine, state string) *asl.Machine {
	if g := partOf(&m.Graph, state); g != nil && g != &m.Graph {
		part := *m
		part.Graph = *g
		return &part
	}
	return m
}

func partOf(g *asl.Graph, state string) *asl.Graph {
	if g.State(state) != nil {
		return g
	}
	for _, s := range g.States {
		for _, inner := range inside(s) {
			if found := partOf(inner, state); found != nil {
				return found
			}
		}
	}
	return nil
}
