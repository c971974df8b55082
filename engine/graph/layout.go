package graph

import (
	"cmp"
	"slices"

	"stepback/asl"
)

// Sizes in pixels.
const (
	nodeHeight = 40.0
	pillHeight = 24.0
	nodeMin    = 96.0
	nodeMax    = 260.0
	textPad    = 14.0
	layerGap   = 34.0
	siblingGap = 28.0
	labelRoom  = 20.0
	lineGap    = 14.0 // beside a passing line
	boxPadding = 16.0
	boxHeader  = 46.0
	branchGap  = 20.0
	nameSize   = 13.0
	aboutSize  = 11.0
)

// vertex is a node, or the point where a line passes through a layer.
type vertex struct {
	*Node    // nil if a line passes here
	at       Point
	layer    int
	place    int // position within the layer
	up, down []link
}

// link is a neighbour in the next layer. weight says how strongly the two vertices should be in line.
type link struct {
	v      *vertex
	weight float64
}

func (v *vertex) width() float64 {
	if v.Node == nil {
		return 0
	}
	return v.Width
}

// layout is one set of states that refer to each other, with their positions.
type layout struct {
	nodes         []*vertex
	layers        [][]*vertex
	heights       []float64
	drawn         []*Edge
	width, height float64
	chains        []chain
}

// chain is an edge with the vertices that it passes through, from top to bottom.
type chain struct {
	edge    *Edge
	through []*vertex
}

// lay lays out a set of states. Only the outermost set shows its start and end.
func lay(g *asl.Graph, outermost bool, depth int) *layout {
	l := &layout{}
	byName := map[string]*vertex{}
	add := func(n *Node) *vertex {
		v := &vertex{Node: n, layer: -1}
		l.nodes = append(l.nodes, v)
		return v
	}
	var edges []transition
	start, end := "\x00start", "\x00end" // no state has these names
	if outermost {
		byName[start] = add(pill(startName))
		edges = append(edges, transition{from: start, to: g.StartAt})
	}
	for _, s := range g.States {
		byName[s.Name] = add(nodeOf(s, depth))
		for _, e := range transitionsOf(s) {
			if e.to == "" {
				if !outermost {
					continue
				}
				e.to = end
			}
			edges = append(edges, e)
		}
	}
	if outermost {
		byName[end] = add(pill(endName))
	}
	edges = slices.DeleteFunc(edges, func(e transition) bool { return byName[e.from] == nil || byName[e.to] == nil })
	up := l.rank(byName, edges, cmp.Or(map[bool]string{true: start}[outermost], g.StartAt))
	l.stack()
	l.thread(byName, edges, up, end)
	l.order()
	l.align()
	l.draw()
	return l
}

func pill(name string) *Node {
	return &Node{Name: name, Width: textWidth(name, aboutSize) + 2*textPad, Height: pillHeight}
}

func nodeOf(s *asl.State, depth int) *Node {
	n := &Node{Name: s.Name, Type: s.Type, About: about(s), Retries: len(s.Retry) > 0, Depth: depth, Height: nodeHeight}
	second := n.About
	if n.Retries {
		second += " · 9 attempts"
	}
	n.Width = max(nodeMin, textWidth(s.Name, nameSize), textWidth(second, aboutSize)) + 2*textPad
	n.Width = min(n.Width, nodeMax)
	inner := s.Branches
	if s.Map != nil && s.Map.Processor != nil {
		inner = []*asl.Graph{s.Map.Processor}
	}
	if len(inner) == 0 {
		return n
	}
	width, height := -branchGap, 0.0
	for _, b := range inner {
		il := lay(b, false, depth+1)
		n.inner = append(n.inner, il)
		width += il.width + branchGap
		height = max(height, il.height)
	}
	n.Width = max(n.Width, width+2*boxPadding)
	if extra := n.Width - 2*boxPadding - width; extra > 0 {
		for _, il := range n.inner { // centre a single narrow branch
			il.shift(extra / 2)
			il.width += extra / float64(len(n.inner))
		}
	}
	n.Height = boxHeader + height + boxPadding
	return n
}

// shift moves everything to the right.
func (l *layout) shift(by float64) {
	if len(l.nodes) > 1 && by == 0 {
		return
	}
	for _, v := range l.nodes {
		v.X += by
	}
	for _, e := range l.drawn {
		for i := range e.Points {
			e.Points[i].X += by
		}
	}
}

// rank assigns every vertex to a layer, by the longest path from the start. Each vertex, including the end, is
// therefore below all vertices that lead to it. rank returns the transitions that go back; it ignores them when it
// assigns the layers.
func (l *layout) rank(byName map[string]*vertex, edges []transition, start string) map[int]bool {
	out := map[*vertex][]int{}
	for i, e := range edges {
		out[byName[e.from]] = append(out[byName[e.from]], i)
	}
	back := map[int]bool{}
	state := map[*vertex]int{} // 1 while being visited, 2 afterwards
	var sorted []*vertex
	var visit func(*vertex)
	visit = func(v *vertex) {
		state[v] = 1
		for _, i := range out[v] {
			switch to := byName[edges[i].to]; state[to] {
			case 0:
				visit(to)
			case 1:
				back[i] = true
			}
		}
		state[v] = 2
		sorted = append(sorted, v)
	}
	if v := byName[start]; v != nil {
		visit(v)
	}
	for _, v := range l.nodes {
		if state[v] == 0 {
			visit(v)
		}
	}
	for _, v := range sorted {
		v.layer = 0
	}
	slices.Reverse(sorted)
	for _, v := range sorted {
		for _, i := range out[v] {
			if to := byName[edges[i].to]; !back[i] {
				to.layer = max(to.layer, v.layer+1)
			}
		}
	}
	return back
}

