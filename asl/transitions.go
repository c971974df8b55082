package asl

import (
	"strings"

	"stepback/asl/source"
)

// checkTransitions checks the transitions of one graph, whose States object is at the current path. It checks that
// all targets exist, then that there is an end, and then that every state is reachable. If states of the graph are
// broken (whole is false), it checks only the targets, because the rest would only repeat known problems. Like the
// service, it skips reachability if there is no end.
func (d *decoder) checkTransitions(g *Graph, names []string, whole bool) {
	w := walk{d: d, graph: g, names: names, states: make(map[string]*State, len(names)), reached: map[string]bool{}}
	for _, name := range names {
		w.states[name] = nil // also those too broken to be decoded
	}
	for _, s := range g.States {
		w.states[s.Name] = s
	}
	w.start(g.StartAt)
	for _, s := range g.States {
		d.enter(s.Name)
		w.targets(s)
		d.leave()
	}
	switch {
	case !whole:
	case !hasEnd(g):
		d.report(SeverityError, MissingEndState, "Workflow has no terminal state").nowhere().
			hint(`give one state "End": true, or add a Succeed or Fail state`)
	default:
		w.reach(g.StartAt)
		w.reportUnreached()
	}
}

type walk struct {
	d       *decoder
	graph   *Graph
	names   []string
	states  map[string]*State
	reached map[string]bool
	missing bool // a target is not a state of the graph
	// compared is the number of names to which misspelt targets have been compared.
	compared int
}

// maxCompared and maxListed bound the hints about missing targets, whose work and length would otherwise grow with the
// square of the number of states: the names to which misspelt targets of a graph are compared, and the names that a
// hint lists.
const (
	maxCompared = 50_000
	maxListed   = 50
)

// start checks StartAt, the field next to the States object.
func (w *walk) start(name string) {
	d := w.d
	d.path[len(d.path)-1] = source.Member("StartAt")
	if name != "" {
		w.target(name)
	}
	d.path[len(d.path)-1] = source.Member("States")
}

func hasEnd(g *Graph) bool {
	for _, s := range g.States {
		if s.End || s.Type == Succeed || s.Type == Fail {
			return true
		}
	}
	return false
}

// targets checks the targets of a state at the current path.
func (w *walk) targets(s *State) {
	d := w.d
	w.named("Next", s.Next)
	for i, r := range s.Choices {
		d.path = append(d.path, source.Member("Choices"), source.Element(i))
		w.named("Next", r.Next)
		d.path = d.path[:len(d.path)-2]
	}
	w.named("Default", s.Default)
	for i, c := range s.Catch {
		d.path = append(d.path, source.Member("Catch"), source.Element(i))
		w.named("Next", c.Next)
		d.path = d.path[:len(d.path)-2]
	}
}

func (w *walk) named(field, target string) {
	if target != "" {
		w.d.enter(field)
		w.target(target)
		w.d.leave()
	}
}

// target reports a target at the current path that is not a state of the graph. The service's message says 'Next'
// for every kind of target.
func (w *walk) target(name string) {
	if _, exists := w.states[name]; exists {
		return
	}
	w.missing = true
	f := w.d.report(SeverityError, MissingTransitionTarget, "Missing 'Next' target: "+name)
	if w.compared += len(w.names); w.compared <= maxCompared {
		if guess := didYouMean(name, w.names); guess != "" {
			f.hint(guess)
			return
		}
	}
	if w.d.names[name] {
		f.hint("the state exists, but in another States object; transitions stay inside their own")
		return
	}
	listed := strings.Join(w.names[:min(len(w.names), maxListed)], ", ")
	if len(w.names) > maxListed {
		listed += ", …"
	}
	f.hint("the states here are " + listed)
}

// reach marks every state that can be entered from the named one.
func (w *walk) reach(name string) {
	pending := []string{name}
	for len(pending) > 0 {
		s := w.states[pending[len(pending)-1]]
		pending = pending[:len(pending)-1]
		if s == nil || w.reached[s.Name] {
			continue
		}
		w.reached[s.Name] = true
		pending = append(pending, s.targets()...)
	}
}

func (w *walk) reportUnreached() {
	for _, s := range w.graph.States {
		if w.reached[s.Name] {
			continue
		}
		w.d.enter(s.Name)
		w.d.report(SeverityError, MissingTransitionTarget, `State "`+s.Name+`" is not reachable.`).
			hint("no chain of transitions leads from StartAt to this state").Consequence = w.missing
		w.d.leave()
	}
}
