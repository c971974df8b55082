package graph

import "stepback/asl"

// Part returns the part of a machine that contains a state, as a machine: the part that a child execution of a Map
// Run runs, if the state belongs to it. It returns the whole machine if the state is at its top level or does not
// exist.
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
