package graph

import (
	"cmp"
	"strings"

	"stepback/asl"
	"stepback/jsonvalue"
)

// Kind is the kind of a transition.
type Kind uint8

// The kinds of transitions.
const (
	Next    Kind = iota // also from the start and to the end
	Choice              // a rule of a Choice state
	Default             // the Default of a Choice state
	Catch               // a catcher
)

// String returns the kind as used in SVG classes.
func (k Kind) String() string { return [...]string{"next", "choice", "default", "catch"}[k] }

// The names of the start and end nodes. Their Type is empty, unlike that of any state.
const (
	startName = "Start"
	endName   = "End"
)

// Node is a state, or the start or the end of the machine, with its position in the picture in pixels.
type Node struct {
	// Name and Type are those of the state; Type is empty for the start and the end.
	Name string   `json:"name"`
	Type asl.Type `json:"type,omitempty"`
	// About describes in a few words what a Task calls, or how a Map, Wait or Choice works.
	About string `json:"about,omitempty"`
	// Retries is true if the state has a Retry array.
	Retries bool `json:"retries,omitempty"`

	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
	// Depth is the number of Parallel and Map states around the node.
	Depth int `json:"depth"`

	inner []*layout // of a Parallel or Map state
}

// Box reports whether the node is a Parallel or Map state that is drawn around others.
func (n *Node) Box() bool { return len(n.inner) > 0 }

// Edge is a transition with its route through the picture.
type Edge struct {
	From, To string
	Kind     Kind
	// Label is the short text; Title is the full one.
	Label, Title string
	// Points are the start, the bends and the end of the line. At its start and end, the line is vertical.
	Points []Point
	// Trunk is true if the line joins the line of another catcher or end, which continues to To.
	Trunk bool
	// row is 0 or 1. It selects the height of the label, so that the labels of a state's edges are staggered.
	row int
	// Up is true if the line goes back to an earlier state.
	Up bool
}

// Point is a position in the picture.
type Point struct{ X, Y float64 }

// Graph is a picture of a machine. Its nodes are in the order from the outside to the inside.
type Graph struct {
	Title         string
	Width, Height float64
	Nodes         []*Node
	Edges         []*Edge
}

// New lays a machine out. The title may be empty.
func New(m *asl.Machine, title string) *Graph {
	const margin = 12
	l := lay(&m.Graph, true, 0)
	g := &Graph{Title: title, Width: l.width + 2*margin, Height: l.height + 2*margin}
	g.add(l, margin, margin)
	return g
}

// add adds a layout, and the layouts inside it, to the picture.
func (g *Graph) add(l *layout, x, y float64) {
	for _, n := range l.nodes {
		if n.Node == nil {
			continue
		}
		n.X, n.Y = n.X+x, n.Y+y
		g.Nodes = append(g.Nodes, n.Node)
	}
	for _, e := range l.drawn {
		for i := range e.Points {
			e.Points[i].X += x
			e.Points[i].Y += y
		}
		g.Edges = append(g.Edges, e)
	}
	for _, n := range l.nodes {
		if n.Node == nil || !n.Box() {
			continue
		}
		left := n.X + boxPadding
		for _, inner := range n.inner {
			g.add(inner, left, n.Y+boxHeader)
			left += inner.width + branchGap
		}
	}
}

// transition is an edge that has no position yet.
type transition struct {
	from, to     string
	kind         Kind
	label, title string
}

// transitionsOf returns the transitions of a state in the order of the definition; a target of "" is the end.
func transitionsOf(s *asl.State) []transition {
	var out []transition
	switch {
	case s.Type == asl.Choice:
		for i := range s.Choices {
			r := &s.Choices[i]
			text := condition(r)
			out = append(out, transition{s.Name, r.Next, Choice, cmp.Or(r.Comment, brief(text)), text})
		}
		if s.Default != "" {
			out = append(out, transition{s.Name, s.Default, Default, "otherwise", "Default"})
		}
	case s.Next != "":
		out = append(out, transition{from: s.Name, to: s.Next})
	case s.End || s.Type == asl.Succeed || s.Type == asl.Fail:
		out = append(out, transition{from: s.Name})
	}
	for i := range s.Catch {
		c := &s.Catch[i]
		names := strings.Join(c.ErrorEquals, ", ")
		out = append(out, transition{s.Name, c.Next, Catch, "", "catches " + names})
	}
	return out
}

// condition describes a choice rule in a few words.
func condition(r *asl.Rule) string {
	several := func(word string, rules []asl.Rule) string {
		parts := make([]string, len(rules))
		for i := range rules {
			parts[i] = condition(&rules[i])
		}
		return strings.Join(parts, " "+word+" ")
	}
	switch {
	case len(r.And) > 0:
		return several("and", r.And)
	case len(r.Or) > 0:
		return several("or", r.Or)
	case r.Not != nil:
		return "not " + condition(r.Not)
	case r.Condition != nil:
		return strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(r.Condition.Text(), "{%"), "%}"))
	}
	operator := r.Operator
	for long, short := range map[string]string{
		"Equals": "=", "LessThan": "<", "GreaterThan": ">", "LessThanEquals": "≤", "GreaterThanEquals": "≥",
	} {
		for _, kind := range []string{"String", "Numeric", "Boolean", "Timestamp"} {
			if operator == kind+long || operator == kind+long+"Path" {
				operator = short
			}
		}
	}
	return r.Variable + " " + operator + " " + textOf(r.Operand)
}

// brief shortens a condition for the picture: only the last two members of a path are shown.
func brief(text string) string {
	words := strings.Fields(text)
	for i, w := range words {
		if !strings.HasPrefix(w, "$") {
			continue
		}
		if parts := strings.Split(strings.TrimLeft(w, "$."), "."); len(parts) > 1 {
			words[i] = strings.Join(parts[len(parts)-1:], ".")
		}
	}
	return strings.Join(words, " ")
}

func textOf(v jsonvalue.Value) string {
	if v.Kind() == jsonvalue.String {
		return v.Text()
	}
	return v.JSON()
}

// about describes what a state does, in a few words.
func about(s *asl.State) string {
	switch s.Type {
	case asl.Task:
		return resource(s.Resource)
	case asl.Map:
		if s.Map != nil && s.Map.Distributed {
			return "Distributed Map"
		}
	case asl.Wait:
		if s.Seconds.Literal != nil {
			return "Wait " + textOf(*s.Seconds.Literal) + " s"
		}
	default:
	}
	return string(s.Type)
}

// resource shortens the resource of a task: lambda:invoke, function charge, activity approve.
func resource(arn string) string {
	if short, ok := strings.CutPrefix(arn, "arn:aws:states:::"); ok {
		return short
	}
	parts := strings.Split(arn, ":")
	if n := len(parts); n >= 7 {
		return parts[n-2] + " " + parts[n-1]
	}
	return arn
}
