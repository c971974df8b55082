package client

import (
	"stepback/aws/model"
	"stepback/jsonvalue"
)

// complete returns a *model.ValueError if an output lacks a required member. It does not check XML, where empty
// members are absent and AWS itself omits required members. It does not check nested members either, because
// emulators fill them only as far as they can.
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
