package partiql

import (
	"strings"

	"stepback/local/services/dynamodb/item"
)

func literal(word string) bool {
	return strings.EqualFold(word, "true") || strings.EqualFold(word, "false") || strings.EqualFold(word, "null")
}

// constant parses a value.
func (p *parser) constant() item.Value {
	defer p.deeper()()
	t := p.next()
	switch t.kind {
	case textToken:
		return item.String(t.text)
	case numberToken:
		return p.number(t.text)
	case wordToken:
		switch strings.ToLower(t.text) {
		case "true", "false":
			return item.Value{Kind: item.KindBool, Bool: strings.EqualFold(t.text, "true")}
		case "null":
			return item.Value{Kind: item.KindNull}
		}
	case signToken:
		switch t.text {
		case "?":
			if p.used == len(p.params) {
				panic(malformed{item.Invalid("Number of parameters in request and statement don't match.")})
			}
			p.used++
			return p.params[p.used-1]
		case "-", "+":
			if n := p.next(); n.kind == numberToken {
				return p.number(strings.TrimPrefix(t.text, "+") + n.text)
			}
		case "[":
			return item.Value{Kind: item.KindList, List: p.elements("]")}
		case "<<":
			return p.set(p.elements(">>"))
		case "{":
			return item.Value{Kind: item.KindMap, Map: p.tuple()}
		}
	default:
	}
	p.fail("Expected a value")
	return item.Value{}
}

func (p *parser) number(text string) item.Value {
	v, err := item.Number(text)
	if err != nil {
		panic(malformed{err})
	}
	return v
}

func (p *parser) elements(closing string) []item.Value {
	all := []item.Value{}
	if p.sign(closing) {
		return all
	}
	for {
		all = append(all, p.constant())
		if !p.sign(",") {
			p.expectSign(closing)
			return all
		}
	}
}

func (p *parser) set(elements []item.Value) item.Value {
	if len(elements) == 0 {
		p.fail("A set must not be empty")
	}
	kinds := map[item.Kind]item.Kind{item.KindString: item.KindStringSet, item.KindNumber: item.KindNumberSet,
		item.KindBinary: item.KindBinarySet}
	kind, ok := kinds[elements[0].Kind]
	for _, e := range elements {
		if !ok || e.Kind != elements[0].Kind {
			p.fail("A set has elements of one type: string, number or binary")
		}
	}
	return item.Set(kind, elements)
}

func (p *parser) tuple() item.Item {
	made := item.Item{}
	if p.sign("}") {
		return made
	}
	for {
		t := p.next()
		if t.kind != textToken && t.kind != nameToken {
			p.fail("Expected the name of an attribute in quotes")
		}
		p.expectSign(":")
		if _, twice := made[t.text]; twice {
			p.fail("Duplicate attribute: " + t.text)
		}
		made[t.text] = p.constant()
		if !p.sign(",") {
			p.expectSign("}")
			return made
		}
	}
}
