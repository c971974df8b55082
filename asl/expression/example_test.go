package expression_test

import (
	"fmt"

	"stepback/asl/expression"
	"stepback/jsonvalue"
)

func ExampleCompile() {
	field, err := jsonvalue.Parse(`{"next": "{% $n + 1 %}", "currency": "EUR"}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	output, err := expression.Compile("Output", field)
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := output.Eval(env{n: jsonvalue.OfInt(2)})
	fmt.Println(v.JSON(), err)
	_, err = output.Eval(env{n: jsonvalue.OfString("two")})
	fmt.Println(err)
	// Output:
	// {"next":3,"currency":"EUR"} <nil>
	// The JSONata expression '$n + 1' specified for the field 'Output/next' threw an error during evaluation. T2001: The left side of the "+" operator must evaluate to a number
}
