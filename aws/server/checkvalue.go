package server

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"stepback/aws"
	"stepback/aws/model"
	"stepback/jsonvalue"
)

// violations collects all violations in a request.
type violations struct {
	found []string
	wrong *aws.Error // a value of the wrong JSON type, which ends the check
}

// check compares a request's document with its shape. The error lists every violated constraint, in the words of
// AWS's services.
func (c *rule) check(document jsonvalue.Value) *aws.Error {
	v := &violations{}
	v.structure("", c, document)
	switch {
	case v.wrong != nil:
		return v.wrong
	case len(v.found) == 0:
		return nil
	}
	plural := ""
	if len(v.found) > 1 {
		plural = "s"
	}
	return Invalid(strconv.Itoa(len(v.found)) + " validation error" + plural + " detected: " +
		strings.Join(v.found, "; "))
}

// missing returns the name of the first required member that a request lacks; empty if it lacks none.
func (c *rule) missing(document jsonvalue.Value) string {
	for i := range c.members {
		if m := &c.members[i]; m.required {
			if value, _ := document.Get(m.name); value.IsNull() {
				return m.name
			}
		}
	}
	return ""
}

func (v *violations) structure(path string, c *rule, o jsonvalue.Value) {
	for i := range c.members {
		m := &c.members[i]
		value, _ := o.Get(m.name)
		switch {
		case !value.IsNull():
			v.value(path, m.shown, m.rule, value)
		case m.required:
			v.fail(path+m.shown, m.rule, " null", notNull)
		}
	}
}

// kinds maps the types of shapes to the JSON kinds of their values.
var kinds = map[model.Type]jsonvalue.Kind{
	model.Structure: jsonvalue.Object, model.Map: jsonvalue.Object, model.List: jsonvalue.Array,
	model.String: jsonvalue.String, model.Blob: jsonvalue.String, model.Boolean: jsonvalue.Bool,
	model.Integer: jsonvalue.Number, model.Long: jsonvalue.Number, model.Float: jsonvalue.Number,
	model.Double: jsonvalue.Number, model.Timestamp: jsonvalue.Number,
}

// value checks a value that is present. path and name give its position. They are joined only when a message needs
// them.
func (v *violations) value(path, name string, c *rule, value jsonvalue.Value) {
	s := c.shape
	if s.Type == model.Document {
		return
	}
	if value.Kind() != kinds[s.Type] && !special(s, value) {
		v.mistyped(value)
		return
	}
	switch s.Type {
	case model.Structure:
		v.structure(path+name+".", c, value)
	case model.List:
		v.list(path+name, c, value)
	case model.Map:
		v.dictionary(path+name, c, value)
	case model.String:
		if !c.free {
			v.text(path+name, c, value.Text())
		}
	case model.Blob:
		if !c.free {
			v.blob(path+name, c, value)
		}
	case model.Integer, model.Long, model.Float, model.Double:
		v.number(path+name, c, value)
	default:
	}
}

// special reports whether a value is a float that JSON cannot represent as a number.
func special(s *model.Shape, v jsonvalue.Value) bool {
	if s.Type != model.Float && s.Type != model.Double || v.Kind() != jsonvalue.String {
		return false
	}
	t := v.Text()
	return t == "NaN" || t == "Infinity" || t == "-Infinity"
}

func (v *violations) mistyped(value jsonvalue.Value) {
	if v.wrong == nil {
		v.wrong = malformed(wrongType(value))
	}
}

// wrongType returns the service's message for a value of the wrong type.
func wrongType(value jsonvalue.Value) string {
	switch value.Kind() {
	case jsonvalue.Null:
		return ""
	case jsonvalue.String:
		return "STRING_VALUE can not be converted to the expected type"
	case jsonvalue.Number:
		return "NUMBER_VALUE can not be converted to the expected type"
	case jsonvalue.Bool:
		return "BOOLEAN_VALUE can not be converted to the expected type"
	case jsonvalue.Array:
		return "Unexpected list structure supplied as input"
	default:
		return structureFound
	}
}

const structureFound = "Start of structure or map found where not expected."

// fail records a constraint that a value violates. shown is the value's text in the message; it begins with a
// blank.
func (v *violations) fail(at string, c *rule, shown, constraint string) {
	if c.sensitive {
		shown = ""
	}
	v.found = append(v.found, "Value"+shown+" at '"+at+"' failed to satisfy constraint: "+constraint)
}

func quoted(value string) string { return " '" + value + "'" }

func (v *violations) text(at string, c *rule, s string) {
	for _, constraint := range c.broken(s) {
		if c.long != "" && constraint == c.atMost() {
			v.wrong = Invalid(c.long)
			return
		}
		v.fail(at, c, quoted(s), constraint)
	}
}

