package conformance

import (
	"maps"
	"slices"
	"strings"
)

// tree is an event with the events that follow from it.
type tree struct {
	event
	children []*tree
	size     int
}

// trees compares two histories whose concurrent branches may interleave differently.
func (u *unifier) trees(want, got []event) *Mismatch {
	if len(want) != len(got) {
		return &Mismatch{"number of events", len(want), len(got)}
	}
	for i, e := range got {
		if e.id() != int64(i+1) || e.previous() >= e.id() {
			return &Mismatch{"numbering", nil, map[string]any(e)}
		}
	}
	if w, g := want[len(want)-1].typ(), got[len(got)-1].typ(); w != g {
		return &Mismatch{"last event", w, g}
	}
	return u.subtrees("tree", grow(want).children, grow(got).children)
}

// subtrees finds an equal actual child for each expected one.
func (u *unifier) subtrees(path string, want, got []*tree) *Mismatch {
	if len(want) != len(got) {
		return &Mismatch{path + " children", types(want), types(got)}
	}
	if len(want) == 0 {
		return nil
	}
	w, rest := want[0], want[1:]
	var nearest *Mismatch
	for i, g := range got {
		before := maps.Clone(u.bound)
		m := u.subtree(path, w, g)
		if m == nil {
			if m = u.subtrees(path, rest, slices.Delete(slices.Clone(got), i, i+1)); m == nil {
				return nil
			}
		}
		if nearest == nil || len(m.Path) > len(nearest.Path) {
			nearest = m
		}
		u.bound = before
	}
	return nearest
}

func (u *unifier) subtree(path string, want, got *tree) *Mismatch {
	if want.typ() != got.typ() || want.size != got.size {
		return &Mismatch{path, types([]*tree{want}), types([]*tree{got})}
	}
	path += "/" + want.typ()
	if m := u.unify(path, want.without("id", "previousEventId"), got.without("id", "previousEventId")); m != nil {
		return m
	}
	return u.subtrees(path, want.children, got.children)
}

func types(trees []*tree) []string {
	out := make([]string, len(trees))
	for i, t := range trees {
		out[i] = t.typ()
	}
	return out
}

// grow builds a tree in which every event is a child of the one it follows from. Events that join branches become
// children of the start of those branches.
func grow(events []event) *tree {
	root := &tree{}
	nodes := map[int64]*tree{0: root}
	scopes := map[int64][]int64{} // the branching states around the events that follow from an event, innermost last
	for _, e := range events {
		t := &tree{event: e}
		nodes[e.id()] = t
		parent := e.previous()
		around := scopes[parent]
		if isJoin(e.typ()) || isExit(e.typ()) || isStart(e.typ()) && !isEntry(nodes[parent].typ()) {
			at := innermost(nodes, around, kindOf(e.typ()))
			if at >= 0 {
				if isJoin(e.typ()) {
					parent = around[at]
				}
				around = around[:at]
			}
		}
		if isStart(e.typ()) {
			around = append(slices.Clone(around), e.id())
		}
		scopes[e.id()] = around
		if nodes[parent] == nil {
			nodes[parent] = root
		}
		nodes[parent].children = append(nodes[parent].children, t)
	}
	root.measure()
	return root
}

func (t *tree) measure() int {
	t.size = 1
	for _, c := range t.children {
		t.size += c.measure()
	}
	return t.size
}

func innermost(nodes map[int64]*tree, around []int64, kind string) int {
	for i := len(around) - 1; i >= 0; i-- {
		if kindOf(nodes[around[i]].typ()) == kind {
			return i
		}
	}
	return -1
}

func kindOf(typ string) string {
	if strings.HasPrefix(typ, "MapState") {
		return "Map"
	}
	return "Parallel"
}

func isBranching(typ string, suffixes ...string) bool {
	name, ok := strings.CutPrefix(typ, "MapState")
	if !ok {
		name, ok = strings.CutPrefix(typ, "ParallelState")
	}
	return ok && slices.Contains(suffixes, name)
}

func isEntry(typ string) bool { return isBranching(typ, "Entered") }

func isStart(typ string) bool { return isBranching(typ, "Started") }

func isJoin(typ string) bool { return isBranching(typ, "Succeeded", "Failed", "Aborted") }

func isExit(typ string) bool { return isBranching(typ, "Exited") }
