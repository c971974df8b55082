package teststate

import (
	"strings"

	"stepback/aws/server"
	"stepback/engine"
	"stepback/jsonvalue"
	"stepback/tasks/awssdk/responses"
)

// The values of fieldValidationMode; the first is the default.
const (
	validateStrictly = "STRICT"
	validatePresent  = "PRESENT"
	validateNothing  = "NONE"
)

// sdkServices maps the service names of optimized integrations to those of AWS SDK integrations, where they differ.
var sdkServices = map[string]string{
	"states": "sfn", "events": "eventbridge", "elasticmapreduce": "emr", "emr-containers": "emrcontainers",
	"emr-serverless": "emrserverless",
}

// polled maps actions that start jobs to the actions that report the job's end. The response of the latter is the
// result of .sync.
var polled = map[string]string{
	"athena:startQueryExecution":              "getQueryExecution",
	"batch:submitJob":                         "describeJobs",
	"bedrock:createModelCustomizationJob":     "getModelCustomizationJob",
	"codebuild:startBuild":                    "batchGetBuilds",
	"codebuild:startBuildBatch":               "batchGetBuildBatches",
	"databrew:startJobRun":                    "describeJobRun",
	"ecs:runTask":                             "describeTasks",
	"eks:createCluster":                       "describeCluster",
	"eks:createFargateProfile":                "describeFargateProfile",
	"eks:createNodegroup":                     "describeNodegroup",
	"elasticmapreduce:addStep":                "describeStep",
	"elasticmapreduce:createCluster":          "describeCluster",
	"elasticmapreduce:terminateCluster":       "describeCluster",
	"emr-containers:createVirtualCluster":     "describeVirtualCluster",
	"emr-containers:deleteVirtualCluster":     "describeVirtualCluster",
	"emr-containers:startJobRun":              "describeJobRun",
	"emr-serverless:createApplication":        "getApplication",
	"emr-serverless:startApplication":         "getApplication",
	"emr-serverless:startJobRun":              "getJobRun",
	"emr-serverless:stopApplication":          "getApplication",
	"glue:startJobRun":                        "getJobRun",
	"mediaconvert:createJob":                  "getJob",
	"sagemaker:createHyperParameterTuningJob": "describeHyperParameterTuningJob",
	"sagemaker:createLabelingJob":             "describeLabelingJob",
	"sagemaker:createProcessingJob":           "describeProcessingJob",
	"sagemaker:createTrainingJob":             "describeTrainingJob",
	"sagemaker:createTransformJob":            "describeTransformJob",
	"states:startExecution":                   "describeExecution",
}

// parsed lists, for each optimized integration, the members of the result whose text is parsed as JSON.
var parsed = map[string][]string{
	"lambda:invoke":                {"Payload"},
	"bedrock:invokeModel":          {"Body"},
	"states:startExecution.sync:2": {"Input", "Output"},
}

// checkAnswer validates a mocked result against the response of the task's action. It does not check functions,
// activities, HTTP Tasks or task token callbacks, because their results can be anything.
func (m *stateMock) checkAnswer(task *engine.Call, result jsonvalue.Value) error {
	if m.Validation == validateNothing || task.Target != engine.ServiceIntegration ||
		task.Pattern == engine.WaitForTaskToken {
		return nil
	}
	answer, names, err := answerOf(task)
	if answer == nil || err != nil {
		return err
	}
	if result.Kind() != jsonvalue.Object {
		return server.Invalid("Mocked result must be a JSON object.")
	}
	if err := answer.Check(result, names, m.Validation != validatePresent); err != nil {
		return server.Invalid("Mock result schema validation error: " + err.Error())
	}
	return nil
}

// answerOf returns the shape of the response of a task's action, and how its members are named; nil if it is not
// known.
func answerOf(task *engine.Call) (*responses.Response, *responses.Naming, error) {
	if service, ok := strings.CutPrefix(task.Service, "aws-sdk:"); ok {
		answer, err := responses.Of(service, task.Action)
		return answer, responses.SDK, err
	}
	service, action, whole := task.Service, task.Action, task.Service+":"+task.Action
	if task.Pattern != engine.RequestResponse {
		action = polled[whole]
	} else if whole == "bedrock:invokeModel" {
		service = "bedrockruntime"
	}
	if name, ok := sdkServices[service]; ok {
		service = name
	}
	answer, err := responses.Of(service, action)
	if answer != nil {
		answer.Free(parsed[task.Service+":"+task.HistoryResource]...)
	}
	return answer, responses.Optimized, err
}
