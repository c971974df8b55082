package functions_test

import (
	"context"
	"fmt"
	"os"

	"stepback/aws"
	"stepback/local/services/lambda/functions"
	"stepback/tasks/lambda/invocation"
)

// Creates a function from a deployment package and invokes it. (The package is read from a file, so the example is
// not run.)
func Example() {
	ctx := context.Background()
	s, err := functions.Open(ctx, ".stepback/lambda", functions.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close(ctx)
	code, err := os.ReadFile("function.zip")
	if err != nil {
		fmt.Println(err)
		return
	}
	in := &functions.CreateInput{Code: functions.Code{ZipFile: code}}
	in.Runtime, in.Handler = new("provided.al2023"), new("bootstrap")
	home := aws.Scope{Account: "000000000000", Region: "us-east-1"}
	if _, err := s.Create(ctx, home, "greet", in); err != nil {
		fmt.Println(err)
		return
	}
	out, err := s.Invoke(ctx, home, &invocation.Request{FunctionName: "greet", Payload: []byte(`"you"`)})
	fmt.Println(string(out.Payload), out.FunctionError, err)
}
