package awssdk

import (
	"testing"

	smithyhttp "github.com/aws/smithy-go/transport/http"

	"stepback/aws/model"
	"stepback/jsonvalue"
)

// FuzzParameters passes parameters of any shape to an input with maps, lists, unions, numbers and bytes. They must be
// accepted or rejected, and whatever is accepted must have a result.
func FuzzParameters(f *testing.F) {
	f.Add(`{"TableName":"t","Item":{"a":{"S":"x"},"b":{"M":{"c":{"L":[{"BOOL":true}]}}},"d":{"B":"aGk="}}}`)
	f.Add(`{"Item":{"a":{"S":1,"N":2}},"ReturnValues":[],"Expected":{"x":{"Exists":"no"}}}`)
	s, err := serviceOf("dynamodb")
	if err != nil {
		f.Fatal(err)
	}
	o, err := s.action("putItem")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := jsonvalue.Parse(text)
		if err != nil {
			t.Skip()
		}
		p := parameters{service: s}
		in := p.input(o.Input, v)
		if len(p.problems) > 0 {
			return
		}
		absent(o.Input, in, "")
		w := s.Bind(model.JSON).Input(o, in)
		request := smithyhttp.NewStackRequest().(*smithyhttp.Request)
		if err := s.Bind(model.JSON).Client().SerializeRequest(t.Context(), s.Bind(model.JSON).Operation(o), w,
			request); err != nil || w.Err != nil {
			t.Errorf("%s: %v, %v", in.JSON(), err, w.Err)
		}
		(&results{service: s, style: sdkStyle}).object(o.Input, in)
	})
}
