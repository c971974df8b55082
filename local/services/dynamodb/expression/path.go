package expression

import (
	"strconv"
	"strings"

	"stepback/local/services/dynamodb/item"
)

// Step is one step of a path: the member of a map, or the element of a list.
type Step struct {
	Name  string
	Index int // of a list element; -1 for a member
}

// Path is the path of a value within an item: a.b[2].
type Path []Step

// Attribute returns the path of a top-level attribute.
func Attribute(name string) Path { return Path{{name, -1}} }

// String formats a path as in messages: [a, b, [2]].
func (p Path) String() string {
	parts := make([]string, len(p))
	for i, s := range p {
		if parts[i] = s.Name; s.Index >= 0 {
			parts[i] = "[" + strconv.Itoa(s.Index) + "]"
		}
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// In returns the value at the path within an item; the zero Value if there is none.
func (p Path) In(i item.Item) item.Value {
	v := i[p[0].Name]
	for _, s := range p[1:] {
		switch {
		case s.Index < 0 && v.Kind == item.KindMap:
			v = v.Map[s.Name]
		case s.Index >= 0 && v.Kind == item.KindList && s.Index < len(v.List):
			v = v.List[s.Index]
		default:
			return item.Value{}
		}
	}
	return v
}

// mostLevels is the maximum number of steps of a path.
const mostLevels = 32

// path parses a path. A reserved word is recorded as a mistake of kind ofReserved, which differs between conditions
// and other expressions.
func (p *parser) path(ofReserved mistake) Path {
	var made Path
	for {
		t := p.peek()
		switch t.kind {
		case tokenWord:
			if Reserved(t.text) {
				p.note(ofReserved, "Attribute name is a reserved keyword; reserved keyword: "+t.text)
			}
			made = append(made, Step{t.text, -1})
		case tokenName:
			name, ok := p.params.name(t.text)
			if !ok {
				p.undefined(undefinedName, "An expression attribute name used in the document path is not defined; "+
					"attribute name: "+t.text)
			}
			made = append(made, Step{name, -1})
		default:
			p.fail()
		}
		p.at++
		for p.accept("[") {
			digits := p.peek().text
			if p.peek().kind != tokenNumber {
				p.fail()
			}
			p.at++
			p.expect("]")
			n, err := strconv.ParseInt(digits, 10, 32)
			if err != nil {
				p.note(pathLimit, "List index is not within the allowable range; index: ["+digits+"]")
			}
			made = append(made, Step{Index: int(n)})
		}
		if !p.accept(".") {
			if len(made) > mostLevels {
				p.note(pathLimit, "The document path has too many nesting levels; nesting levels: "+strconv.Itoa(len(made)))
			}
			return made
		}
	}
}

// undefined records the mistake that a placeholder is not defined. Its kind is m, but inCondition while a condition is
// parsed.
func (p *parser) undefined(m mistake, message string) {
	if p.judging {
		m = inCondition
	}
	p.note(m, message)
}

// value parses the placeholder of a value.
func (p *parser) value() item.Value {
	t := p.next()
	v, ok := p.params.value(t.text)
	if !ok {
		p.undefined(undefinedValue, "An expression attribute value used in expression is not defined; "+
			"attribute value: "+t.text)
	}
	return v
}

// same reports whether two paths are the same.
func same(a, b Path) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// paths is a list of paths. It rejects paths that are within one another.
type paths []Path

func (all *paths) add(p *parser, path Path) {
	for _, other := range *all {
		relate(p, other, path)
	}
	*all = append(*all, path)
}

func relate(p *parser, one, two Path) {
	for i := 0; i < len(one) && i < len(two); i++ {
		switch a, b := one[i], two[i]; {
		case (a.Index < 0) != (b.Index < 0):
			p.note(conflict, "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: "+
				one.String()+", path two: "+two.String())
			return
		case a != b:
			return
		}
	}
	p.note(overlap, "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: "+
		one.String()+", path two: "+two.String())
}
