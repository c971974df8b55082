package client

import (
	"stepback/aws/model"
	"stepback/jsonvalue"
)

// complete says which required member an output lacks; the error is a *model.ValueError. Of XML nothing is asked: what
// is empty is absent there, and AWS itself leaves required members out. Nor is it of what outputs hold further down,
// which emulators fill as far as they know it.
func (x *exchange) complete(v jsonvalue.Value) error {
	switch x.binding.Protocol {
	case model.Query, model.EC2, model.RESTXML:
		return nil
	default:
	}
	for _, m := range x.Operation.Output.Members {
		if _, there := v.Get(m.Name); !there && m.Required && m != x.Operation.Output.Streamed() {
			return &model.ValueError{Why: "the member " + m.Name + " is missing"}
		}
	}
	return nil
}
