package csvimportstack

import (
	"strconv"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"stepback/engine/history"
)

// query is a saved query of CloudWatch Logs Insights.
type query struct {
	name, text string
	groups     []awslogs.LogGroup
}

// addQueries saves the log queries that the guide uses. They cost nothing until they are run.
func (s *Stack) addQueries() {
	steps := []awslogs.LogGroup{s.logs["Validate"], s.logs["Process"], s.logs["Aggregate"], s.logs["Files"]}
	machine := []awslogs.LogGroup{s.StateMachineLog, s.FilesStateMachineLog}
	for _, q := range []query{
		{"failed steps by error", `fields @timestamp, step, error, cause, executionArn, requestId
| filter msg = "failed"
| stats count(*) as failures, latest(cause) as lastCause by step, error
| sort failures desc`, steps},
		{"one execution", `fields @timestamp, step, msg, error, cause, row, took, requestId
| filter executionArn like /:NAME$/ # the execution's name
| sort @timestamp`, steps},
		{"one request", `fields @timestamp, @log, @message
| filter requestId = "ID" or @requestId = "ID"
| sort @timestamp`, steps},
		{"slowest steps", `filter ispresent(took)
| stats count(*) as calls, pct(took / 1e6, 50) as p50ms, pct(took / 1e6, 99) as p99ms, max(took / 1e6) as maxms by step`, steps},
		{"functions by memory and cold start", `filter @type = "REPORT"
| stats count(*) as invocations, count(@initDuration) as coldStarts, max(@initDuration) as longestStart,
    max(@maxMemoryUsed / 1000 / 1000) as usedMB, max(@memorySize / 1000 / 1000) as haveMB by @log`, steps},
		{"failed executions", `fields @timestamp, execution_arn, type, details.error, details.cause
| filter type in ["ExecutionFailed", "ExecutionTimedOut", "ExecutionAborted"]
| filter execution_arn not like "/" # no child executions
| sort @timestamp desc`, machine},
		{"failed attempts by error", `filter type in [` + failedAttempts() + `]
| stats count(*) as failures by details.error, bin(5m)
| sort failures desc`, machine},
		{"history of an execution", `fields id, previous_event_id, type, details.name, details.error
| filter execution_arn like /:NAME$/ # the execution's name
| sort id`, machine},
		{"changes by the controller", `fields @timestamp, verdict, decision, note
| filter ispresent(decision) or ispresent(note)
| sort @timestamp desc`, []awslogs.LogGroup{s.logs["Adapt"]}},
	} {
		var names []any
		for _, g := range q.groups {
			if g != nil {
				names = append(names, g.LogGroupName())
			}
		}
		if len(names) == 0 {
			continue
		}
		awslogs.NewCfnQueryDefinition(s.Stack, jsii.String("Query-"+q.name), &awslogs.CfnQueryDefinitionProps{
			Name: jsii.String(s.Environment.Prefix() + "/" + q.name), QueryString: jsii.String(q.text),
			LogGroupNames: &names,
		})
	}
}

// failedAttempts lists the event types that count as failed attempts, as Logs Insights takes them.
func failedAttempts() string {
	var names []string
	for _, t := range history.FailedTypes() {
		names = append(names, strconv.Quote(t.String()))
	}
	return strings.Join(names, ", ")
}
