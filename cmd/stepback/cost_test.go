package main

import (
	"encoding/json"
	"testing"

	"stepback/cmd/stepback/exit"
)

func TestCostOfTheImport(t *testing.T) {
	t.Parallel()
	stepback(t, "cost", "--rows", "1000000").ends(t, exit.OK, "1,000,000 rows, in USD", "bulk 250  batch 100  single",
		"Step Functions, transitions             0.30      25.50   50.00", "Prices of us-east-1, 2026-11", "functions on arm64")
	stepback(t, "cost", "--shape", "bulk", "--fault", "ProcessSingleUserRecord:DeadlockException:1%").ends(t, exit.OK,
		"Step Functions, transitions             0.80")
	stepback(t, "cost", "--shape", "bulk", "--express").ends(t, exit.OK, "EXPRESS executions", "0.0040")
	s := stepback(t, "cost", "--rows", "1000", "--json")
	var answer struct {
		Quotations []struct{ Name string }
	}
	if err := json.Unmarshal([]byte(s.out), &answer); err != nil || len(answer.Quotations) != 3 {
		t.Errorf("%v: %s", err, s.out)
	}
	stepback(t, "cost", "--rows", "1e9", "--shape", "bulk").ends(t, exit.OK, "1,000,000,000 rows, in USD",
		"One file of about 17.0 GB, validated and applied in 127 parts.", "applying all rows                        27h46m40s",
		"of the duration of an execution            117.2 %", "of the events in an execution's history      6.8 %",
		"bulk 250: the import exceeds the duration of an execution (28.1 h of 24 h): raise timeoutHours")
	stepback(t, "cost", "--rows", "1000000", "--files", "1000", "--shape", "bulk").ends(t, exit.OK,
		"1,000 files of about 0.0 MB, each validated and applied in 1 part; 4 at a time.",
		"Step Functions, transitions             0.68", "validating and adding up files            20m51s",
		"of the files of an import                  1.0 %")
	stepback(t, "cost", "--files", "100001").complains(t, exit.Usage, "--files must be 1 to 100,000, and at most the number of rows")
	stepback(t, "cost", "--rows", "1.5").complains(t, exit.Usage, "1.5 is not a whole number such as 1000000 or 1e9")
	stepback(t, "cost", "--rows", "0").complains(t, exit.Usage, "--rows")
	stepback(t, "cost", "--fault", "Nowhere:hang:1%").complains(t, exit.Usage, `there is no state "Nowhere"`)
}

func TestCostOfADefinition(t *testing.T) {
	t.Parallel()
	pay := file(t, "pay.asl.json", `{"StartAt":"Pay","States":{"Pay":{"Type":"Task",
		"Resource":"arn:aws:lambda:us-east-1:123456789012:function:pay","Retry":[{"ErrorEquals":["States.ALL"]}],"End":true}}}`)
	stepback(t, "cost", pay, "--executions", "1000000", "--fault", "Pay:TimeoutError:50%").ends(t, exit.OK,
		"1,000,000 executions", "Step Functions, transitions            50.00    50.00",
		"Step Functions, retries                21.88    21.88", "would add 75.00 to 75.00 USD")
	// 1,000,000 × 1.875 attempts × 0.1 s × 0.5 GB: 1.56 USD on x86_64, and 1.25 on arm64
	stepback(t, "cost", pay, "--fault", "Pay:TimeoutError:50%").ends(t, exit.OK, "functions on x86_64", " 1.56 ")
	stepback(t, "cost", pay, "--fault", "Pay:TimeoutError:50%", "--arch", "arm64").ends(t, exit.OK, "functions on arm64",
		" 1.25 ")
	stepback(t, "cost", pay, "--express").ends(t, exit.OK, "Step Functions, transitions             0.00     0.00",
		"Step Functions, EXPRESS executions      1.00     1.00")
	// AWS refuses a distributed Map in a state machine of type EXPRESS, and a job that is waited for.
	distributed := file(t, "map.asl.json", `{"StartAt":"M","States":{"M":{"Type":"Map","End":true,"ItemProcessor":{
		"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"T","States":{"T":{"Type":"Pass","End":true}}}}}}`)
	stepback(t, "cost", distributed, "--executions", "1000").ends(t, exit.OK, "Step Functions, transitions             5.05     5.05")
	stepback(t, "cost", distributed, "--express").complains(t, exit.Usage,
		"map.asl.json is not a state machine of type EXPRESS: The field 'Mode' with value 'DISTRIBUTED' is not supported inside 'EXPRESS' state machines")
	// A template says itself that its state machine is EXPRESS.
	template := file(t, "template.yaml", "AWSTemplateFormatVersion: '2010-09-09'\nResources:\n  M:\n    Type: AWS::StepFunctions::StateMachine\n"+
		"    Properties:\n      StateMachineType: EXPRESS\n      RoleArn: arn:aws:iam::000000000000:role/r\n"+
		"      Definition: {StartAt: P, States: {P: {Type: Pass, End: true}}}\n")
	stepback(t, "cost", template).ends(t, exit.OK, "Step Functions, EXPRESS executions      1.00     1.00")
	stepback(t, "cost", pay, "--arch", "mips").complains(t, exit.Usage, "--arch")
	stepback(t, "cost", pay+"x").complains(t, exit.Usage, "pay.asl.jsonx")
}

func TestCostOfADurableFunction(t *testing.T) {
	t.Parallel()
	const events = `{"EventType":"ExecutionStarted","EventId":1,"EventTimestamp":1000,"ExecutionStartedDetails":{"Input":{"Payload":"{}"}}},
		{"EventType":"StepStarted","EventId":2,"EventTimestamp":1000,"Id":"s","Name":"pay","StepStartedDetails":{}},
		{"EventType":"StepFailed","EventId":3,"EventTimestamp":1000,"Id":"s","Name":"pay","StepFailedDetails":{
			"Error":{"Payload":{"ErrorType":"Busy"}},"RetryDetails":{"CurrentAttempt":1,"NextAttemptDelaySeconds":5}}},
		{"EventType":"StepSucceeded","EventId":4,"EventTimestamp":1005,"Id":"s","Name":"pay","StepSucceededDetails":{"Result":{"Payload":"\"paid\""}}},
		{"EventType":"InvocationCompleted","EventId":5,"EventTimestamp":1006,"InvocationCompletedDetails":{"StartTimestamp":1005,"EndTimestamp":1006}}`
	page := file(t, "history.json", `{"Events": [`+events+`]}`)
	stepback(t, "cost", page, "--executions", "1000000", "--retention", "30").ends(t, exit.OK, "1,000,000 executions of a durable function",
		"Lambda, durable operations             16.00", "Lambda, retries of steps                8.00", "Lambda, invocations                     0.20",
		"Each has 3 operations, of which 1 retry of steps, writes 10 bytes, and runs 1s in 1 invocation.", "Prices of us-east-1")
	stepback(t, "cost", file(t, "list.json", "["+events+"]"), "--json").ends(t, exit.OK, `"retries": 1`, `"writtenBytes": 10`)
	stepback(t, "cost", file(t, "marked.json", "\ufeff["+events+"]\r\n")).ends(t, exit.OK, "Each has 3 operations")
	stepback(t, "cost", page, "--retention", "91").complains(t, exit.Usage, "--retention must be 1 to 90 days")
	stepback(t, "cost", file(t, "part.json", `[{"EventType":"WaitSucceeded","EventId":9}]`)).complains(t, exit.Usage,
		"the history does not begin with ExecutionStarted")
}
