package asl

import (
	"strings"

	"stepback/jsonvalue"
)

// choice decodes a Choice state.
func (d *decoder) choice(o object, s *State) {
	s.Default = o.filled("Default")
	if !o.require("Choices") || !o.notEmpty("Choices") {
		return
	}
	o.each("Choices", func(_ int, v jsonvalue.Value) {
		if rule, ok := d.object(v, ruleFields, o.language); ok {
			s.Choices = append(s.Choices, d.topRule(rule))
		}
	})
}

// topRule decodes an element of Choices. Only these rules have a Next.
func (d *decoder) topRule(o object) Rule {
	o.require("Next")
	r := d.rule(o)
	r.Next = o.filled("Next")
	r.Assign = d.assign(o, 0)
	r.Output = o.template("Output", 0)
	return r
}

// rule decodes a rule's condition, at any depth.
func (d *decoder) rule(o object) Rule {
	r := Rule{Comment: o.str("Comment")}
	if o.language == JSONata {
		if o.require("Condition") {
			r.Condition = d.condition(o)
		}
		return r
	}
	kinds := []string{"And", "Or", "Not", "Variable"}
	if found := o.present(kinds); len(found) != 1 {
		f := d.fail("The object must have only one of the following fields, [And, Or, Not, Variable, Condition]")
		if len(found) > 1 {
			f.onKey(found[1])
		}
		return r
	}
	r.And = d.nestedRules(o, "And")
	r.Or = d.nestedRules(o, "Or")
	r.Not = d.negated(o)
	d.comparison(o, &r)
	return r
}

func (d *decoder) nestedRules(o object, key string) []Rule {
	var rules []Rule
	o.notEmpty(key)
	o.each(key, func(_ int, v jsonvalue.Value) {
		if rule, ok := d.object(v, nestedRuleFields, o.language); ok {
			rules = append(rules, d.rule(rule))
		}
	})
	return rules
}

func (d *decoder) negated(o object) *Rule {
	v, ok := o.get("Not")
	if !ok {
		return nil
	}
	d.enter("Not")
	defer d.leave()
	inner, ok := d.object(v, nestedRuleFields, o.language)
	if !ok {
		return nil
	}
	r := d.rule(inner)
	return &r
}

// condition decodes a JSONata rule's Condition: true, false or an expression.
func (d *decoder) condition(o object) *jsonvalue.Value {
	v, _ := o.get("Condition")
	d.enter("Condition")
	defer d.leave()
	_, opened := expression(v.Text())
	switch {
	case v.Kind() == jsonvalue.String && opened:
		d.expressions(v, 0)
	case v.Kind() == jsonvalue.String:
		d.fail("JSONata string must start with {%% and end with %%}").hint("true, false or an expression")
	case v.Kind() != jsonvalue.Bool:
		d.expect("Boolean", v)
	}
	return &v
}

// comparison decodes a rule's Variable and its comparison operator.
func (d *decoder) comparison(o object, r *Rule) {
	found := o.operators()
	if !o.has("Variable") {
		if len(found) > 0 {
			d.fail("Field '%s' is not supported",
				found[0]).onKey(found[0]).hint("an operator needs a Variable beside it")
		}
		return
	}
	r.Variable = o.path("Variable", referencePath).Text
	switch len(found) {
	case 0:
		d.fail("This object should have only one of the following fields: [%s]", strings.Join(operatorList, ", "))
	case 1:
		r.Operator = found[0]
		r.Operand, _ = o.get(found[0])
		d.operand(o, r)
	default:
		d.fail("There should only be one of the following fields: [%s]", strings.Join(found, ", ")).onKey(found[1]).
			hint("combine comparisons with And, Or and Not")
	}
}

// operators returns the names of the operators in a rule, in the order of the text.
func (o object) operators() []string {
	var found []string
	for _, key := range o.value.Keys() {
		if operators[key] != noOperand {
			found = append(found, key)
		}
	}
	return found
}

// operand checks the value that the rule's operator compares with.
func (d *decoder) operand(o object, r *Rule) {
	d.enter(r.Operator)
	defer d.leave()
	want := func(kind jsonvalue.Kind, name string) {
		if r.Operand.Kind() != kind {
			d.expect(name, r.Operand)
		}
	}
	switch operators[r.Operator] {
	case textOperand:
		text{pathPossible: o.fields.language[r.Operator+"Path"] != ""}.check(d, r.Operand)
	case numberOperand:
		want(jsonvalue.Number, "Number")
	case booleanOperand:
		want(jsonvalue.Bool, "Boolean")
	case timestampOperand:
		timestamp{}.check(d, r.Operand)
	case pathOperand:
		if r.Operand.Kind() != jsonvalue.String {
			d.expect("String", r.Operand)
			return
		}
		d.checkPath(r.Operand.Text(), referencePath)
	case noOperand: // r.Operator is always one of operators
	}
}
