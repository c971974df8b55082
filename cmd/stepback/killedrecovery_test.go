package main

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"stepback/cmd/stepback/exit"
)

// TestKilledDuringRecovery kills a server with SIGKILL while it recovers waiting executions in the background, and
// sends requests about them as soon as it serves. No execution is lost, started twice, or forgets that it was stopped.
// STEPBACK_KILLS is the number of kills, STEPBACK_SEED chooses the instants.
func TestKilledDuringRecovery(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it works in real time")
	}
	const waiting = 600 // several batches
	v, kills := beginKilled(t, 4, 3)
	machine := v.must("AWSStepFunctions.CreateStateMachine", map[string]string{"name": "waits",
		"roleArn":    "arn:aws:iam::000000000000:role/r",
		"definition": `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":86400,"End":true}}}`})["stateMachineArn"]
	start := func(n int, input string) (int, map[string]any) {
		status, answer, err := v.states("StartExecution", map[string]any{"stateMachineArn": machine,
			"name": fmt.Sprintf("e%04d", n), "input": input})
		if err != nil {
			t.Fatal(err)
		}
		return status, answer
	}
	arns, started, stopped := make([]any, waiting), make([]any, waiting), map[int]bool{}
	for n := range waiting {
		_, answer := start(n, `{"n":1}`)
		arns[n], started[n] = answer["executionArn"], answer["startDate"]
	}
	for range kills {
		v.kill()
		v.begin()
		for range 5 {
			n := v.random.IntN(waiting)
			x := v.must("AWSStepFunctions.DescribeExecution", map[string]any{"executionArn": arns[n]})
			if want := map[bool]string{true: "ABORTED", false: "RUNNING"}[stopped[n]]; x["status"] != want {
				t.Errorf("execution %d is %v", n, x["status"])
			}
			status, answer := start(n, `{"n":1}`)
			if stopped[n] && status != http.StatusBadRequest || !stopped[n] && answer["startDate"] != started[n] {
				t.Errorf("the start of %d again: %d %v", n, status, answer)
			}
			if status, answer := start(n, `{"n":2}`); status != http.StatusBadRequest {
				t.Errorf("the start of %d with another input: %d %v", n, status, answer)
			}
			h := v.must("AWSStepFunctions.GetExecutionHistory", map[string]any{"executionArn": arns[n]})
			if events := h["events"].([]any); len(events) != 2 && !stopped[n] {
				t.Errorf("%d has %d events", n, len(events))
			}
		}
		n := v.random.IntN(waiting)
		v.must("AWSStepFunctions.StopExecution", map[string]any{"executionArn": arns[n]})
		stopped[n] = true
		rest(time.Duration(v.random.IntN(100)) * time.Millisecond)
	}
	v.kill()
	v.begin()
	running := 0
	for token, more := any(nil), true; more; more = token != nil {
		request := map[string]any{"stateMachineArn": machine, "statusFilter": "RUNNING", "maxResults": 100}
		if token != nil {
			request["nextToken"] = token
		}
		page := v.must("AWSStepFunctions.ListExecutions", request)
		running += len(page["executions"].([]any))
		token = page["nextToken"]
	}
	if running != waiting-len(stopped) {
		t.Errorf("%d executions are running, and %d of %d were stopped", running, len(stopped), waiting)
	}
	v.kill()
	asProcess(t, "data", "check", "--data", v.data).ends(t, exit.OK, "problems: 0")
}
