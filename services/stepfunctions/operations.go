package stepfunctions

import "stepback/aws/server/awsjson"

// operations are all that the service has.
func (s *Service) operations() map[string]awsjson.Operation {
	return map[string]awsjson.Operation{
		"CreateStateMachine":             awsjson.Handle(createStateMachineMembers, s.createStateMachine),
		"DescribeStateMachine":           awsjson.Handle(describeStateMachineMembers, s.describeStateMachine),
		"UpdateStateMachine":             awsjson.Handle(updateStateMachineMembers, s.updateStateMachine),
		"DeleteStateMachine":             awsjson.Handle(deleteStateMachineMembers, s.deleteStateMachine),
		"ListStateMachines":              awsjson.Handle(paging(maxToken), s.listStateMachines),
		"ValidateStateMachineDefinition": awsjson.Handle(validateMembers, s.validateStateMachineDefinition),
		"StartExecution":                 awsjson.Handle(startExecutionMembers, s.startExecution),
		"StartSyncExecution":             awsjson.Handle(startSyncExecutionMembers, s.startSyncExecution),
		"TestState":                      awsjson.Handle(testStateMembers, s.testState),
		"DescribeExecution":              awsjson.Handle(describeExecutionMembers, s.describeExecution),
		"StopExecution":                  awsjson.Handle(stopExecutionMembers, s.stopExecution),
		"RedriveExecution":               awsjson.Handle(redriveExecutionMembers, s.redriveExecution),
		"ListExecutions":                 awsjson.Handle(listExecutionsMembers, s.listExecutions),
		"GetExecutionHistory":            awsjson.Handle(getExecutionHistoryMembers, s.getExecutionHistory),
		"DescribeStateMachineForExecution": awsjson.Handle(describeExecutionMembers,
			s.describeStateMachineForExecution),
		"DescribeMapRun":             awsjson.Handle(describeMapRunMembers, s.describeMapRun),
		"ListMapRuns":                awsjson.Handle(listMapRunsMembers, s.listMapRuns),
		"UpdateMapRun":               awsjson.Handle(updateMapRunMembers, s.updateMapRun),
		"CreateActivity":             awsjson.Handle(createActivityMembers, s.createActivity),
		"DescribeActivity":           awsjson.Handle(activityMembers, s.describeActivity),
		"DeleteActivity":             awsjson.Handle(activityMembers, s.deleteActivity),
		"ListActivities":             awsjson.Handle(paging(maxToken), s.listActivities),
		"GetActivityTask":            awsjson.Handle(getActivityTaskMembers, s.getActivityTask),
		"SendTaskSuccess":            awsjson.Handle(sendTaskSuccessMembers, s.sendTaskSuccess),
		"SendTaskFailure":            awsjson.Handle(sendTaskFailureMembers, s.sendTaskFailure),
		"SendTaskHeartbeat":          awsjson.Handle(sendTaskHeartbeatMembers, s.sendTaskHeartbeat),
		"TagResource":                awsjson.Handle(tagResourceMembers, s.tagResource),
		"UntagResource":              awsjson.Handle(untagResourceMembers, s.untagResource),
		"ListTagsForResource":        awsjson.Handle(listTagsMembers, s.listTagsForResource),
		"PublishStateMachineVersion": awsjson.Handle(publishMembers, s.publishStateMachineVersion),
		"ListStateMachineVersions":   awsjson.Handle(listVersionsMembers, s.listStateMachineVersions),
		"DeleteStateMachineVersion":  awsjson.Handle(deleteVersionMembers, s.deleteStateMachineVersion),
		"CreateStateMachineAlias":    awsjson.Handle(createAliasMembers, s.createStateMachineAlias),
		"DescribeStateMachineAlias":  awsjson.Handle(aliasMembers, s.describeStateMachineAlias),
		"UpdateStateMachineAlias":    awsjson.Handle(updateAliasMembers, s.updateStateMachineAlias),
		"DeleteStateMachineAlias":    awsjson.Handle(aliasMembers, s.deleteStateMachineAlias),
		"ListStateMachineAliases":    awsjson.Handle(listAliasesMembers, s.listStateMachineAliases),
	}
}
