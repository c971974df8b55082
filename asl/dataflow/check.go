package dataflow

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"stepback/asl"
	"stepback/asl/source"
	"stepback/internal/lazyregexp"
	"stepback/internal/spelling"
	"stepback/jsonvalue"
)

// most is the maximum number of findings.
const most = 1000

// Check returns the findings about a definition, given as its text and the machine that asl parsed from it. They are
// in the order of the states.
func Check(text string, m *asl.Machine) []asl.Diagnostic {
	root, err := jsonvalue.Parse(text)
	if err != nil || m == nil {
		return nil
	}
	c := &checker{text: text, said: map[string]bool{}, everywhere: set{}}
	c.collect(&m.Graph)
	c.graph(&m.Graph, root, nil, scope{assigned: set{}})
	return c.found
}

// set is a set of names of variables.
type set map[string]bool

// with returns a set with more names.
func (s set) with(names []string) set {
	if len(names) == 0 {
		return s
	}
	more := maps.Clone(s)
	for _, name := range names {
		more[name] = true
	}
	return more
}

// scope describes what surrounds a graph.
type scope struct {
	assigned set    // outer variables that have a value whenever the graph starts
	hidden   set    // variables around a distributed Map, which its child executions do not see
	around   []step // the path to the state that contains the graph
}

type checker struct {
	text  string
	index *source.Index
	lines *source.Lines
	found []asl.Diagnostic

	everywhere set // the variables that the states of all graphs assign

	said map[string]bool // findings by code, state and subject, so that each is reported once
}

// collect adds the variables that the states of a graph, and of the graphs inside them, assign.
func (c *checker) collect(g *asl.Graph) {
	_, ever := edgesOf(g)
	maps.Copy(c.everywhere, ever)
	for _, s := range g.States {
		for _, b := range s.Branches {
			c.collect(b)
		}
		if s.Map != nil && s.Map.Processor != nil {
			c.collect(s.Map.Processor)
		}
	}
}

// edge is a transition to a state, with the variables that are assigned on it.
type edge struct {
	from, to string
	assigns  []string
	caught   bool
}

// step is a state on a path.
type step struct {
	name   string
	caught bool // a catcher leads to it
}

// graph checks the states of a graph, and of the graphs inside them. raw is the object that contains States.
func (c *checker) graph(g *asl.Graph, raw jsonvalue.Value, at source.Path, around scope) {
	states, _ := raw.Get("States")
	edges, ever := edgesOf(g)
	before := flow(g.StartAt, edges, around.assigned)
	for _, s := range g.States {
		assigned, reached := before[s.Name]
		state, _ := states.Get(s.Name)
		if !reached {
			continue
		}
		where := at.Join(source.Member("States"), source.Member(s.Name))
		for _, e := range expressionsOf(s, state, where) {
			c.functions(s, e)
			c.operators(s, e)
			for _, r := range e.reads {
				if !assigned[r] {
					c.unassigned(g, s, e, r, edges, ever, around)
				}
			}
		}
		if s.Branches != nil || s.Map != nil {
			c.inner(s, state, where, scope{assigned: assigned, hidden: around.hidden,
				around: slices.Concat(around.around, pathTo(g.StartAt, s.Name, "", edges))})
		}
	}
}

// inner checks the graphs inside a state.
func (c *checker) inner(s *asl.State, raw jsonvalue.Value, at source.Path, around scope) {
	branches, _ := raw.Get("Branches")
	for i, b := range s.Branches {
		c.graph(b, branches.At(i), at.Join(source.Member("Branches"), source.Element(i)), around)
	}
	if s.Map == nil || s.Map.Processor == nil {
		return
	}
	field := "ItemProcessor"
	processor, ok := raw.Get(field)
	if !ok {
		field = "Iterator"
		processor, _ = raw.Get(field)
	}
	if s.Map.Distributed {
		around.hidden, around.assigned = around.assigned, set{}
	}
	c.graph(s.Map.Processor, processor, at.Join(source.Member(field)), around)
}

