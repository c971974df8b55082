package asl

import "stepback/jsonvalue"

// catchers decodes the Catch array of the state at the current path.
func (d *decoder) catchers(o object) []Catcher {
	var catchers []Catcher
	catch, _ := o.get("Catch")
	o.each("Catch", func(i int, v jsonvalue.Value) {
		if c, ok := d.object(v, catcherFields, o.language); ok {
			catchers = append(catchers, d.catcher(c, i == catch.Len()-1))
		}
	})
	return catchers
}

func (d *decoder) catcher(o object, last bool) Catcher {
	o.require("ErrorEquals", "Next")
	return Catcher{
		ErrorEquals: d.errorEquals(o, last),
		Next:        o.filled("Next"),
		ResultPath:  o.path("ResultPath", resultPath),
		Assign:      d.assign(o, readsErrorOutput),
		Output:      o.template("Output", readsErrorOutput),
		Comment:     o.str("Comment"),
	}
}