func (v *violations) blob(at string, c *rule, value jsonvalue.Value) {
	b, err := model.BlobOf(value)
	if err != nil {
		v.mistyped(value)
		return
	}
	for _, constraint := range c.size(len(b)) {
		v.fail(at, c, "", constraint)
	}
}

func (v *violations) number(at string, c *rule, n jsonvalue.Value) {
	whole := c.shape.Type == model.Integer || c.shape.Type == model.Long
	i, ok := n.Int()
	f := n.Float()
	if whole && (!ok || c.shape.Type == model.Integer && int64(int32(i)) != i) || math.IsInf(f, 0) {
		v.mistyped(n)
		return
	}
	if f > c.max {
		v.fail(at, c, quoted(n.Text()), "Member must have value less than or equal to "+count(c.max))
	}
	if f < c.min {
		v.fail(at, c, quoted(n.Text()), "Member must have value greater than or equal to "+count(c.min))
	}
}

func (v *violations) list(at string, c *rule, list jsonvalue.Value) {
	for _, constraint := range c.size(list.Len()) {
		v.fail(at, c, quoted(shownList(c, list)), constraint)
	}
	if scalar(c.element) {
		if v.elements(c.element, list.Elements()) {
			v.fail(at, c, quoted(shownList(c, list)), "Member must satisfy constraint: "+c.element.constraints())
		}
		return
	}
	for i, e := range list.Elements() {
		switch {
		case !e.IsNull():
			v.value(at+".", strconv.Itoa(i+1)+".member", c.element, e)
		case !c.shape.Sparse:
			v.mistyped(e)
		}
	}
}

func (v *violations) dictionary(at string, c *rule, o jsonvalue.Value) {
	for _, constraint := range c.size(o.Len()) {
		v.fail(at, c, quoted(shownMap(o)), constraint)
	}
	if c.key != nil && slices.ContainsFunc(o.Keys(), func(key string) bool { return len(c.key.broken(key)) > 0 }) {
		v.fail(at, c, quoted(shownMap(o)), "Map keys must satisfy constraint: "+c.key.constraints())
	}
	if scalar(c.element) || c.element.numeric() {
		if v.elements(c.element, o.Elements()) {
			v.fail(at, c, quoted(shownMap(o)), "Map value must satisfy constraint: "+c.element.constraints())
		}
		return
	}
	for i, key := range o.Keys() {
		if e := o.At(i); !e.IsNull() {
			v.value(at+".", key+".member", c.element, e)
		}
	}
}

// scalar reports whether the values are strings. A list of strings is rejected as a whole.
func scalar(c *rule) bool { return c.shape.Type == model.String }

// elements reports whether any text in a list or a map violates a constraint.
func (v *violations) elements(c *rule, values []jsonvalue.Value) (broken bool) {
	for _, value := range values {
		switch {
		case value.IsNull():
			broken = true
		case c.numeric():
			one := violations{}
			one.value("", "", c, value)
			v.wrong = cmp.Or(v.wrong, one.wrong)
			broken = broken || len(one.found) > 0
		case value.Kind() != jsonvalue.String:
			v.mistyped(value)
		case !c.free && len(c.broken(value.Text())) > 0:
			broken = true
		}
	}
	return broken
}

// shownList formats a list in the way services do, with its elements in brackets.
func shownList(c *rule, list jsonvalue.Value) string {
	parts := make([]string, list.Len())
	for i, e := range list.Elements() {
		parts[i] = shown(e)
		if e.Kind() == jsonvalue.Object && c.element != nil {
			parts[i] = shownStructure(c.element, e)
		}
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// shownStructure formats a structure in the way services do: Shape(member=value, …). Absent members are shown as
// null if Words.Whole lists the structure.
func shownStructure(c *rule, o jsonvalue.Value) string {
	parts := make([]string, 0, len(c.members)+len(c.whole))
	for i := range c.members {
		if slices.Contains(c.whole, c.members[i].shown) {
			continue
		}
		if value, ok := o.Get(c.members[i].name); ok || c.whole != nil {
			parts = append(parts, c.members[i].shown+"="+shown(value))
		}
	}
	for _, name := range c.whole {
		value, _ := o.Get(name)
		parts = append(parts, name+"="+shown(value))
	}
	return c.shape.Name + "(" + strings.Join(parts, ", ") + ")"
}

// shownMap formats a map in the way services do, {KEY=VALUE}, in the order of the keys.
func shownMap(o jsonvalue.Value) string {
	keys := slices.Sorted(slices.Values(o.Keys()))
	parts := make([]string, len(keys))
	for i, key := range keys {
		value, _ := o.Get(key)
		parts[i] = key + "=" + shown(value)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func shown(v jsonvalue.Value) string {
	switch v.Kind() {
	case jsonvalue.String, jsonvalue.Number:
		return v.Text()
	case jsonvalue.Array:
		return shownList(&rule{}, v)
	case jsonvalue.Object:
		return shownMap(v)
	default:
		return v.JSON()
	}
}
