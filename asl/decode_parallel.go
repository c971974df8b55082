package asl

import "stepback/jsonvalue"

func (d *decoder) parallel(o object, s *State) {
	if !o.require("Branches") || !o.notEmpty("Branches") {
		return
	}
	o.each("Branches", func(_ int, v jsonvalue.Value) {
		if branch, ok := d.object(v, branchFields, JSONPath); ok {
			s.Branches = append(s.Branches, d.nested(branch))
		}
	})
}
