package awssdk

import (
	"net/url"
	"strings"

	"stepback/asl/jsonvalue"
	"stepback/engine"
)

// family is a service's optimized integrations.
type family struct {
	resource string // what Resources call the service
	service  string // what aws-sdk Resources call it
	// prefix, base and product are the same as those of Optimized.
	prefix, base, product string
	actions               []string
}

var families = []family{
	{
		"athena", "athena", "Athena", "AmazonAthenaException", "AmazonAthena",
		[]string{"getQueryExecution", "getQueryResults", "startQueryExecution", "stopQueryExecution"},
	},
	{"batch", "batch", "Batch", "AWSBatchException", "AWSBatch", []string{"submitJob"}},
	{"bedrock", "bedrockruntime", "BedrockRuntime", "BedrockRuntimeException", "", []string{"invokeModel"}},
	{
		"codebuild", "codebuild", "CodeBuild", "AWSCodeBuildException", "AWSCodeBuild", []string{
			"batchDeleteBuilds", "batchGetReports", "deleteBuildBatch", "retryBuildBatch", "startBuild", "startBuildBatch", "stopBuild",
			"stopBuildBatch",
		},
	},
	{
		"dynamodb", "dynamodb", "DynamoDB", "AmazonDynamoDBException", "AmazonDynamoDBv2",
		[]string{"deleteItem", "getItem", "putItem", "updateItem"},
	},
	{"ecs", "ecs", "ECS", "AmazonECSException", "AmazonECS", []string{"runTask"}},
	{
		"emr-serverless", "emrserverless", "EmrServerless", "EmrServerlessException", "", []string{
			"cancelJobRun", "createApplication", "deleteApplication", "startApplication", "startJobRun", "stopApplication",
		},
	},
	{"events", "eventbridge", "EventBridge", "EventBridgeException", "", []string{"putEvents"}},
	{"glue", "glue", "Glue", "AWSGlueException", "AWSGlue", []string{"startJobRun"}},
	{"sns", "sns", "SNS", "AmazonSNSException", "AmazonSNS", []string{"publish"}},
	{"sqs", "sqs", "SQS", "AmazonSQSException", "AmazonSQS", []string{"sendMessage"}},
}

var (
	optimized        = optimizedTable()
	startExecutionOf = Optimized{
		service: service("sfn"), action: "StartExecution", prefix: "StepFunctions", base: "AWSStepFunctionsException",
		product: "AWSStepFunctions", texts: []string{"Input"},
	}
)

// optimizedTable has the optimized integrations with services of the SDK, by the names in their Resources.
func optimizedTable() map[string]*Optimized {
	table := map[string]*Optimized{}
	for i := range families {
		f := &families[i]
		for _, action := range f.actions {
			table[f.resource+":"+action] = &Optimized{
				service: service(f.service), action: upperFirst(action), prefix: f.prefix, base: f.base, product: f.product,
			}
		}
	}
	clusters(table)
	table["bedrock:invokeModel"].shape = modelAnswer
	table["ecs:runTask"].judge = notPlaced
	table["events:putEvents"].prepare, table["events:putEvents"].judge = eventsOf, failedEntries
	table["glue:startJobRun"].shape = jobNamed
	table["sns:publish"].texts = []string{"Message"}
	table["sqs:sendMessage"].check, table["sqs:sendMessage"].texts = namesQueue, []string{"MessageBody"}
	return table
}

// modelAnswer reads the body of a model's answer where it is JSON.
func modelAnswer(_, result jsonvalue.Value) jsonvalue.Value {
	body, _ := result.Get("Body")
	if v, err := jsonvalue.Parse(body.Text()); err == nil && strings.TrimSpace(body.Text()) != "" {
		return result.With("Body", v)
	}
	return result
}

// namesQueue refuses a QueueUrl that names a host and no queue, as the service does: it calls the host of the URL, which is nowhere.
func namesQueue(params jsonvalue.Value) error {
	v, _ := params.Get("QueueUrl")
	if u, err := url.Parse(v.Text()); err == nil && u.Host != "" && strings.Trim(u.Path, "/") == "" {
		return &engine.TaskError{
			Name: "SQS.SdkClientException", Cause: "Unable to execute HTTP request: " + u.Hostname() + ": Name or service not known",
		}
	}
	return nil
}

// notPlaced fails a task of ECS that found no place to run.
func notPlaced(result jsonvalue.Value) error {
	if failures, _ := result.Get("Failures"); failures.Len() == 0 {
		return nil
	}
	return &engine.TaskError{Name: "AmazonECS.Unknown", Cause: result.JSON()}
}

// jobNamed adds the JobName of the request to Glue's answer, which has only the run's ID.
func jobNamed(params, result jsonvalue.Value) jsonvalue.Value {
	if name, ok := params.Get("JobName"); ok {
		return result.With("JobName", name)
	}
	return result
}
