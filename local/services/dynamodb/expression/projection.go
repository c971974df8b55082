package expression

import (
	"maps"
	"slices"

	"stepback/local/services/dynamodb/item"
)

// Projection selects the parts of items to return.
type Projection struct {
	// Flat returns members of maps as attributes with the member's name, as PartiQL does. Elements of lists stay within
	// their lists.
	Flat  bool
	root  branch
	paths []Path
}

// branch selects the parts of a map by name, or of a list by index. A nil branch selects everything.
type branch struct {
	members  map[string]*branch
	elements map[int]*branch
	order    []int // the indexes, sorted
}

// ParseProjection parses a projection expression. The error is an item.Invalid.
func ParseProjection(text string, params *Parameters) (*Projection, error) {
	var all paths
	err := parse("ProjectionExpression", text, params, func(p *parser) {
		for more := true; more; more = p.accept(",") {
			all.add(p, p.path(reservedUpdate))
		}
	})
	if err != nil {
		return nil, err
	}
	return NewProjection(all...), nil
}

// NewProjection returns a projection to paths, none of which may be within another one.
func NewProjection(all ...Path) *Projection {
	made := &Projection{paths: all}
	for _, path := range all {
		at := &made.root
		for i, step := range path {
			at = at.child(step, i == len(path)-1)
		}
	}
	return made
}

// child returns the branch after a step; the last step of a path selects everything.
func (b *branch) child(s Step, last bool) *branch {
	if s.Index < 0 {
		if b.members == nil {
			b.members = map[string]*branch{}
		}
		there, ok := b.members[s.Name]
		if !ok || there == nil {
			if there = nil; !last {
				there = &branch{}
			}
			b.members[s.Name] = there
		}
		return there
	}
	if b.elements == nil {
		b.elements = map[int]*branch{}
	}
	there, ok := b.elements[s.Index]
	if !ok {
		b.order = append(b.order, s.Index)
		slices.Sort(b.order)
		if !last {
			there = &branch{}
		}
		b.elements[s.Index] = there
	}
	return there
}

// Paths returns the selected paths.
func (p *Projection) Paths() []Path { return p.paths }

// Of returns the selected parts of an item.
func (p *Projection) Of(i item.Item) item.Item {
	if !p.Flat {
		return p.root.ofMap(i)
	}
	shown := item.Item{}
	var elements []Path
	for _, path := range p.paths {
		last := path[len(path)-1]
		if last.Index >= 0 {
			elements = append(elements, path)
		} else if v := path.In(i); v.Kind != 0 {
			shown[last.Name] = v
		}
	}
	maps.Copy(shown, NewProjection(elements...).Of(i))
	return shown
}

func (b *branch) ofMap(i item.Item) item.Item {
	shown := make(item.Item, len(b.members))
	for name, part := range b.members {
		v, ok := i[name]
		if !ok {
			continue
		}
		if v, ok = part.of(v); ok {
			shown[name] = v
		}
	}
	return shown
}

// of returns the selected part of a value; false if there is none.
func (b *branch) of(v item.Value) (item.Value, bool) {
	switch {
	case b == nil:
		return v, true
	case v.Kind == item.KindMap && b.members != nil:
		m := b.ofMap(v.Map)
		return item.Value{Kind: item.KindMap, Map: m}, len(m) > 0
	case v.Kind == item.KindList && b.elements != nil:
		var list []item.Value
		for _, index := range b.order {
			if index >= len(v.List) {
				break
			}
			if e, ok := b.elements[index].of(v.List[index]); ok {
				list = append(list, e)
			}
		}
		return item.Value{Kind: item.KindList, List: list}, len(list) > 0
	}
	return item.Value{}, false
}
