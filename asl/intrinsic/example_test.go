package intrinsic_test

import (
	"fmt"

	"stepback/asl/intrinsic"
	"stepback/jsonvalue"
)

func ExampleCompile() {
	call, err := intrinsic.Compile("States.Format('Order {} has {} items', $.id, States.ArrayLength($.items))")
	if err != nil {
		fmt.Println(err)
		return
	}
	input, err := jsonvalue.Parse(`{"id": 17, "items": ["tea", "milk"]}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := call.Eval(&values{input: input})
	fmt.Println(v.JSON(), err)
	// Output: "Order 17 has 2 items" <nil>
}
