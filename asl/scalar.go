package asl

import "stepback/jsonvalue"

// literalCheck checks a literal value at the current path.
type literalCheck interface {
	check(d *decoder, v jsonvalue.Value)
}

// scalar decodes a field with two forms. The literal form may be an expression in JSONata; the …Path form exists
// only in JSONPath.
func (o object) scalar(key string, literal literalCheck, kind pathKind) Scalar {
	if key != "Seconds" && key != "Timestamp" { // a Wait state checks all four together
		o.atMostOne(key, key+"Path")
	}
	var s Scalar
	if v, ok := o.get(key); ok {
		s.Literal = &v
		o.d.enter(key)
		o.literal(v, literal)
		o.d.leave()
	}
	s.Path = o.path(key+"Path", kind).Text
	return s
}

// literal checks a literal value. In JSONata the value may also be an expression, which it checks instead.
func (o object) literal(v jsonvalue.Value, literal literalCheck) {
	if o.language == JSONata && v.Kind() == jsonvalue.String {
		if _, opened := expression(v.Text()); opened {
			o.d.expressions(v, 0)
			return
		}
		if l, isNumber := literal.(limits); isNumber {
			o.d.fail("JSONata string must start with {%% and end with %%}").hint(l.accepted() + ", or an expression")
			return
		}
	}
	literal.check(o.d, v)
}
