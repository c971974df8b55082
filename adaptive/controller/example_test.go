package controller_test

import (
	"fmt"

	"stepback/adaptive/controller"
)

const order = `{
  "StartAt": "Charge",
  "States": {
    "Charge": {
      "Type": "Task",
      "Resource": "arn:aws:states:::lambda:invoke",
      "Parameters": {"FunctionName": "charge", "Payload.$": "$"},
      "TimeoutSeconds": 30,
      "Retry": [{"ErrorEquals": ["Lambda.TooManyRequestsException"], "MaxAttempts": 6}],
      "End": true
    }
  }
}`

// A controller reads the Retry arrays that it may change, and writes a definition with other ones.
func ExampleReplace() {
	targets, err := controller.Targets(order)
	if err != nil {
		fmt.Println(err)
		return
	}
	target := targets[0]
	fmt.Println(target.State, "calls", target.Function, "with", target.Base[0].Policy())
	target.Base[0].IntervalSeconds = 10
	target.Base[0].MaxAttempts = 3
	changed, err := controller.Replace(order, target.State, target.Base)
	if err != nil {
		fmt.Println(err)
		return
	}
	targets, err = controller.Targets(changed)
	fmt.Println(target.State, "now has", targets[0].Base[0].Policy(), err)
	// Output:
	// Charge calls charge with 6 retries, 1s ×2 without a cap, jitter NONE
	// Charge now has 3 retries, 10s ×2 without a cap, jitter NONE <nil>
}
