package asl

import (
	"strings"

	"stepback/asl/source"
	"stepback/jsonvalue"
)

// template decodes a payload. In JSONPath it is a template with .$ keys, in JSONata a value with expressions.
// readable states which parts of $states a JSONata expression may read there besides input and context.
func (o object) template(key string, readable statesParts) *jsonvalue.Value {
	v, ok := o.get(key)
	if !ok {
		return nil
	}
	o.d.enter(key)
	if o.language == JSONata {
		o.d.expressions(v, readable)
	} else {
		o.d.payload(v)
	}
	o.d.leave()
	return &v
}

// payload checks a JSONPath payload template at the current path.
func (d *decoder) payload(v jsonvalue.Value) {
	if v.Kind() == jsonvalue.Array {
		for i, e := range v.Elements() {
			d.enterElement(i)
			d.payload(e)
			d.leave()
		}
		return
	}
	for i, key := range v.Keys() {
		member := v.At(i)
		if name, dynamic := strings.CutSuffix(key, ".$"); dynamic {
			d.dynamicMember(v, name, member)
			continue
		}
		if member.Kind() == jsonvalue.String && looksDynamic(member.Text()) {
			d.report(SeverityWarning, NoDollar,
				"The value of '"+key+"' looks like a path or an intrinsic function call, but the field name does not end with '.$'").
				onKey(key).hint("to have it evaluated, name the field '" + key + ".$'")
		}
		d.enter(key)
		d.payload(member)
		d.leave()
	}
}

// dynamicMember checks the value of a key that ends with .$. It also reports if the key exists a second time
// without .$.
func (d *decoder) dynamicMember(template jsonvalue.Value, name string, value jsonvalue.Value) {
	key := name + ".$"
	if _, twice := template.Get(name); twice {
		d.fail("The field '%s' is given both as '%s' and as '%s'", name, name, key).onKey(key)
	}
	err := d.dynamicError(value)
	if err == "" {
		return
	}
	f := d.fail("The value for the field '%s' must be a valid JSONPath or a valid intrinsic function call",
		key).hint(err)
	f.focus = f.focus.Join(source.Member(key))
}

func (d *decoder) dynamicError(v jsonvalue.Value) string {
	if v.Kind() != jsonvalue.String {
		return "found " + v.Kind().WithArticle() + ", expected a string with a path or a call"
	}
	check := d.pathError
	if s := v.Text(); !strings.HasPrefix(s, "$") {
		check = d.checkCall
		if !isCall(s) {
			return "a path starts with '$' (the input), '$$' (the context object) or '$name' (a variable); a call starts with 'States.'"
		}
	}
	if err := check(v.Text()); err != nil {
		return err.Error()
	}
	return ""
}
