package template_test

import (
	"fmt"

	"stepback/asl/template"
	"stepback/jsonvalue"
)

func ExampleCompile() {
	payload, err := jsonvalue.Parse(`{"orderId.$": "$.id", "next.$": "States.MathAdd($.count, 1)", "currency": "EUR"}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	t, err := template.Compile(payload)
	if err != nil {
		fmt.Println(err)
		return
	}
	input, err := jsonvalue.Parse(`{"id": "o-17", "count": 2}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := t.Eval(&values{input: input})
	fmt.Println(v.JSON(), err)
	// Output: {"orderId":"o-17","next":3,"currency":"EUR"} <nil>
}