// edgesOf returns the transitions from each state of a graph, and all variables that its states assign.
func edgesOf(g *asl.Graph) (edges map[string][]edge, ever set) {
	edges, ever = map[string][]edge{}, set{}
	add := func(e edge) { edges[e.from] = append(edges[e.from], e) }
	for _, s := range g.States {
		assigns := func(v *jsonvalue.Value) []string {
			if v == nil {
				return nil
			}
			var names []string
			for _, key := range v.Keys() {
				name := key
				if s.QueryLanguage == asl.JSONPath {
					name = strings.TrimSuffix(key, ".$")
				}
				names = append(names, name)
				ever[name] = true
			}
			return names
		}
		own := assigns(s.Assign)
		if s.Next != "" {
			add(edge{from: s.Name, to: s.Next, assigns: own})
		}
		var absent []string // variables whose absence an earlier rule has tested
		for i := range s.Choices {
			r := &s.Choices[i]
			present, missing := tested(r)
			add(edge{from: s.Name, to: r.Next, assigns: slices.Concat(assigns(r.Assign), present, absent)})
			absent = append(absent, missing...)
		}
		if s.Default != "" {
			add(edge{from: s.Name, to: s.Default, assigns: slices.Concat(own, absent)})
		}
		for i := range s.Catch {
			add(edge{from: s.Name, to: s.Catch[i].Next, assigns: assigns(s.Catch[i].Assign), caught: true})
		}
	}
	return edges, ever
}

var (
	existing = lazyregexp.New(`\$exists\(\s*\$([\pL_][\pL\pN_]*)`)
	absence  = lazyregexp.New(`^\{%\s*\$not\(\s*\$exists\(\s*\$([\pL_][\pL\pN_]*)\s*\)\s*\)\s*%\}$`)
	either   = lazyregexp.New(`\bor\b|\$not\(|\?`)
)

// tested returns the variables that have a value if a choice rule matches, and those that have a value if it does not.
func tested(r *asl.Rule) (present, missing []string) {
	if r.Condition != nil && r.Condition.Kind() == jsonvalue.String {
		text := r.Condition.Text()
		if m := absence.FindStringSubmatch(text); m != nil {
			return nil, m[1:]
		}
		if !either.MatchString(text) {
			for _, m := range existing.FindAllStringSubmatch(text, -1) {
				present = append(present, m[1])
			}
		}
		return present, nil
	}
	for i := range r.And {
		in, _ := tested(&r.And[i])
		present = append(present, in...)
	}
	if r.Not != nil {
		present, missing = tested(r.Not)
		return missing, present
	}
	if name := variableOf(r.Variable); r.Operator == "IsPresent" && name != "" && r.Variable == "$"+name {
		if r.Operand.JSON() == "true" {
			return []string{name}, nil
		}
		return nil, []string{name}
	}
	return present, nil
}

// flow returns the variables that have a value whenever a state is entered, for each state that can be reached. outer
// are those that have one when the graph starts.
func flow(start string, edges map[string][]edge, outer set) map[string]set {
	before := map[string]set{start: outer}
	for pending := []string{start}; len(pending) > 0; {
		name := pending[0]
		pending = pending[1:]
		for _, e := range edges[name] {
			after := before[name].with(e.assigns)
			known, reached := before[e.to]
			both := after
			if reached {
				both = set{}
				for v := range known {
					if after[v] {
						both[v] = true
					}
				}
			}
			if !reached || len(both) < len(known) {
				before[e.to] = both
				pending = append(pending, e.to)
			}
		}
	}
	return before
}

// pathTo returns the shortest path from the start to a state, both included, on which a variable is not assigned.
func pathTo(start, to, variable string, edges map[string][]edge) []step {
	previous := map[string]edge{start: {}}
	for pending := []string{start}; len(pending) > 0; {
		name := pending[0]
		pending = pending[1:]
		if name == to {
			break
		}
		for _, e := range edges[name] {
			if _, seen := previous[e.to]; seen || slices.Contains(e.assigns, variable) {
				continue
			}
			previous[e.to] = e
			pending = append(pending, e.to)
		}
	}
	var path []step
	for name := to; ; {
		e := previous[name]
		path = append(path, step{name, e.caught})
		if name == start || e.from == "" {
			slices.Reverse(path)
			return path
		}
		name = e.from
	}
}

// written formats a path for a message. A long one is cut in the middle.
func written(path []step) string {
	const shown = 8
	var b strings.Builder
	for i, s := range path {
		if len(path) > shown && i >= shown/2 && i < len(path)-shown/2 {
			if i == shown/2 {
				b.WriteString(" → …")
			}
			continue
		}
		switch {
		case i == 0:
		case s.caught:
			b.WriteString(" → (Catch) ")
		default:
			b.WriteString(" → ")
		}
		b.WriteString(s.name)
	}
	return b.String()
}

