package stepfunctions_test

import (
	"strings"
	"testing"

	"stepback/local/services/stepfunctions/wiretest"
)

// One account cannot access anything that another one owns.
func TestAccountsDoNotSeeEachOther(t *testing.T) {
	t.Parallel()
	url := wiretest.Server(t)
	owner, other := wiretest.Wire{URL: url, Account: "111111111111"}, wiretest.Wire{URL: url, Account: "222222222222"}
	machine := owner.Machine(t, "m", wiretest.Waiting)
	version := machine + ":1"
	owner.Call(t, "PublishStateMachineVersion", map[string]any{"stateMachineArn": machine})
	alias := owner.Call(t, "CreateStateMachineAlias", map[string]any{
		"name": "live", "routingConfiguration": []any{map[string]any{"stateMachineVersionArn": version, "weight": 100}},
	})["stateMachineAliasArn"]
	execution := owner.Call(t, "StartExecution", map[string]any{"stateMachineArn": machine,
		"name": "x"})["executionArn"]
	activity := owner.Call(t, "CreateActivity", map[string]any{"name": "a"})["activityArn"]
	const noMachine, noExecution, nothing = "StateMachineDoesNotExist", "ExecutionDoesNotExist", "ResourceNotFound"
	for _, c := range []struct {
		operation, member string
		arn               any
		want              string
	}{
		{"DescribeStateMachine", "stateMachineArn", machine, noMachine},
		{"StartExecution", "stateMachineArn", alias, noMachine},
		{"ListExecutions", "stateMachineArn", machine, noMachine},
		{"ListStateMachineVersions", "stateMachineArn", machine, "InvalidArn"},
		{"ListStateMachineAliases", "stateMachineArn", machine, noMachine},
		{"PublishStateMachineVersion", "stateMachineArn", machine, noMachine},
		{"DescribeStateMachineAlias", "stateMachineAliasArn", alias, nothing},
		{"DescribeExecution", "executionArn", execution, noExecution},
		{"DescribeStateMachineForExecution", "executionArn", execution, noExecution},
		{"GetExecutionHistory", "executionArn", execution, noExecution},
		{"StopExecution", "executionArn", execution, noExecution},
		{"ListMapRuns", "executionArn", execution, noExecution},
		{"DescribeActivity", "activityArn", activity, "ActivityDoesNotExist"},
		{"GetActivityTask", "activityArn", activity, "ActivityDoesNotExist"},
		{"ListTagsForResource", "resourceArn", machine, nothing},
		{"DescribeMapRun", "mapRunArn", strings.Replace(machine, ":stateMachine:m", ":mapRun:m/L:u", 1), nothing},
	} {
		if got := other.Call(t, c.operation, map[string]any{c.member: c.arn}); got["__type"] != c.want {
			t.Errorf("%s of another account: %v, want %s", c.operation, got, c.want)
		}
	}
	// Deleting what does not exist succeeds, and deletes nothing of the other account.
	for operation, arn := range map[string]any{
		"DeleteStateMachine": machine, "DeleteStateMachineVersion": version, "DeleteStateMachineAlias": alias,
		"DeleteActivity": activity,
	} {
		member := map[string]string{
			"DeleteStateMachine": "stateMachineArn", "DeleteStateMachineVersion": "stateMachineVersionArn",
			"DeleteStateMachineAlias": "stateMachineAliasArn", "DeleteActivity": "activityArn",
		}[operation]
		if got := other.Call(t, operation, map[string]any{member: arn}); len(got) > 0 {
			t.Errorf("%s: %v", operation, got)
		}
	}
	if d := owner.Call(t, "DescribeExecution", map[string]any{"executionArn": execution}); d["status"] != "RUNNING" {
		t.Error(d)
	}
	if d := owner.Call(t, "DescribeStateMachineAlias",
		map[string]any{"stateMachineAliasArn": alias}); d["name"] != "live" {
		t.Error(d)
	}
	for _, list := range []string{"ListStateMachines", "ListActivities"} {
		_, theirs := other.Post(t, list, "{}")
		if strings.Contains(theirs, "arn:") {
			t.Errorf("%s shows another account's: %s", list, theirs)
		}
	}
}
