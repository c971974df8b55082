package asl

import (
	"strings"

	"stepback/jsonvalue"
)

func (d *decoder) pass(o object, s *State) {
	if v, ok := o.get("Result"); ok {
		s.Result = &v
		d.enter("Result")
		d.warnStatic(v)
		d.leave()
	}
}

// warnStatic reports paths in a Pass state's Result, where nothing is evaluated.
func (d *decoder) warnStatic(v jsonvalue.Value) {
	switch v.Kind() {
	case jsonvalue.Object:
		for i, key := range v.Keys() {
			d.enter(key)
			if strings.HasSuffix(key, ".$") {
				d.reportStatic()
			} else {
				d.warnStatic(v.At(i))
			}
			d.leave()
		}
	case jsonvalue.Array:
		for i, e := range v.Elements() {
			d.enterElement(i)
			d.warnStatic(e)
			d.leave()
		}
	case jsonvalue.String:
		if looksDynamic(v.Text()) {
			d.reportStatic()
		}
	default: // numbers, booleans and null contain no text
	}
}

func (d *decoder) reportStatic() {
	d.report(SeverityWarning, PassResultIsStatic,
		"The result of a Pass state is static; the path in it is not evaluated").
		hint("use Parameters instead of Result to put paths into the output")
}
