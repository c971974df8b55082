package partiql

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stepback/local/services/dynamodb/expression"
	"stepback/local/services/dynamodb/item"
)

// Verb is the kind of a statement.
type Verb string

// The verbs. Exists is a condition check within a transaction.
const (
	Select Verb = "SELECT"
	Insert Verb = "INSERT"
	Update Verb = "UPDATE"
	Delete Verb = "DELETE"
	Exists Verb = "EXISTS"
)

// Statement is a parsed statement.
type Statement struct {
	Verb  Verb
	Table string
	// Index is the index in "table"."index"; empty for the table itself.
	Index string
	// Paths are the paths that a SELECT returns; nil for everything.
	Paths []expression.Path
	// Where holds the conditions, all of which must hold.
	Where []*Node
	// Item is the item that an INSERT puts.
	Item item.Item
	// Set and Remove are the changes of an UPDATE.
	Set    []Assignment
	Remove []expression.Path
	// Order is the attribute in ORDER BY. Descending is true for DESC.
	Order      string
	Descending bool
	// Returning is a value of ReturnValues, such as ALL_OLD or UPDATED_NEW; empty for none.
	Returning string
}

// Assignment sets a path to the value of a node.
type Assignment struct {
	Path  expression.Path
	Value *Node
}

// Node is a condition, an operand or a function of them.
type Node struct {
	// Op is a path, a value, a comparison, AND, OR, NOT, IN, BETWEEN, +, -, or a function of DynamoDB's expressions.
	Op    string
	Kids  []*Node
	Path  expression.Path
	Value item.Value
}

const (
	opPath  = "path"
	opValue = "value"
)

// Key reports whether the node compares a top-level attribute with constants, as a key condition does, and returns
// the attribute, the operator and the constants.
func (n *Node) Key() (attribute, op string, values []item.Value, ok bool) {
	if len(n.Kids) < 2 || n.Kids[0].Op != opPath || len(n.Kids[0].Path) != 1 {
		return "", "", nil, false
	}
	switch n.Op {
	case "=", "<", "<=", ">", ">=", "BETWEEN", "begins_with":
	default:
		return "", "", nil, false
	}
	for _, k := range n.Kids[1:] {
		if k.Op != opValue {
			return "", "", nil, false
		}
		values = append(values, k.Value)
	}
	return n.Kids[0].Path[0].Name, n.Op, values, true
}

// Expressions converts nodes to expressions, with placeholders for all names and values.
type Expressions struct {
	Names  map[string]string
	Values item.Item
}

// Path formats a path.
func (e *Expressions) Path(p expression.Path) string {
	var b strings.Builder
	for i, step := range p {
		if step.Name == "" {
			fmt.Fprintf(&b, "[%d]", step.Index)
			continue
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(e.name(step.Name))
	}
	return b.String()
}

func (e *Expressions) name(name string) string {
	for placeholder, known := range e.Names {
		if known == name {
			return placeholder
		}
	}
	if e.Names == nil {
		e.Names = map[string]string{}
	}
	placeholder := "#p" + strconv.Itoa(len(e.Names))
	e.Names[placeholder] = name
	return placeholder
}

func (e *Expressions) value(v item.Value) string {
	if e.Values == nil {
		e.Values = item.Item{}
	}
	placeholder := ":p" + strconv.Itoa(len(e.Values))
	e.Values[placeholder] = v
	return placeholder
}

// All formats conditions joined with AND; empty for none.
func (e *Expressions) All(conditions []*Node) string {
	texts := make([]string, len(conditions))
	for i, c := range conditions {
		texts[i] = e.Condition(c)
	}
	return strings.Join(texts, " AND ")
}

// Condition formats a condition or an operand.
func (e *Expressions) Condition(n *Node) string {
	kids := func() (all []string) {
		for _, k := range n.Kids {
			all = append(all, e.Condition(k))
		}
		return all
	}
	switch n.Op {
	case opPath:
		return e.Path(n.Path)
	case opValue:
		return e.value(n.Value)
	case "AND", "OR":
		return "(" + strings.Join(kids(), " "+n.Op+" ") + ")"
	case "NOT":
		return "(NOT " + e.Condition(n.Kids[0]) + ")"
	case "BETWEEN":
		all := kids()
		return all[0] + " BETWEEN " + all[1] + " AND " + all[2]
	case "IN":
		all := kids()
		return all[0] + " IN (" + strings.Join(all[1:], ", ") + ")"
	case "=", "<>", "<", "<=", ">", ">=", "+", "-":
		all := kids()
		return all[0] + " " + n.Op + " " + all[1]
	default:
		return n.Op + "(" + strings.Join(kids(), ", ") + ")"
	}
}

// Update formats the changes of an UPDATE.
func (e *Expressions) Update(s *Statement) string {
	var sets, adds, deletes []string
	removes := make([]string, 0, len(s.Remove))
	for _, a := range s.Set {
		path := e.Path(a.Path)
		switch a.Value.Op {
		case "set_add":
			adds = append(adds, path+" "+e.Condition(a.Value.Kids[1]))
		case "set_delete":
			deletes = append(deletes, path+" "+e.Condition(a.Value.Kids[1]))
		default:
			sets = append(sets, path+" = "+e.Condition(a.Value))
		}
	}
	for _, p := range s.Remove {
		removes = append(removes, e.Path(p))
	}
	var parts []string
	for _, part := range []struct {
		verb string
		all  []string
	}{{"SET", sets}, {"ADD", adds}, {"DELETE", deletes}, {"REMOVE", removes}} {
		if len(part.all) > 0 {
			parts = append(parts, part.verb+" "+strings.Join(part.all, ", "))
		}
	}
	return strings.Join(parts, " ")
}

// Split separates the equalities on the given key attributes, which identify the statement's item, from the other
// conditions. key is nil if an attribute has no equality. rest holds the other conditions.
func (s *Statement) Split(attributes []string) (key item.Item, rest []*Node) {
	key = item.Item{}
	for _, n := range s.Where {
		name, op, values, ok := n.Key()
		if _, twice := key[name]; ok && !twice && op == "=" && slices.Contains(attributes, name) {
			key[name] = values[0]
			continue
		}
		rest = append(rest, n)
	}
	if len(key) < len(attributes) {
		return nil, s.Where
	}
	return key, rest
}