// stack builds the layers.
func (l *layout) stack() {
	deepest := 0
	for _, v := range l.nodes {
		deepest = max(deepest, v.layer)
	}
	l.layers = make([][]*vertex, deepest+1)
	for _, v := range l.nodes {
		l.put(v)
	}
}

func (l *layout) put(v *vertex) {
	v.place = len(l.layers[v.layer])
	l.layers[v.layer] = append(l.layers[v.layer], v)
}

// thread routes edges that are longer than one layer through the layers in between. All catchers with the same
// target share one line, and so do all ends.
func (l *layout) thread(byName map[string]*vertex, edges []transition, back map[int]bool, end string) {
	type shared struct {
		to    *vertex
		catch bool
		layer int
	}
	trunks := map[shared]*vertex{}
	for i, t := range edges {
		from, to := byName[t.from], byName[t.to]
		e := &Edge{From: from.Name, To: to.Name, Kind: t.kind, Label: clip(t.label, 24), Title: t.title, Up: back[i]}
		if from == to {
			l.chains = append(l.chains, chain{e, []*vertex{from, from}})
			continue
		}
		upper, lower := from, to
		if e.Up {
			upper, lower = to, from
		}
		weight := map[Kind]float64{Next: 4, Choice: 2, Default: 3, Catch: 0.5}[t.kind]
		through := []*vertex{upper}
		share := !e.Up && (t.kind == Catch || t.to == end)
		for layer := upper.layer + 1; layer < lower.layer; layer++ {
			key := shared{lower, t.kind == Catch, layer}
			if share && trunks[key] != nil {
				join := trunks[key]
				connect(through[len(through)-1], join, weight)
				through = append(through, join)
				e.Trunk = true
				break
			}
			v := &vertex{layer: layer}
			l.put(v)
			if share {
				trunks[key] = v
			}
			connect(through[len(through)-1], v, weight*2)
			through = append(through, v)
		}
		if !e.Trunk {
			connect(through[len(through)-1], lower, weight)
			through = append(through, lower)
		}
		l.chains = append(l.chains, chain{e, through})
	}
}

func connect(upper, lower *vertex, weight float64) {
	upper.down = append(upper.down, link{lower, weight})
	lower.up = append(lower.up, link{upper, weight})
}

// draw routes every edge.
func (l *layout) draw() {
	ports := l.ports()
	for _, c := range l.chains {
		e := c.edge
		l.drawn = append(l.drawn, e)
		if c.through[0] == c.through[1] {
			v := c.through[0]
			right, y := v.X+v.Width, v.at.Y
			e.Points = []Point{{right, y - 8}, {right + 18, y}, {right, y + 8}}
			l.width = max(l.width, right+20)
			continue
		}
		for i, v := range c.through {
			switch {
			case v.Node == nil:
				half := l.heights[v.layer] / 2
				if i < len(c.through)-1 || !e.Trunk {
					e.Points = append(e.Points, Point{v.at.X, v.at.Y - half}, Point{v.at.X, v.at.Y + half})
				} else {
					e.Points = append(e.Points, Point{v.at.X, v.at.Y - half})
				}
			case i == 0:
				e.Points = append(e.Points, Point{ports[portOf{e, true}], v.Y + v.Height})
			default:
				e.Points = append(e.Points, Point{ports[portOf{e, false}], v.Y})
			}
		}
		if e.Up {
			slices.Reverse(e.Points)
		}
	}
}

type portOf struct {
	edge *Edge
	out  bool // true for the end at the upper vertex
}

// ports spreads the lines of a node along its border, in the order of their other ends. Lines of the same trunk
// share a port, and so do lines that come in from above.
func (l *layout) ports() map[portOf]float64 {
	at := map[portOf]float64{}
	out := map[*vertex][]chain{}
	for _, c := range l.chains {
		if c.through[0] != c.through[1] {
			out[c.through[0]] = append(out[c.through[0]], c)
		}
		last := c.through[len(c.through)-1]
		x := last.at.X
		if c.edge.Up { // leaves there, beside the incoming lines
			x += min(24, last.width()/3)
		}
		at[portOf{c.edge, false}] = x
	}
	for v, chains := range out {
		slices.SortStableFunc(chains, func(a, b chain) int {
			return cmp.Compare(a.through[1].at.X, b.through[1].at.X)
		})
		step := 0.0
		if len(chains) > 1 {
			step = min(26, v.width()*0.7/float64(len(chains)-1))
		}
		for i, c := range chains {
			c.edge.row = i % 2
			at[portOf{c.edge, true}] = v.at.X + step*(float64(i)-float64(len(chains)-1)/2)
		}
	}
	return at
}
