package jsonata_test

import (
	"fmt"
	"time"

	"stepback/asl/jsonata"
	"stepback/jsonvalue"
)

// fixed is an Env with one variable, at a fixed time.
type fixed struct{ order jsonvalue.Value }

func (f fixed) Root() (jsonvalue.Value, bool)              { return jsonvalue.Value{}, false }
func (f fixed) Lookup(name string) (jsonvalue.Value, bool) { return f.order, name == "order" }
func (f fixed) Now() time.Time                             { return time.Unix(0, 0) }
func (f fixed) Random() uint64                             { return 4 }

func Example() {
	expression, err := jsonata.Compile(`{"total": $sum($order.items.(price * quantity)), "at": $now()}`,
		jsonata.WithStepFunctions())
	if err != nil {
		fmt.Println(err)
		return
	}
	order, err := jsonvalue.Parse(`{"items": [{"price": 2.5, "quantity": 4}, {"price": 1, "quantity": 2}]}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := expression.Eval(fixed{order})
	fmt.Println(result.Value().JSON(), err)
	// Output: {"total":12,"at":"1970-01-01T00:00:00.000Z"} <nil>
}

func ExampleCompile_error() {
	_, err := jsonata.Compile(`$sum(1`)
	fmt.Println(err)
	// Output: Expected ")" before end of expression
}
