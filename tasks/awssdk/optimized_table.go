package awssdk

import (
	"context"
	"net/url"
	"strings"

	"stepback/engine"
	"stepback/jsonvalue"
)

// family describes a service's optimized integrations.
type family struct {
	resource string // the service's name in Resources
	service  string // the service's name in aws-sdk Resources
	// prefix, base and product are as in Optimized.
	prefix, base, product string
	actions               []string
}

var families = []family{
	{
		"athena", "athena", "Athena", "AmazonAthenaException", "AmazonAthena",
		[]string{"getQueryExecution", "getQueryResults", "startQueryExecution", "stopQueryExecution"},
	},
	{"batch", "batch", "Batch", "AWSBatchException", "AWSBatch", []string{"submitJob"}},
	{"bedrock", "bedrock", "Bedrock", "BedrockException", "", []string{"createModelCustomizationJob"}},
	{"bedrock", "bedrockruntime", "BedrockRuntime", "BedrockRuntimeException", "", []string{"invokeModel"}},
	{
		"codebuild", "codebuild", "CodeBuild", "AWSCodeBuildException", "AWSCodeBuild", []string{
			"batchDeleteBuilds", "batchGetReports", "deleteBuildBatch", "retryBuildBatch", "startBuild",
			"startBuildBatch", "stopBuild",
			"stopBuildBatch",
		},
	},
	{"databrew", "databrew", "DataBrew", "AWSGlueDataBrewException", "AWSGlueDataBrew", []string{"startJobRun"}},
	{
		"dynamodb", "dynamodb", "DynamoDB", "AmazonDynamoDBException", "AmazonDynamoDBv2",
		[]string{"deleteItem", "getItem", "putItem", "updateItem"},
	},
	{"ecs", "ecs", "ECS", "AmazonECSException", "AmazonECS", []string{"runTask"}},
	{
		"eks", "eks", "EKS", "AmazonEKSException", "AmazonEKS", []string{
			"createCluster", "createFargateProfile", "createNodegroup", "deleteCluster", "deleteFargateProfile",
			"deleteNodegroup",
		},
	},
	{
		"emr-containers", "emrcontainers", "EMRContainers", "AmazonEMRContainersException", "AmazonEMRContainers",
		[]string{"createVirtualCluster", "deleteVirtualCluster", "startJobRun"},
	},
	{
		"emr-serverless", "emrserverless", "EmrServerless", "EmrServerlessException", "", []string{
			"cancelJobRun", "createApplication", "deleteApplication", "startApplication", "startJobRun",
			"stopApplication",
		},
	},
	{"events", "eventbridge", "EventBridge", "EventBridgeException", "", []string{"putEvents"}},
	{"glue", "glue", "Glue", "AWSGlueException", "AWSGlue", []string{"startJobRun"}},
	{"mediaconvert", "mediaconvert", "MediaConvert", "MediaConvertException", "", []string{"createJob"}},
	{
		"sagemaker", "sagemaker", "SageMaker", "AmazonSageMakerException", "AmazonSageMaker", []string{
			"createEndpoint", "createEndpointConfig", "createHyperParameterTuningJob", "createLabelingJob",
			"createModel",
			"createProcessingJob", "createTrainingJob", "createTransformJob", "updateEndpoint",
		},
	},
	{"sns", "sns", "SNS", "AmazonSNSException", "AmazonSNS", []string{"publish"}},
	{"sqs", "sqs", "SQS", "AmazonSQSException", "AmazonSQS", []string{"sendMessage"}},
}

var (
	optimized        = optimizedTable()
	startExecutionOf = Optimized{
		serviceName: "sfn", action: "StartExecution", prefix: "StepFunctions", base: "AWSStepFunctionsException",
		product: "AWSStepFunctions", texts: []string{"Input"},
	}
)

// optimizedTable returns the optimized integrations with SDK services, by the names in their Resources.
func optimizedTable() map[string]*Optimized {
	table := map[string]*Optimized{}
	for i := range families {
		f := &families[i]
		for _, action := range f.actions {
			table[f.resource+":"+action] = &Optimized{
				serviceName: f.service, action: upperFirst(action), prefix: f.prefix, base: f.base,
				product: f.product,
			}
		}
	}
	clusters(table)
	table["bedrock:invokeModel"].prepare, table["bedrock:invokeModel"].deliver = modelInput, modelOutput
	table["ecs:runTask"].judge = failUnplaced
	table["events:putEvents"].prepare, table["events:putEvents"].judge = eventsOf, failRejectedEntries
	table["glue:startJobRun"].shape = jobNamed
	table["mediaconvert:createJob"].prepare = managed
	table["sns:publish"].texts = []string{"Message"}
	table["sqs:sendMessage"].check, table["sqs:sendMessage"].texts = checkQueueURL, []string{"MessageBody"}
	return table
}

// checkQueueURL returns an error for a QueueUrl that has a host but no queue. The service does the same, because it
// calls the URL's host, which does not exist.
func checkQueueURL(params jsonvalue.Value) error {
	v, _ := params.Get("QueueUrl")
	if u, err := url.Parse(v.Text()); err == nil && u.Host != "" && strings.Trim(u.Path, "/") == "" {
		return engine.NewFailure("SQS.SdkClientException", "Unable to execute HTTP request: "+u.Hostname()+
			": Name or service not known")
	}
	return nil
}

// failUnplaced fails the task if ECS could not place its container.
func failUnplaced(result jsonvalue.Value) error {
	if failures, _ := result.Get("Failures"); failures.Len() == 0 {
		return nil
	}
	return engine.NewFailure("AmazonECS.Unknown", result.JSON())
}

// jobNamed adds the request's JobName to Glue's response, which contains only the run's ID.
func jobNamed(params, result jsonvalue.Value) jsonvalue.Value {
	if name, ok := params.Get("JobName"); ok {
		return result.With("JobName", name)
	}
	return result
}

// managed tags a MediaConvert job as started by Step Functions.
func managed(_ context.Context, _ *Optimized, _ *engine.Task, params jsonvalue.Value) (jsonvalue.Value, error) {
	tags, _ := params.Get("Tags")
	if tags.IsNull() {
		tags = jsonvalue.NewObject(1).Value()
	}
	if params.Kind() != jsonvalue.Object || tags.Kind() != jsonvalue.Object {
		return params, nil
	}
	return params.With("Tags", tags.With("ManagedByService", jsonvalue.OfString("AWSStepFunctions"))), nil
}
