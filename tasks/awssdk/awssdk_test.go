package awssdk_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"stepback/aws/loopback"
	"stepback/engine"
	"stepback/jsonvalue"
	"stepback/tasks/awssdk"
)

// fake gives the same response to every request of a service, and keeps the last request.
type fake struct {
	status        int
	body          string
	header        http.Header
	method, path  string
	target, heard string
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.method, f.path, f.heard = r.Method, r.URL.Path, string(body)
	_, f.target, _ = strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	for name, values := range f.header {
		w.Header()[name] = values
	}
	w.Header().Set("X-Amzn-Requestid", "r-1")
	if f.status != 0 {
		w.WriteHeader(f.status)
	}
	_, _ = io.WriteString(w, f.body)
}

func caller(service string, f *fake) *awssdk.Caller {
	return &awssdk.Caller{Account: "123456789012", Region: "eu-west-1", Endpoints: awssdk.Endpoints{
		Embedded: map[string]awssdk.Endpoint{service: {URL: loopback.URL, Client: loopback.Client(f)}},
	}}
}

// invoke performs a task.
func invoke(c *awssdk.Caller, resource, parameters string) (string, error) {
	service, action := resource[:strings.LastIndex(resource, ":")], resource[strings.LastIndex(resource, ":")+1:]
	all, start := awssdk.Integrations(c)
	all.Handle("states", "startExecution", start)
	result, err := all.Handler(service, action).Invoke(context.Background(), &engine.Task{
		Execution: "arn:aws:states:eu-west-1:123456789012:execution:m:x", Resource: "arn:aws:states:::" + resource,
		Service: service, Action: action, Parameters: parameters,
	})
	if err != nil {
		return "", err
	}
	return result.Text(), nil
}

