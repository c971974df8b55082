package stepfunctions

import (
	"stepback/aws/server"
)

// operations returns the implemented operations.
func (s *Service) operations() map[string]server.Operation {
	return map[string]server.Operation{
		"CreateStateMachine":               server.Handle(s.createStateMachine),
		"DescribeStateMachine":             server.Handle(s.describeStateMachine),
		"UpdateStateMachine":               server.Handle(s.updateStateMachine),
		"DeleteStateMachine":               server.Handle(s.deleteStateMachine),
		"ListStateMachines":                server.Handle(s.listStateMachines),
		"ValidateStateMachineDefinition":   server.Handle(s.validateStateMachineDefinition),
		"StartExecution":                   server.Handle(s.startExecution),
		"StartSyncExecution":               server.Handle(s.startSyncExecution),
		"TestState":                        server.Handle(s.testState),
		"DescribeExecution":                server.Handle(s.describeExecution),
		"StopExecution":                    server.Handle(s.stopExecution),
		"RedriveExecution":                 server.Handle(s.redriveExecution),
		"ListExecutions":                   server.Handle(s.listExecutions),
		"GetExecutionHistory":              server.Handle(s.getExecutionHistory),
		"DescribeStateMachineForExecution": server.Handle(s.describeStateMachineForExecution),
		"DescribeMapRun":                   server.Handle(s.describeMapRun),
		"ListMapRuns":                      server.Handle(s.listMapRuns),
		"UpdateMapRun":                     server.Handle(s.updateMapRun),
		"CreateActivity":                   server.Handle(s.createActivity),
		"DescribeActivity":                 server.Handle(s.describeActivity),
		"DeleteActivity":                   server.Handle(s.deleteActivity),
		"ListActivities":                   server.Handle(s.listActivities),
		"GetActivityTask":                  server.Handle(s.getActivityTask),
		"SendTaskSuccess":                  server.Handle(s.sendTaskSuccess),
		"SendTaskFailure":                  server.Handle(s.sendTaskFailure),
		"SendTaskHeartbeat":                server.Handle(s.sendTaskHeartbeat),
		"TagResource":                      server.Handle(s.tagResource),
		"UntagResource":                    server.Handle(s.untagResource),
		"ListTagsForResource":              server.Handle(s.listTagsForResource),
		"PublishStateMachineVersion":       server.Handle(s.publishStateMachineVersion),
		"ListStateMachineVersions":         server.Handle(s.listStateMachineVersions),
		"DeleteStateMachineVersion":        server.Handle(s.deleteStateMachineVersion),
		"CreateStateMachineAlias":          server.Handle(s.createStateMachineAlias),
		"DescribeStateMachineAlias":        server.Handle(s.describeStateMachineAlias),
		"UpdateStateMachineAlias":          server.Handle(s.updateStateMachineAlias),
		"DeleteStateMachineAlias":          server.Handle(s.deleteStateMachineAlias),
		"ListStateMachineAliases":          server.Handle(s.listStateMachineAliases),
	}
}
