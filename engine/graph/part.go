package graph

import "stepback/asl"

// Part returns the part of a machine that contains a state, as a machine. If the state is in the part that the
// child executions of a Map Run run, it returns that part. If the state is at the top level of the machine or does
// not exist, it returns the whole machine.
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
