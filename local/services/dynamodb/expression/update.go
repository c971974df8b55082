package expression

import (
	"errors"
	"maps"
	"slices"
	"strconv"

	"stepback/local/services/dynamodb/item"
)

const (
	errNoAttribute = item.Invalid("The provided expression refers to an attribute that does not exist in the item")
	errDataType    = item.Invalid("An operand in the update expression has an incorrect data type")
	errMismatch    = item.Invalid("Type mismatch for attribute to update")
	errUpdatePath  = item.Invalid("The document path provided in the update expression is invalid for update")
)

// Update holds the changes of an item.
type Update struct {
	changes []change
	legacy  bool // the update has the form of AttributeUpdates
}

// verb is a section of an update expression.
type verb string

const (
	set    verb = "SET"
	remove verb = "REMOVE"
	add    verb = "ADD"
	del    verb = "DELETE"
)

type change struct {
	verb  verb
	path  Path
	value *term // nil for REMOVE
}

// term is the value that SET assigns to a path.
type term struct {
	path     Path       // nil if the term is not a path
	value    item.Value // the operand if path and operator are empty
	operator string     // +, -, if_not_exists, list_append
	terms    []*term    // the operands
}

// ParseUpdate parses an update expression. The error is an item.Invalid.
func ParseUpdate(text string, params *Parameters) (*Update, error) {
	u := &Update{}
	err := parse("UpdateExpression", text, params, func(p *parser) {
		var all paths
		seen := map[verb]bool{}
		for {
			section := p.section()
			if seen[section] {
				p.note(repeatedSection, "The \""+string(section)+"\" section can only be used once in an update expression;")
			}
			seen[section] = true
			for more := true; more; more = p.accept(",") {
				c := p.change(section)
				all.add(p, c.path)
				u.changes = append(u.changes, c)
			}
			if p.peek().kind == tokenEnd {
				return
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return u, nil
}

func (p *parser) section() verb {
	for _, v := range []verb{set, remove, add, del} {
		if p.keyword(string(v)) {
			return v
		}
	}
	p.fail()
	return ""
}

func (p *parser) change(section verb) change {
	c := change{verb: section, path: p.path(reservedUpdate)}
	switch section {
	case set:
		p.expect("=")
		c.value = p.sum()
	case add, del:
		if p.peek().kind != tokenValue {
			p.fail()
		}
		c.value = &term{value: p.value()}
		k := c.value.value.Kind
		if k != item.KindNone && k.Element() == item.KindNone && (section == del || k != item.KindNumber) {
			p.note(wrongOperand, "Incorrect operand type for operator or function; operator: "+string(section)+
				", operand type: "+longNames[k]+", typeset: ALLOWED_FOR_"+string(section)+"_OPERAND")
		}
	default:
	}
	return c
}

var longNames = map[item.Kind]string{item.KindString: "STRING", item.KindNumber: "NUMBER", item.KindBinary: "BINARY",
	item.KindBool: "BOOLEAN", item.KindNull: "NULL", item.KindList: "LIST", item.KindMap: "MAP"}

// sum parses an operand, or a sum or a difference of two.
func (p *parser) sum() *term {
	if p.accept("(") {
		t := p.sum()
		p.expect(")")
		return p.sumWith(t)
	}
	return p.sumWith(p.term())
}

func (p *parser) sumWith(left *term) *term {
	sign := p.peek().text
	if p.peek().kind != tokenSign || sign != "+" && sign != "-" {
		return left
	}
	p.at++
	var right *term
	if p.accept("(") {
		right = p.sum()
		p.expect(")")
	} else {
		right = p.term()
	}
	return p.apply(sign, left, right)
}

func (p *parser) term() *term {
	t := p.peek()
	switch {
	case t.kind == tokenValue:
		return &term{value: p.value()}
	case t.kind != tokenWord || p.tokens[p.at+1].text != "(":
		return &term{path: p.path(reservedUpdate)}
	}
	name := p.next().text
	p.expect("(")
	var terms []*term
	for more := true; more; more = p.accept(",") {
		terms = append(terms, p.term())
	}
	p.expect(")")
	for _, t := range terms {
		if t.operator == "list_append" {
			p.note(misusedFunction, "The function is not allowed to be used this way in an expression; function: list_append")
		}
	}
	return p.apply(name, terms...)
}

// apply returns a term that applies an operator or a function to operands. It checks the operands as far as their
// types are known.
func (p *parser) apply(name string, terms ...*term) *term {
	p.operators++
	made := &term{operator: name, terms: terms}
	want := item.KindNumber
	switch name {
	case "+", "-":
	case "list_append":
		want = item.KindList
	case "if_not_exists":
		want = item.KindNone
	default:
		if _, ok := arity[Operator(name)]; ok {
			p.note(unknownFunction, "The function is not allowed in an update expression; function: "+name)
		} else {
			p.note(unknownFunction, "Invalid function name; function: "+name)
		}
		return made
	}
	const operands = 2
	if len(terms) != operands {
		p.note(inCondition, "Incorrect number of operands for operator or function; operator or function: "+name+
			", number of operands: "+strconv.Itoa(len(terms)))
		return made
	}
	if name == "if_not_exists" && terms[0].path == nil {
		p.note(inCondition, "Operator or function requires a document path; operator or function: "+name)
	}
	for _, t := range terms {
		if k := t.value.Kind; want != item.KindNone && k != item.KindNone && k != want {
			p.note(inCondition, "Incorrect operand type for operator or function; operator or function: "+name+
				", operand type: "+k.String())
		}
	}
	return made
}

// Paths returns the paths that the update changes.
func (u *Update) Paths() []Path {
	made := make([]Path, len(u.changes))
	for i, c := range u.changes {
		made[i] = c.path
	}
	return made
}

// Creates reports whether the update creates the item if it does not exist. An update that only removes or deletes
// does not.
func (u *Update) Creates() bool {
	return len(u.changes) == 0 ||
		slices.ContainsFunc(u.changes, func(c change) bool { return c.verb == set || c.verb == add })
}

// Apply returns the updated item; before is nil if it does not exist. All values are read from the item before the
// update. The error is an item.Invalid.
func (u *Update) Apply(before item.Item) (item.Item, error) {
	after := maps.Clone(before)
	if after == nil {
		after = item.Item{}
	}
	for _, c := range u.changes {
		changed, err := c.apply(before)
		if errors.Is(err, errDataType) && u.legacy {
			err = errMismatch
		}
		if err != nil {
			return nil, err
		}
		if len(c.path) > 1 && after[c.path[0].Name].Kind == item.KindNone {
			return nil, errUpdatePath
		}
		root, err := put(after[c.path[0].Name], c.path[1:], changed)
		switch {
		case err != nil:
			return nil, err
		case root.Kind == item.KindNone:
			delete(after, c.path[0].Name)
		default:
			after[c.path[0].Name] = root
		}
	}
	for _, c := range u.changes { // removed list elements have left holes, so that indexes stayed the same
		if root := after[c.path[0].Name]; len(c.path) > 1 {
			after[c.path[0].Name] = withoutHoles(root)
		}
	}
	return after, nil
}

// apply returns the new value at the path of a change; the zero Value for none.
func (c change) apply(before item.Item) (item.Value, error) {
	switch c.verb {
	case set:
		return c.value.in(before)
	case remove:
		return item.Value{}, nil
	default:
	}
	there, operand := c.path.In(before), c.value.value
	if there.Kind == item.KindNone {
		if c.verb == del {
			return there, nil
		}
		return operand, nil
	}
	if there.Kind != operand.Kind {
		return there, errDataType
	}
	switch {
	case operand.Kind == item.KindNumber:
		return item.Add(there, operand, false)
	case c.verb == add:
		return item.Set(there.Kind, slices.Concat(there.List, operand.List)), nil
	}
	left := slices.DeleteFunc(slices.Clone(there.List), operand.Contains)
	if len(left) == 0 {
		return item.Value{}, nil
	}
	return item.Value{Kind: there.Kind, List: left}, nil
}

// in returns the value of the term for an item.
func (t *term) in(i item.Item) (item.Value, error) {
	switch {
	case t.operator == "if_not_exists":
		if v := t.terms[0].path.In(i); v.Kind != item.KindNone {
			return v, nil
		}
		return t.terms[1].in(i)
	case t.operator == "" && t.path == nil:
		return t.value, nil
	case t.operator == "":
		v := t.path.In(i)
		if v.Kind == item.KindNone {
			return v, errNoAttribute
		}
		return v, nil
	}
	a, err := t.terms[0].in(i)
	if err != nil {
		return a, err
	}
	b, err := t.terms[1].in(i)
	if err != nil {
		return b, err
	}
	want := item.KindNumber
	if t.operator == "list_append" {
		want = item.KindList
	}
	if a.Kind != want || b.Kind != want {
		return a, errDataType
	}
	if want == item.KindList {
		return item.Value{Kind: want, List: slices.Concat(a.List, b.List)}, nil
	}
	return item.Add(a, b, t.operator == "-")
}

// put returns a copy of a value in which the value at a path is replaced by to. If to is the zero Value, the value
// at the path is removed, which leaves a hole in a list.
func put(v item.Value, path Path, to item.Value) (item.Value, error) {
	if len(path) == 0 {
		return to, nil
	}
	step, last := path[0], len(path) == 1
	switch {
	case step.Index < 0 && v.Kind == item.KindMap:
		there, ok := v.Map[step.Name]
		if !ok && !last {
			return v, errUpdatePath
		}
		made, err := put(there, path[1:], to)
		if err != nil {
			return v, err
		}
		members := maps.Clone(v.Map)
		if members == nil {
			members = item.Item{}
		}
		if members[step.Name] = made; made.Kind == item.KindNone {
			delete(members, step.Name)
		}
		return item.Value{Kind: item.KindMap, Map: members}, nil
	case step.Index >= 0 && v.Kind == item.KindList:
		list := slices.Clone(v.List)
		if step.Index >= lengthOf(list) {
			switch {
			case !last:
				return v, errUpdatePath
			case to.Kind == item.KindNone:
				return v, nil
			}
			return item.Value{Kind: item.KindList, List: appendAt(list, step.Index, to)}, nil
		}
		made, err := put(list[step.Index], path[1:], to)
		if err != nil {
			return v, err
		}
		list[step.Index] = made
		return item.Value{Kind: item.KindList, List: list}, nil
	}
	return v, errUpdatePath
}

// appended marks an element that has just been appended to a list. Its text is the index that the update gave it.
const appended item.Kind = 0xff

// lengthOf returns the length of a list without the appended elements.
func lengthOf(list []item.Value) int {
	n := len(list)
	for n > 0 && list[n-1].Kind == appended {
		n--
	}
	return n
}

// appendAt appends an element whose index is after the end of a list. Appended elements are sorted by their
// indexes.
func appendAt(list []item.Value, index int, v item.Value) []item.Value {
	at := len(list)
	for ; at > lengthOf(list); at-- {
		if n, err := strconv.Atoi(list[at-1].Text); err == nil && n < index {
			break
		}
	}
	return slices.Insert(list, at, item.Value{Kind: appended, Text: strconv.Itoa(index), List: []item.Value{v}})
}

// withoutHoles removes the holes and the marks from lists within a value. It only modifies copies made by put.
func withoutHoles(v item.Value) item.Value {
	switch v.Kind {
	case appended:
		return v.List[0]
	case item.KindMap:
		for name, member := range v.Map {
			if member.Kind == item.KindMap || member.Kind == item.KindList {
				v.Map[name] = withoutHoles(member)
			}
		}
	case item.KindList:
		list := v.List
		if marked(list) {
			list = slices.DeleteFunc(slices.Clone(list), func(e item.Value) bool { return e.Kind == item.KindNone })
		}
		changed := len(list) != len(v.List)
		made := make([]item.Value, len(list))
		for i, e := range list {
			made[i] = withoutHoles(e)
			changed = changed || e.Kind == appended || e.Kind == item.KindList
		}
		if changed {
			return item.Value{Kind: item.KindList, List: made}
		}
	default:
	}
	return v
}

// marked reports whether a list has holes or marks.
func marked(list []item.Value) bool {
	return slices.ContainsFunc(list, func(e item.Value) bool { return e.Kind == item.KindNone || e.Kind == appended })
}
