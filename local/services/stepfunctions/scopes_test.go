package stepfunctions_test

import (
	"strings"
	"testing"
)

// One account cannot access anything that another one owns.
func TestAccountsDoNotSeeEachOther(t *testing.T) {
	t.Parallel()
	url := newServer(t)
	owner, other := wire{url, "111111111111"}, wire{url, "222222222222"}
	machine := owner.machine(t, "m", waiting)
	version := machine + ":1"
	owner.call(t, "PublishStateMachineVersion", map[string]any{"stateMachineArn": machine})
	alias := owner.call(t, "CreateStateMachineAlias", map[string]any{
		"name": "live", "routingConfiguration": []any{map[string]any{"stateMachineVersionArn": version, "weight": 100}},
	})["stateMachineAliasArn"]
	execution := owner.call(t, "StartExecution", map[string]any{"stateMachineArn": machine,
		"name": "x"})["executionArn"]
	activity := owner.call(t, "CreateActivity", map[string]any{"name": "a"})["activityArn"]
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
		if got := other.call(t, c.operation, map[string]any{c.member: c.arn}); got["__type"] != c.want {
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
		if got := other.call(t, operation, map[string]any{member: arn}); len(got) > 0 {
			t.Errorf("%s: %v", operation, got)
		}
	}
	if d := owner.call(t, "DescribeExecution", map[string]any{"executionArn": execution}); d["status"] != "RUNNING" {
		t.Error(d)
	}
	if d := owner.call(t, "DescribeStateMachineAlias",
		map[string]any{"stateMachineAliasArn": alias}); d["name"] != "live" {
		t.Error(d)
	}
	for _, list := range []string{"ListStateMachines", "ListActivities"} {
		_, theirs := other.post(t, list, "{}")
		if strings.Contains(theirs, "arn:") {
			t.Errorf("%s shows another account's: %s", list, theirs)
		}
	}
}
