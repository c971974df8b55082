package machine

import (
	"slices"
	"strconv"
)

// Rand makes the choices that determine a random machine. Of n possibilities, 0 is the plainest.
type Rand interface {
	// Intn returns a number from 0 to n-1; n is positive.
	Intn(n int) int
}

// Limits bound a random machine.
type Limits struct {
	// States is the maximum number of states in one scope, Depth the maximum nesting of scopes.
	States, Depth int
	// Kinds are the kinds of tasks that may occur.
	Kinds []Kind
}

// Random draws a machine that is valid by construction: every name exists, every state can be reached, and every
// payload has the form that its paths expect.
func Random(from Rand, l Limits) *Machine {
	d := &draw{from: from, limits: l}
	m := &Machine{Root: d.scope(nil, l.Depth)}
	if d.one(6) {
		m.TimeoutSeconds = 5 + d.n(60)
	}
	return m
}

type draw struct {
	from   Rand
	limits Limits
	names  int
}

func (d *draw) n(n int) int { return d.from.Intn(n) }

// one returns true once in n times.
func (d *draw) one(n int) bool { return d.n(n) == n-1 }

func pick[T any](d *draw, of ...T) T { return of[d.n(len(of))] }

func (d *draw) scope(owner *State, depth int) *Scope {
	s := &Scope{Owner: owner}
	for range 1 + d.n(d.limits.States) {
		d.names++
		s.States = append(s.States, &State{Name: "S" + strconv.Itoa(d.names)})
	}
	for i := range s.States {
		d.state(s, i, depth)
	}
	s.prune()
	d.end(s)
	return s
}

// end gives a scope that would loop for ever a way out, which the language demands.
func (d *draw) end(s *Scope) {
	if slices.ContainsFunc(s.States, func(st *State) bool { return st.Next == "" && st.Type != Choice }) {
		return
	}
	i := slices.IndexFunc(s.States, func(st *State) bool { return st.Type == Choice })
	d.names++
	s.States = append(s.States, &State{Name: "S" + strconv.Itoa(d.names), Type: Succeed})
	out := d.rule()
	out.Next = s.States[len(s.States)-1].Name
	s.States[i].Choice.Rules = append(s.States[i].Choice.Rules, out)
}

// prune drops the states that cannot be reached.
func (s *Scope) prune() {
	reached := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if name == "" || reached[name] {
			return
		}
		reached[name] = true
		for _, next := range s.Find(name).successors() {
			visit(next)
		}
	}
	visit(s.Start().Name)
	s.States = slices.DeleteFunc(s.States, func(st *State) bool { return !reached[st.Name] })
}

// successors returns the names of all states that may follow.
func (s *State) successors() []string {
	out := make([]string, 0, 2+len(s.Choice.Rules)+len(s.Catch))
	out = append(out, s.Next, s.Choice.Default)
	for _, r := range s.Choice.Rules {
		out = append(out, r.Next)
	}
	for _, c := range s.Catch {
		out = append(out, c.Next)
	}
	return out
}

// state fills the state in place i of its scope.
func (d *draw) state(s *Scope, i, depth int) {
	st, last := s.States[i], i == len(s.States)-1
	types := []string{Pass, Task, Task, Wait, Succeed, Fail, Choice}
	if depth > 1 {
		types = append(types, Parallel, Map, Parallel, Map)
	}
	if last {
		types = slices.DeleteFunc(types, func(t string) bool { return t == Choice })
	}
	st.Type = types[d.n(len(types))]
	if !last && st.Type != Choice && st.Type != Succeed && st.Type != Fail && !d.one(8) {
		st.Next = s.States[i+1].Name
	}
	switch st.Type {
	case Task:
		d.task(st)
	case Choice:
		d.choice(st, s, i)
	case Wait:
		st.Wait = Delay{Form: DelayForm(d.n(3)), Seconds: d.n(20)}
	case Fail:
		st.Fail = Raise{Error: pick(d, "Boom", "Throttled", "", "States.Timeout", "Odd"), Cause: pick(d, "", "because")}
	case Parallel:
		for range 1 + d.n(3) {
			st.Branches = append(st.Branches, d.scope(st, depth-1))
		}
	case Map:
		d.mapState(st, depth)
	}
	d.data(st)
	if st.Type == Task || st.Type == Parallel || st.Type == Map {
		d.handlers(st, s)
	}
}

func (d *draw) task(st *State) {
	st.Task.Kind = pick(d, d.limits.Kinds...)
	if d.one(2) {
		st.Task.TimeoutSeconds = 1 + d.n(12)
	}
	beats := st.Task.Kind == Token || st.Task.Kind == Activity
	if beats && st.Task.TimeoutSeconds > 1 && d.one(2) {
		st.Task.HeartbeatSeconds = 1 + d.n(st.Task.TimeoutSeconds-1)
	}
}

func (d *draw) choice(st *State, s *Scope, i int) {
	for range 1 + d.n(3) {
		r := d.rule()
		if d.one(3) {
			second := d.rule()
			r.And = &second
		}
		r.Next = d.target(s, i)
		st.Choice.Rules = append(st.Choice.Rules, r)
	}
	if !d.one(5) {
		st.Choice.Default = s.States[i+1].Name
	}
}

func (d *draw) rule() Rule {
	return Rule{
		Operator: pick(d, "NumericEquals", "NumericLessThan", "NumericGreaterThanEquals"), Operand: d.n(6),
		Not: d.one(4),
	}
}

// target draws a state to go to: mostly a later one, so that loops end.
func (d *draw) target(s *Scope, i int) string {
	if d.one(5) {
		return s.States[d.n(len(s.States))].Name
	}
	return s.States[i+1+d.n(len(s.States)-i-1)].Name
}

func (d *draw) mapState(st *State, depth int) {
	st.Map.MaxConcurrency = pick(d, 0, 1, 2, 3)
	st.Map.Distributed = d.one(3)
	st.Processor = d.scope(st, depth-1)
	if !st.Map.Distributed {
		return
	}
	st.Map.ToleratedFailureCount = d.n(3)
	if d.one(3) {
		st.Map.MaxItemsPerBatch = 1 + d.n(3)
		// A batch has no member n, so the first state of the processor creates a payload.
		d.names++
		first := &State{Name: "S" + strconv.Itoa(d.names), Type: Pass, Next: st.Processor.Start().Name}
		first.Data = Data{Form: Literal, N: d.n(6), Items: []int{1}}
		st.Processor.States = append([]*State{first}, st.Processor.States...)
	}
}

func (d *draw) data(st *State) {
	x := &st.Data
	switch st.Type {
	case Pass:
		x.Form = pick(d, Plain, Literal, Increment)
		x.ResultPath = pick(d, "", "null", "$.note")
		if x.Form == Plain && x.ResultPath == "$.note" { // in a loop, it would double its input each time
			x.ResultPath = ""
		}
	case Task:
		x.Form = pick(d, Plain, Selected)
		x.ResultPath = pick(d, "", "$.answer", "null")
	case Parallel, Map:
		x.ResultPath = pick(d, "$.fan", "null")
		if st.Type == Parallel && d.one(3) {
			x.Form, x.ResultPath = Literal, ""
		}
	default:
		return
	}
	x.Assign = d.one(4)
	if x.Form == Literal {
		x.N = d.n(6)
		x.Items = d.items()
	}
}

func (d *draw) items() []int {
	items := make([]int, d.n(6))
	for i := range items {
		items[i] = d.n(6)
	}
	return items
}