func TestResults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		service, resource, parameters string
		answer                        fake
		target, heard, want           string
		sent                          string // the exact body, contained in the recorded request
	}{
		"absent members are left out": {
			service: "secretsmanager", resource: "aws-sdk:secretsmanager:listSecrets", parameters: `{}`,
			answer: fake{body: `{"SecretList":[]}`},
			target: "ListSecrets", heard: `{}`, want: `{"SecretList":[]}`,
		},
		"names of attribute values": {
			service: "dynamodb", resource: "aws-sdk:dynamodb:getItem",
			parameters: `{"TableName":"t","Key":{"id":{"S":"1"}}}`,
			answer:     fake{body: `{"Item":{"b":{"BOOL":true},"l":{"L":[{"N":"1"},{"NULL":true}]},"ss":{"SS":["x"]}}}`},
			target:     "GetItem", heard: `{"Key":{"id":{"S":"1"}},"TableName":"t"}`,
			want: `{"Item":{"b":{"Bool":true},"l":{"L":[{"N":"1"},{"Nul":true}]},"ss":{"Ss":["x"]}}}`,
		},
		"an optimized integration keeps the model's names, and has metadata": {
			service: "dynamodb", resource: "dynamodb:getItem",
			parameters: `{"TableName":"t","Key":{"id":{"S":"1"},"f":{"BOOL":true}}}`,
			answer:     fake{body: `{"Item":{"b":{"BOOL":true}}}`},
			target:     "GetItem", heard: `{"Key":{"f":{"BOOL":true},"id":{"S":"1"}},"TableName":"t"}`,
			want: `{"Item":{"b":{"BOOL":true}},"SdkHttpMetadata":{"AllHttpHeaders":{"x-amzn-RequestId":["r-1"]},` +
				`"HttpHeaders":{"x-amzn-RequestId":"r-1"},"HttpStatusCode":200},"SdkResponseMetadata":{"RequestId":"r-1"}}`,
		},
		"parameters in the names of the SDK for Java": {
			service: "dynamodb", resource: "aws-sdk:dynamodb:putItem",
			parameters: `{"TableName":"t","Item":{"id":{"S":"1"},"f":{"Bool":false},"n":{"Nul":true}}}`,
			answer:     fake{body: `{}`},
			target:     "PutItem", heard: `{"Item":{"f":{"BOOL":false},"id":{"S":"1"},"n":{"NULL":true}},"TableName":"t"}`,
			want: `{}`,
		},
		"a message that is an object": {
			service: "sqs", resource: "aws-sdk:sqs:sendMessage",
			parameters: `{"QueueUrl":"q","MessageBody":{"a":[1,null]}}`,
			answer:     fake{body: `{"MessageId":"m"}`},
			target:     "SendMessage", heard: `{"MessageBody":"{\"a\":[1,null]}","QueueUrl":"q"}`,
			want: `{"MessageId":"m"}`,
		},
		"times": {
			service: "sfn", resource: "aws-sdk:sfn:startExecution",
			parameters: `{"StateMachineArn":"arn","Input":{"a":1}}`,
			answer:     fake{body: `{"executionArn":"x","startDate":1600000000.25}`},
			target:     "StartExecution", heard: `{"input":"{\"a\":1}","stateMachineArn":"arn"}`,
			want: `{"ExecutionArn":"x","StartDate":"2020-09-13T12:26:40.250Z"}`,
		},
		"an event carries the execution": {
			service: "eventbridge", resource: "events:putEvents",
			parameters: `{"Entries":[{"Detail":{"a":1},"Resources":["r"]}]}`,
			answer:     fake{body: `{"Entries":[{"EventId":"e"}],"FailedEntryCount":0}`},
			target:     "PutEvents",
			heard: `{"Entries":[{"Detail":"{\"a\":1}","Resources":["r","arn:aws:states:eu-west-1:123456789012:execution:m:x",` +
				`"arn:aws:states:eu-west-1:123456789012:stateMachine:m"]}]}`,
			want: `{"Entries":[{"EventId":"e"}],"FailedEntryCount":0}`,
		},
		"an object's content": {
			service: "s3", resource: "aws-sdk:s3:getObject", parameters: `{"Bucket":"b","Key":"k"}`,
			answer: fake{body: "text", header: http.Header{"Etag": {`"e"`}, "Content-Type": {"text/plain"},
				"Content-Length": {"4"}}},
			want: `{"Body":"text","ContentLength":4,"ContentType":"text/plain","ETag":"\"e\"","Metadata":{}}`,
		},
		"a step of EMR": {
			service: "emr", resource: "elasticmapreduce:addStep",
			parameters: `{"ClusterId":"j","Step":{"Name":"s","HadoopJarStep":{"Jar":"x"}}}`,
			answer:     fake{body: `{"StepIds":["s-1"]}`}, target: "AddJobFlowSteps",
			heard: `{"JobFlowId":"j","Steps":[{"HadoopJarStep":{"Jar":"x"},"Name":"s"}]}`,
			want: `{"StepId":"s-1","SdkHttpMetadata":{"AllHttpHeaders":{"x-amzn-RequestId":["r-1"]},` +
				`"HttpHeaders":{"x-amzn-RequestId":"r-1"},"HttpStatusCode":200},"SdkResponseMetadata":{"RequestId":"r-1"}}`,
		},
		"a job of Glue has its name": {
			service: "glue", resource: "glue:startJobRun", parameters: `{"JobName":"j"}`,
			answer: fake{body: `{"JobRunId":"r"}`},
			target: "StartJobRun", heard: `{"JobName":"j"}`,
			want: `{"JobRunId":"r","JobName":"j","SdkHttpMetadata":{"AllHttpHeaders":{"x-amzn-RequestId":["r-1"]},` +
				`"HttpHeaders":{"x-amzn-RequestId":"r-1"},"HttpStatusCode":200},"SdkResponseMetadata":{"RequestId":"r-1"}}`,
		},
		"a job of MediaConvert is tagged": {
			service: "mediaconvert", resource: "mediaconvert:createJob",
			answer:     fake{body: `{"job":{"id":"i","status":"SUBMITTED"}}`},
			parameters: `{"Role":"r","Settings":{},"Tags":{"a":"b"},"ClientRequestToken":"c"}`,
			heard:      `{"role":"r","settings":{},"tags":{"a":"b","ManagedByService":"AWSStepFunctions"},"clientRequestToken":"c"}`,
			want:       `{"Job":{"Id":"i","Status":"SUBMITTED"}}`,
		},
		"a service of many actions": {
			service: "sagemaker", resource: "sagemaker:createModel", parameters: `{"ModelName":"m"}`,
			answer: fake{body: `{"ModelArn":"arn"}`},
			target: "CreateModel", heard: `{"ModelName":"m"}`,
			want: `{"ModelArn":"arn","SdkHttpMetadata":{"AllHttpHeaders":{"x-amzn-RequestId":["r-1"]},` +
				`"HttpHeaders":{"x-amzn-RequestId":"r-1"},"HttpStatusCode":200},"SdkResponseMetadata":{"RequestId":"r-1"}}`,
		},
		"any JSON for a tool, and from it": {
			service: "bedrockruntime", resource: "aws-sdk:bedrockruntime:converse",
			parameters: `{"ModelId":"m","Messages":[{"Role":"user","Content":[{"Text":"t"}]}],` +
				`"ToolConfig":{"Tools":[{"ToolSpec":{"Name":"n","InputSchema":{"Json":{"type":"object","a":[1.50,null,true]}}}}]}}`,
			answer: fake{body: `{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"u","name":"n","input":{"x":1.5,"y":["<a>"]}}}]}},` +
				`"stopReason":"tool_use","usage":{"inputTokens":1,"outputTokens":2,"totalTokens":3},"metrics":{"latencyMs":4}}`},
			sent: `"inputSchema":{"json":{"type":"object","a":[1.50,null,true]}}`,
			want: `{"Metrics":{"LatencyMs":4},"Output":{"Message":{"Content":[{"ToolUse":{"Input":{"x":1.5,"y":["<a>"]},"Name":"n","ToolUseId":"u"}}],"Role":"assistant"}},` +
				`"StopReason":"tool_use","Usage":{"InputTokens":1,"OutputTokens":2,"TotalTokens":3}}`,
		},
		"names that Java has itself": {
			service: "bedrockagentruntime", resource: "aws-sdk:bedrockagentruntime:retrieve",
			parameters: `{"KnowledgeBaseId":"k","RetrievalQuery":{"Text":"t"},"RetrievalConfiguration":{"VectorSearchConfiguration":` +
				`{"Filter":{"EqualsValue":{"Key":"a","Value":"b"}}}}}`,
			answer: fake{body: `{"retrievalResults":[]}`}, sent: `"filter":{"equals":{"key":"a","value":"b"}}`,
			want: `{"RetrievalResults":[]}`,
		},
		"an object that is no text": {
			service: "s3", resource: "aws-sdk:s3:getObject", parameters: `{"Bucket":"b","Key":"k"}`,
			answer: fake{body: "\x89P\xff\xfe", header: http.Header{"Content-Length": {"4"}}},
			want:   `{"Body":"` + "\uFFFDP\uFFFD\uFFFD" + `","ContentLength":4,"Metadata":{}}`,
		},
		"a model's answer is read": {
			service: "bedrockruntime", resource: "bedrock:invokeModel",
			parameters: `{"ModelId":"m","Body":{"prompt":"p"}}`,
			answer:     fake{body: `{"completion":"c"}`, header: http.Header{"Content-Type": {"application/json"}}},
			heard:      `{"prompt":"p"}`,
			want:       `{"Body":{"completion":"c"},"ContentType":"application/json"}`,
		},
		"a body is JSON, quotes and all": {
			service: "s3", resource: "aws-sdk:s3:putObject", parameters: `{"Bucket":"b","Key":"k","Body":"text data"}`,
			answer: fake{header: http.Header{"Etag": {`"e"`}}}, want: `{"ETag":"\"e\""}`, sent: `"text data"`,
		},
		"a body that is an object": {
			service: "s3", resource: "aws-sdk:s3:putObject",
			parameters: `{"Bucket":"b","Key":"k","Body":{"a":[1,true]}}`,
			answer:     fake{header: http.Header{"Etag": {`"e"`}}}, want: `{"ETag":"\"e\""}`, sent: `{"a":[1,true]}`,
		},
		"bytes": {
			service: "kms", resource: "aws-sdk:kms:encrypt", parameters: `{"KeyId":"k","Plaintext":"hello"}`,
			answer: fake{body: `{"CiphertextBlob":"//8=","KeyId":"k"}`},
			target: "Encrypt", heard: `{"KeyId":"k","Plaintext":"aGVsbG8="}`,
			want: `{"CiphertextBlob":"//8=","KeyId":"k"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &c.answer
			got, err := invoke(caller(c.service, f), c.resource, c.parameters)
			if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if f.target != c.target {
				t.Errorf("called %s, want %s", f.target, c.target)
			}
			if !strings.Contains(f.heard, c.sent) {
				t.Errorf("sent %s, want %s in it", f.heard, c.sent)
			}
			if c.heard != "" && !same(t, f.heard, c.heard) {
				t.Errorf("sent %s\nwant %s", f.heard, c.heard)
			}
		})
	}
}

func same(t *testing.T, a, b string) bool {
	t.Helper()
	x, err := jsonvalue.Parse(a)
	if err != nil {
		t.Fatalf("%s: %v", a, err)
	}
	y, err := jsonvalue.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return jsonvalue.Equal(x, y)
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		service, resource, parameters string
		answer                        fake
		err, cause                    string
	}{
		"modeled": {
			service: "dynamodb", resource: "aws-sdk:dynamodb:getItem",
			parameters: `{"TableName":"t","Key":{"id":{"S":"1"}}}`,
			answer: fake{status: 400,
				body: `{"__type":"com.amazonaws#ResourceNotFoundException","message":"gone"}`},
			err:   "DynamoDb.ResourceNotFoundException",
			cause: "gone (Service: DynamoDb, Status Code: 400, Request ID: r-1) (SDK Attempt Count: 1)",
		},
		"not modeled": {
			service: "secretsmanager", resource: "aws-sdk:secretsmanager:listSecrets", parameters: `{}`,
			answer: fake{status: 403, body: `{"__type":"AccessDeniedException","message":"no"}`},
			err:    "SecretsManager.SecretsManagerException",
			cause:  "no (Service: SecretsManager, Status Code: 403, Request ID: r-1) (SDK Attempt Count: 1)",
		},
		"without the word Exception": {
			service: "s3", resource: "aws-sdk:s3:getObject", parameters: `{"Bucket":"b","Key":"k"}`,
			answer: fake{
				status: 404, body: `<Error><Code>NoSuchBucket</Code><Message>no bucket</Message></Error>`,
				header: http.Header{"X-Amz-Request-Id": {"r-2"}, "X-Amz-Id-2": {"h"}},
			},
			err:   "S3.NoSuchBucketException",
			cause: "no bucket (Service: S3, Status Code: 404, Request ID: r-2, Extended Request ID: h)",
		},
		"without a body": {
			service: "s3", resource: "aws-sdk:s3:headObject", parameters: `{"Bucket":"b","Key":"k"}`,
			answer: fake{status: 404, header: http.Header{"X-Amz-Request-Id": {"r-2"}}},
			err:    "S3.NoSuchKeyException",
			cause:  "null (Service: S3, Status Code: 404, Request ID: r-2, Extended Request ID: null)",
		},
		"a throttled call is not repeated": {
			service: "dynamodb", resource: "dynamodb:getItem", parameters: `{"TableName":"t","Key":{"id":{"S":"1"}}}`,
			answer: fake{status: 400, body: `{"__type":"com.amazonaws#ProvisionedThroughputExceededException","message":"slow"}`},
			err:    "DynamoDB.ProvisionedThroughputExceededException",
			cause: "slow (Service: AmazonDynamoDBv2; Status Code: 400; Error Code: ProvisionedThroughputExceededException; " +
				"Request ID: r-1; Proxy: null)",
		},
		"an optimized integration's error that is not modeled": {
			service: "dynamodb", resource: "dynamodb:getItem", parameters: `{"TableName":"t","Key":{"id":{"S":"1"}}}`,
			answer: fake{status: 400, body: `{"__type":"com.amazon.coral.validate#ValidationException","message":"bad"}`},
			err:    "DynamoDB.AmazonDynamoDBException",
			cause:  "bad (Service: AmazonDynamoDBv2; Status Code: 400; Error Code: ValidationException; Request ID: r-1; Proxy: null)",
		},
		"a null for a required member is the service's to refuse": {
			service: "sqs", resource: "sqs:sendMessage", parameters: `{"QueueUrl":"q","MessageBody":null}`,
			err:   "SQS.AmazonSQSException",
			cause: "The request must contain the parameter MessageBody. (Service: AmazonSQS; Status Code: 400; Error Code: MissingParameter; Request ID: *; Proxy: null)",
		},
		"a required member is missing": {
			service: "sqs", resource: "sqs:sendMessage", parameters: `{"QueueUrl":"q"}`,
			err: "States.Runtime",
			cause: `The Parameters '{"QueueUrl":"q"}' could not be used to start the Task: ` +
				`[The field "MessageBody" is required but was missing]`,
		},
		"an unknown member": {
			service: "sqs", resource: "aws-sdk:sqs:sendMessage",
			parameters: `{"QueueUrl":"q","messageBody":"x","Nonsense":1}`,
			err:        "States.Runtime",
			cause: `The Parameters '{"QueueUrl":"q","messageBody":"x","Nonsense":1}' could not be used to start the Task: ` +
				`[The field "messageBody" is not supported by Step Functions, The field "Nonsense" is not supported by Step Functions]`,
		},
		"a value of the wrong type": {
			service: "sqs", resource: "aws-sdk:sqs:receiveMessage",
			parameters: `{"QueueUrl":1,"MaxNumberOfMessages":"a","AttributeNames":"All"}`,
			err:        "States.Runtime",
			cause: `The Parameters '{"QueueUrl":1,"MaxNumberOfMessages":"a","AttributeNames":"All"}' could not be used to start the Task: ` +
				`[The value for the field 'QueueUrl' must be a STRING, The value for the field 'MaxNumberOfMessages' must be an INTEGER, ` +
				`The value for the field 'AttributeNames' must be a LIST]`,
		},
		"an unknown action": {
			service: "sqs", resource: "aws-sdk:sqs:options", parameters: `{}`,
			err: "States.Runtime", cause: "The action options of the service sqs is not supported.",
		},
		"an action with another name": {
			service: "sqs", resource: "aws-sdk:sqs:sendMesage", parameters: `{}`,
			err:   "States.Runtime",
			cause: "The action sendMesage of the service sqs is not supported; did you mean sendMessage?",
		},
		"a stream of events": {
			service: "kinesis", resource: "aws-sdk:kinesis:subscribeToShard", parameters: `{}`,
			err: "States.Runtime", cause: "The action subscribeToShard of the service kinesis is not supported: " +
				"it sends or answers a stream of events.",
		},
		"an entry that was not accepted": {
			service: "eventbridge", resource: "events:putEvents", parameters: `{"Entries":[{"Detail":"x"}]}`,
			answer: fake{body: `{"Entries":[{"ErrorCode":"MalformedDetail","ErrorMessage":"Detail is malformed."}],"FailedEntryCount":1}`},
			err:    "EventBridge.FailedEntry",
			cause:  `{"Entries":[{"ErrorCode":"MalformedDetail","ErrorMessage":"Detail is malformed."}],"FailedEntryCount":1}`,
		},
		"a QueueUrl without a queue": {
			service: "sqs", resource: "sqs:sendMessage",
			parameters: `{"QueueUrl":"http://no-such-queue","MessageBody":"b"}`,
			err:        "SQS.SdkClientException",
			cause:      "Unable to execute HTTP request: no-such-queue: Name or service not known",
		},
		"a task that ECS cannot place": {
			service: "ecs", resource: "ecs:runTask", parameters: `{"TaskDefinition":"d"}`,
			answer: fake{body: `{"failures":[{"reason":"RESOURCE:MEMORY"}],"tasks":[]}`},
			err:    "AmazonECS.Unknown", cause: `{"Failures":[{"Reason":"RESOURCE:MEMORY"}],"Tasks":[]}`,
		},
		"an error of a young service": {
			service: "emrserverless", resource: "emr-serverless:startJobRun",
			parameters: `{"ApplicationId":"a","ClientToken":"t","ExecutionRoleArn":"r"}`,
			answer: fake{status: 404, header: http.Header{"X-Amzn-Errortype": {"ResourceNotFoundException"}},
				body: `{"message":"gone"}`},
			err:   "EmrServerless.ResourceNotFoundException",
			cause: "gone (Service: EmrServerless, Status Code: 404, Request ID: r-1) (SDK Attempt Count: 1)",
		},
		"no endpoint": {
			service: "none", resource: "sqs:sendMessage", parameters: `{"QueueUrl":"q","MessageBody":"b"}`,
			err:   "SQS.SdkClientException",
			cause: "Unable to execute HTTP request: no endpoint for SQS is configured; set SQS_ENDPOINT or AWS_ENDPOINT_URL_SQS to its URL",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := invoke(caller(c.service, &c.answer), c.resource, c.parameters)
			var task *engine.Failure
			if !errors.As(err, &task) {
				t.Fatalf("got %v", err)
			}
			before, after, some := strings.Cut(c.cause, "*")
			like := strings.HasPrefix(task.Cause, before) && strings.HasSuffix(task.Cause, after)
			if task.Name != c.err || some && !like || !some && task.Cause != c.cause {
				t.Errorf("got  %s: %s\nwant %s: %s", task.Name, task.Cause, c.err, c.cause)
			}
		})
	}
}

func TestUnknownService(t *testing.T) {
	t.Parallel()
	_, err := invoke(caller("sqs", &fake{}), "aws-sdk:nonsense:act", `{}`)
	var task *engine.Failure
	if !errors.As(err, &task) || task.Name != engine.StatesRuntime || !strings.HasPrefix(task.Cause,
		"The service nonsense is not supported") {
		t.Errorf("got %v", err)
	}
}