// unassigned reports a variable that a state reads although it may have no value.
func (c *checker) unassigned(g *asl.Graph, s *asl.State, e expression, name string, edges map[string][]edge,
	ever set, around scope) {
	if len(c.found) == most {
		return
	}
	var message, hint string
	switch {
	case around.hidden[name]:
		message = fmt.Sprintf("The variable '%s' is assigned outside of the distributed Map, whose child executions do not see it", name)
		hint = "pass its value with ItemSelector or BatchInput"
	case !ever[name]:
		message = fmt.Sprintf("The variable '%s' is read here, and no state before assigns it", name)
		known := slices.Concat(slices.Sorted(maps.Keys(ever)), slices.Sorted(maps.Keys(around.assigned)))
		switch near := spelling.Nearest(name, known); {
		case c.everywhere[name]:
			hint = "variables that a branch or a processor assigns end with it"
		case near != "":
			hint = "did you mean '" + near + "'?"
		case e.jsonata:
			hint = "an expression starts from $states.input, $states.context or a variable"
		default:
			hint = "a path starts from $ (the input), $$ (the context object) or a variable"
		}
	default:
		path := pathTo(g.StartAt, s.Name, name, edges)
		message = fmt.Sprintf("The variable '%s' has no value on the path %s", name, written(slices.Concat(around.around, path)))
		switch {
		case len(path) == 1:
			hint = "what Assign assigns has its value only when the state ends"
		case e.jsonata:
			hint = "assign it on every path to the state, or ask for it with $exists"
		default:
			hint = "assign it on every path to the state, or ask for it with IsPresent in a Choice state"
		}
	}
	c.report(asl.UnassignedVariable, s, e, "$"+name, message, hint)
}

// functions reports functions that JSONata in Step Functions does not have.
func (c *checker) functions(s *asl.State, e expression) {
	for _, name := range e.unknown {
		hint := "no state can assign a function to a variable; define it in the expression"
		switch near := spelling.Nearest(name, e.known); {
		case name == "eval":
			hint = "$parse converts JSON text; Step Functions evaluates no text as an expression"
		case near != "":
			hint = "did you mean $" + near + "?"
		}
		c.report(asl.UnknownFunction, s, e, "$"+name, "JSONata in Step Functions has no function $"+name, hint)
	}
}

// operators reports operators with operands that they never accept.
func (c *checker) operators(s *asl.State, e expression) {
	for _, m := range e.mismatches {
		side := "its operand"
		if m.Side != "" {
			side = "its " + m.Side + " side"
		}
		c.report(asl.MistypedOperand, s, e, "", fmt.Sprintf("The operator %s fails here: %s is %s, not %s", m.Operator, side,
			withArticle(m.Type), m.Wanted), "$number converts a string, & joins strings")
	}
}

func withArticle(kind string) string {
	switch kind {
	case "null":
		return kind
	case "array", "object":
		return "an " + kind
	default:
		return "a " + kind
	}
}

// report adds a finding about an expression; word, unless empty, is the part of its text to underline.
func (c *checker) report(code asl.Code, s *asl.State, e expression, word, message, hint string) {
	key := string(code) + "\x00" + s.Name + "\x00" + message
	if word == "" {
		key += e.at.String()
	}
	if c.said[key] || len(c.found) == most {
		return
	}
	c.said[key] = true
	if c.index == nil {
		c.index, c.lines = source.NewIndex(c.text), source.NewLines(c.text)
	}
	span := c.index.Value(e.at)
	if i := wordIn(c.text[span.Start:span.End], word); i >= 0 {
		span = source.Span{Start: span.Start + i, End: span.Start + i + len(word)}
	}
	p := c.lines.Position(span.Start)
	c.found = append(c.found, asl.Diagnostic{Severity: asl.SeverityWarning, Code: code, Message: message, Hint: hint,
		Location: e.at.String(), Line: p.Line, Column: p.Column, Span: span})
}

// wordIn returns the offset of a variable with its dollar in a text; -1 if there is none.
func wordIn(text, word string) int {
	for from := 0; word != ""; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return -1
		}
		i, from = from+i, from+i+len(word)
		if r, _ := utf8.DecodeRuneInString(text[from:]); r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return i
		}
	}
	return -1
}
