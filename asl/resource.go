package asl

import (
	"errors"
	"slices"
	"strings"

	"stepback/aws"
)

// The integration patterns, as they appear in the suffix of a Resource.
const (
	patternSync  = "sync"
	patternSync2 = "sync:2"
	patternToken = "waitForTaskToken"
)

var (
	atOnce     = []string{""}
	withToken  = []string{"", patternToken}
	withJob    = []string{"", patternSync}
	withBoth   = []string{"", patternSync, patternToken}
	withNested = []string{"", patternSync, patternSync2, patternToken}
)

// optimized lists the optimized integrations by service and action, with their patterns (Developer Guide,
// "Integrating optimized services"). The integrations of s3 belong to Maps and are not allowed in Tasks.
var optimized = map[string]map[string][]string{
	"apigateway": {"invoke": withToken},
	"athena": {
		"getQueryExecution": atOnce, "getQueryResults": atOnce, "startQueryExecution": withJob,
		"stopQueryExecution": atOnce,
	},
	"batch":            {"submitJob": withBoth},
	"bedrock":          {"createModelCustomizationJob": withJob, "invokeModel": withToken},
	"bedrockagentcore": {"invokeHarness": atOnce},
	"codebuild": {
		"batchDeleteBuilds": atOnce, "batchGetReports": atOnce, "deleteBuildBatch": atOnce, "retryBuildBatch": withJob,
		"startBuild": withJob, "startBuildBatch": withJob, "stopBuild": atOnce, "stopBuildBatch": atOnce,
	},
	"databrew": {"startJobRun": withJob},
	"dynamodb": {"deleteItem": atOnce, "getItem": atOnce, "putItem": atOnce, "updateItem": atOnce},
	"ecs":      {"runTask": withBoth},
	"eks": {
		"call": atOnce, "createCluster": withJob, "createFargateProfile": withJob, "createNodegroup": withJob,
		"deleteCluster":        withJob,
		"deleteFargateProfile": withJob, "deleteNodegroup": withJob, "runJob": withBoth,
	},
	"elasticmapreduce": {
		"addStep": withJob, "cancelStep": atOnce, "createCluster": withJob, "modifyInstanceFleetByName": atOnce,
		"modifyInstanceGroupByName": atOnce, "setClusterTerminationProtection": atOnce, "terminateCluster": withJob,
	},
	"emr-containers": {"createVirtualCluster": atOnce, "deleteVirtualCluster": withJob, "startJobRun": withJob},
	"emr-serverless": {
		"cancelJobRun": withJob, "createApplication": withJob, "deleteApplication": withJob,
		"startApplication": withJob,
		"startJobRun":      withJob, "stopApplication": withJob,
	},
	"events":       {"putEvents": withToken},
	"glue":         {"startJobRun": withJob},
	"http":         {"invoke": atOnce},
	"lambda":       {"invoke": withToken},
	"mediaconvert": {"createJob": withJob},
	"sagemaker": {
		"createEndpoint": atOnce, "createEndpointConfig": atOnce, "createHyperParameterTuningJob": withJob,
		"createLabelingJob": withJob,
		"createModel":       atOnce, "createProcessingJob": withJob, "createTrainingJob": withJob,
		"createTransformJob": withJob,
		"updateEndpoint":     atOnce,
	},
	"sns":    {"publish": withToken},
	"sqs":    {"sendMessage": withToken},
	"states": {"startExecution": withNested},
}

// unknownResource reports whether an ARN cannot be the Resource of a Task. hint is the hint for the message; for a
// service that AWS has closed, it is a warning, and unknown is false. For Resources of the AWS SDK it checks only the
// form; Options.Action checks whether the action exists. The ARN of an integration may contain the region and the
// account, as in exported machines and templates.
func (o *Options) unknownResource(arn string) (hint string, unknown bool) {
	a, _ := aws.ParseARN(arn)
	service, rest := a.Service, a.Resource
	switch {
	case service == "lambda", service == "states" && strings.HasPrefix(rest, "activity:"):
		return "", false
	case service != "states":
		return "an integration (arn:aws:states:::…), a function or an activity", true
	}
	if sdk, ok := strings.CutPrefix(rest, "aws-sdk:"); ok {
		return o.unknownAction(sdk)
	}
	return unknownIntegration(rest)
}

// unknownAction checks the part after aws-sdk:. It must be service:action, and the only pattern allowed is the task
// token's.
func (o *Options) unknownAction(rest string) (hint string, unknown bool) {
	name, pattern, _ := strings.Cut(rest, ".")
	service, action, ok := strings.Cut(name, ":")
	switch {
	case !ok || service == "" || action == "" || strings.Contains(action, ":"):
		return "an action such as aws-sdk:s3:getObject", true
	case action[0] >= 'A' && action[0] <= 'Z':
		return "actions begin with a lower-case letter: " + strings.ToLower(action[:1]) + action[1:], true
	case pattern != "" && pattern != patternToken:
		return "AWS SDK actions are called without a pattern or with .waitForTaskToken", true
	}
	if o.Action != nil {
		if err := o.Action(service, action); err != nil {
			return err.Error(), !isClosed(err)
		}
	}
	return "", false
}

// isClosed reports whether an error of Options.Action is a warning: AWS has closed the service.
func isClosed(err error) bool {
	var closed interface{ Closed() bool }
	return errors.As(err, &closed) && closed.Closed()
}

// unknownIntegration checks service:action[.pattern] of an optimized integration.
func unknownIntegration(rest string) (hint string, unknown bool) {
	name, pattern, _ := strings.Cut(rest, ".")
	service, action, _ := strings.Cut(name, ":")
	actions, ok := optimized[service]
	switch {
	case service == "stateMachine" || service == "express":
		return "start a state machine by arn:aws:states:::states:startExecution, and name it in the parameters", true
	case ok && action == "":
		return "an integration with its action, such as " + service + ":" + sortedKeys(actions)[0], true
	case !ok:
		return "use aws-sdk:SERVICE:ACTION for a service without an optimized integration", true
	}
	patterns, ok := actions[action]
	if !ok {
		return didYouMean(action, sortedKeys(actions)), true
	}
	if slices.Contains(patterns, pattern) {
		return "", false
	}
	return service + ":" + action + " has the patterns " + strings.Join(named(patterns), ", "), true
}

func named(patterns []string) []string {
	names := make([]string, len(patterns))
	for i, p := range patterns {
		if names[i] = "." + p; p == "" {
			names[i] = "request-response"
		}
	}
	return names
}

func sortedKeys(m map[string][]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
