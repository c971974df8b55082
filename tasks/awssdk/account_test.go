package awssdk

import (
	"testing"

	"stepback/jsonvalue"
)

func TestAccountOfARole(t *testing.T) {
	t.Parallel()
	const role = "arn:aws:iam::222222222222:role/r"
	c := &Caller{Account: "111111111111"}
	for name, x := range map[string]struct{ role, params, want string }{
		"no role": {"",
			`{"StateMachineArn":"arn:aws:states:us-east-1:333333333333:stateMachine:m"}`, "111111111111"},
		"a role": {role, `{"QueueUrl":"q"}`, "222222222222"},
		"a role and a resource": {role,
			`{"Name":"n","StateMachineArn":"arn:aws:states:us-east-1:333333333333:stateMachine:m"}`, "333333333333"},
		"a resource without account": {role, `{"Bucket":"arn:aws:s3:::b"}`, "222222222222"},
		"a role that is no ARN":      {"r", `{}`, "111111111111"},
		"parameters that are no ARN": {role, `{"A":{"B":"arn:aws:states:us-east-1:333333333333:stateMachine:m"}}`,
			"222222222222"},
		"parameters that are a string": {role, `"arn:aws:states:us-east-1:333333333333:stateMachine:m"`,
			"222222222222"},
	} {
		params, err := jsonvalue.Parse(x.params)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.account(x.role, params); got != x.want {
			t.Errorf("%s: %s, want %s", name, got, x.want)
		}
	}
}
