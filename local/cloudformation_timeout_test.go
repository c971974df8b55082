package local_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"stepback/engine/clock"
	"stepback/local"
)

// Virtual time does not advance from a stack's timeout, or the failure of a resource, until the resources that wait
// have been given up. Their own timeouts are an hour later.
func TestWaitsEndAtTheTimeAtWhichTheyAreGivenUp(t *testing.T) {
	t.Parallel()
	const handles = `
Resources:
  Handle: {Type: AWS::CloudFormation::WaitConditionHandle}
  Other: {Type: AWS::CloudFormation::WaitConditionHandle}
  Wait: {Type: AWS::CloudFormation::WaitCondition, Properties: {Handle: !Ref Handle, Timeout: 3600}}
`
	c := clock.Virtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	defer c.Close()
	p := open(t, local.Config{Clock: c})
	s := stacksOf(t, p)
	for name, test := range map[string]struct {
		template string
		minutes  int
		reasons  map[string]string
		reason   string
		took     float64 // in ms; events of a stack have distinct times
	}{
		"timeout": {handles, 1, map[string]string{"Wait": "Resource creation cancelled"},
			"Stack creation time exceeded the specified timeout", 60_000},
		"failure": {handles + "  Brief: {Type: AWS::CloudFormation::WaitCondition, Properties: {Handle: !Ref Other, Timeout: 60}}\n",
			0, map[string]string{
				"Wait": "Resource creation cancelled", "Brief": "WaitCondition timed out. Received 0 conditions when expecting 1",
			}, "The following resource(s) failed to create: [Brief, Wait]. ", 60_001},
	} {
		for i := range 20 {
			stack := fmt.Sprintf("%s-%d", name, i)
			in := map[string]any{"StackName": stack, "TemplateBody": test.template, "DisableRollback": true}
			if test.minutes > 0 {
				in["TimeoutInMinutes"] = test.minutes
			}
			s.call("CreateStack", in)
			if status, reason := s.settled(stack); status != "CREATE_FAILED" || reason != test.reason {
				t.Fatal(status, reason)
			}
			times := map[string]float64{}
			for _, e := range s.call("DescribeStackEvents", map[string]any{"StackName": stack})["StackEvents"].([]any) {
				e := e.(map[string]any)
				resource, status := e["LogicalResourceId"].(string), e["ResourceStatus"].(string)
				times[resource+" "+status] = e["Timestamp"].(float64)
				if want := test.reasons[resource]; status == "CREATE_FAILED" && want != "" && e["ResourceStatusReason"] != want {
					t.Errorf("%s: %s failed because of %q", stack, resource, e["ResourceStatusReason"])
				}
			}
			if took := times["Wait CREATE_FAILED"] - times[stack+" CREATE_IN_PROGRESS"]; math.Round(took*1000) != test.took {
				t.Errorf("%s: given up after %v s, not %v ms", stack, took, test.took)
			}
		}
	}
}
