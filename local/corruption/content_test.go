package corruption_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"stepback/engine/history"
	"stepback/local"
	"stepback/local/services/logs/logstore"
)

// clients are AWS's clients of a platform.
type clients struct {
	p        *local.Platform
	states   *sfn.Client
	tables   *dynamodb.Client
	queues   *sqs.Client
	topics   *sns.Client
	settings *ssm.Client
	secrets  *secretsmanager.Client
	lambdas  *lambda.Client
	objects  *s3.Client
}

func clientsOf(p *local.Platform) *clients {
	cfg := aws.Config{Region: "us-east-1", BaseEndpoint: &p.Endpoint, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")}
	return &clients{p, sfn.NewFromConfig(cfg), dynamodb.NewFromConfig(cfg), sqs.NewFromConfig(cfg),
		sns.NewFromConfig(cfg),
		ssm.NewFromConfig(cfg), secretsmanager.NewFromConfig(cfg), lambda.NewFromConfig(cfg),
		s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })}
}

// content lists the written values by name. Each name has all values that it ever had; the last one is the current one.
type content map[string][]string

func (c content) wrote(name, value string) { c[name] = append(c[name], value) }

const (
	role    = "arn:aws:iam::000000000000:role/r"
	machine = `{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`
	many    = 12
	group   = "/corruption/group"
)

// long returns a text that depends on its arguments and takes a few hundred bytes.
func long(what string, i, round int) string {
	return strings.Repeat(fmt.Sprintf("%s %d in round %d; ", what, i, round), 12)
}

// fill writes content through the services. Round 0 creates everything; later rounds overwrite and add.
func (c *clients) fill(ctx context.Context, t *testing.T, written content, round int) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	if round == 0 {
		c.create(ctx, t)
	}
	queue, err := c.queues.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String("q")})
	must(err)
	for i := range many {
		name := fmt.Sprintf("execution/%d-%d", round, i)
		input := fmt.Sprintf("%q", long("execution", i, round))
		must(c.run(ctx, fmt.Sprintf("e-%d-%d", round, i), input))
		written.wrote(name, input)

		name = fmt.Sprintf("item/%d", i)
		_, err = c.tables.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("table"), Item: map[string]ddb.AttributeValue{
			"id": &ddb.AttributeValueMemberS{Value: name}, "v": &ddb.AttributeValueMemberS{Value: long("item", i, round)}}})
		must(err)
		written.wrote(name, long("item", i, round))

		body := long("message", i, round)
		_, err = c.queues.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: queue.QueueUrl, MessageBody: &body})
		must(err)
		written.wrote(fmt.Sprintf("message/%d-%d", round, i), body)

		name = fmt.Sprintf("/parameter/%d", i)
		_, err = c.settings.PutParameter(ctx, &ssm.PutParameterInput{Name: &name, Value: aws.String(long("parameter", i, round)),
			Type: ssmtypes.ParameterTypeString, Overwrite: aws.Bool(true)})
		must(err)
		written.wrote(name, long("parameter", i, round))
	}
	for i := range 3 {
		name := fmt.Sprintf("secret/%d", i)
		if round == 0 {
			_, err = c.secrets.CreateSecret(ctx, &secretsmanager.CreateSecretInput{Name: &name,
				SecretString: aws.String(long(name, i, round))})
		} else {
			_, err = c.secrets.PutSecretValue(ctx, &secretsmanager.PutSecretValueInput{SecretId: &name,
				SecretString: aws.String(long(name, i, round))})
		}
		must(err)
		written.wrote(name, long(name, i, round))
	}
	// What is not in Pebble stores has entries that are stored within a second, or when the platform closes.
	if round > 1 {
		return
	}
	for i := range 4 {
		for _, bucket := range []string{"plain", "versioned"} {
			key := fmt.Sprintf("folder/object-%d", i)
			body := long(bucket, i, round)
			if i == 3 {
				body = strings.Repeat(body, 2<<20/len(body)) // it is streamed
			}
			_, err = c.objects.PutObject(ctx, &s3.PutObjectInput{Bucket: &bucket, Key: &key,
				Body:     strings.NewReader(body),
				Metadata: map[string]string{"round": fmt.Sprint(round)}})
			must(err)
			written.wrote("object/"+bucket+"/"+key, body)
			written.wrote("metadata/"+bucket+"/"+key, fmt.Sprint(round))
		}
	}
	scope := c.p.Scope
	for i := range many {
		message := long("event", i, round)
		stream := fmt.Sprintf("stream-%d", i%2)
		must(c.p.Logs.Put(scope, group, stream, []logstore.Event{{Time: int64(1000*round + i + 1), Message: message}}))
		written.wrote(fmt.Sprintf("event/%d", 1000*round+i+1), message)
		arn := scope.ARN("sns", "topic")
		_, err = c.topics.Publish(ctx, &sns.PublishInput{TopicArn: &arn, Message: aws.String(long("notification", i, round))})
		must(err)
		written.wrote(fmt.Sprintf("notification/%d-%d", round, i), long("notification", i, round))
	}
	code := zipped(t, long("code", 0, round))
	_, err = c.lambdas.UpdateFunctionCode(ctx, &lambda.UpdateFunctionCodeInput{FunctionName: aws.String("f"), ZipFile: code})
	must(err)
	_, err = c.lambdas.UpdateFunctionConfiguration(ctx, &lambda.UpdateFunctionConfigurationInput{FunctionName: aws.String("f"),
		Description: aws.String(fmt.Sprint("round ", round))})
	must(err)
	written.wrote("function", fmt.Sprint("round ", round))
	written.wrote("package", string(code))
	written.wrote("code", long("code", 0, round))
}

// create creates what the content is in.
func (c *clients) create(ctx context.Context, t *testing.T) {
	t.Helper()
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(c.states.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{Name: aws.String("m"), Definition: aws.String(machine), RoleArn: aws.String(role)}))
	must(c.tables.CreateTable(ctx, &dynamodb.CreateTableInput{TableName: aws.String("table"), BillingMode: ddb.BillingModePayPerRequest,
		AttributeDefinitions: []ddb.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: ddb.ScalarAttributeTypeS}},
		KeySchema:            []ddb.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: ddb.KeyTypeHash}}}))
	must(c.queues.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("q")}))
	must(c.topics.CreateTopic(ctx, &sns.CreateTopicInput{Name: aws.String("topic")}))
	for _, bucket := range []string{"plain", "versioned"} {
		must(c.objects.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &bucket}))
	}
	must(c.objects.PutBucketVersioning(ctx, &s3.PutBucketVersioningInput{Bucket: aws.String("versioned"),
		VersioningConfiguration: &s3types.VersioningConfiguration{Status: s3types.BucketVersioningStatusEnabled}}))
	must(nil, c.p.Logs.CreateGroup(c.p.Scope, logstore.Group{Name: group}))
	must(c.lambdas.CreateFunction(ctx, &lambda.CreateFunctionInput{FunctionName: aws.String("f"), Role: aws.String(role),
		Runtime: lambdatypes.RuntimeProvidedal2023, Handler: aws.String("bootstrap"), Code: &lambdatypes.FunctionCode{ZipFile: zipped(t, "first")}}))
}

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create("bootstrap")
	if err == nil {
		_, err = io.WriteString(f, "#!/bin/sh\n# "+text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// read reads all content. A name that is missing or cannot be read has no value.
func (c *clients) read(ctx context.Context, written content) map[string]string {
	found := map[string]string{}
	set := func(name string, value *string, err error) {
		if err == nil && value != nil {
			found[name] = *value
		}
	}
	for name := range written {
		kind, rest, _ := strings.Cut(strings.TrimPrefix(name, "/"), "/")
		switch kind {
		case "execution":
			out, err := c.output(ctx, "e-"+rest)
			set(name, &out, err)
		case "item":
			out, err := c.tables.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("table"), ConsistentRead: aws.Bool(true),
				Key: map[string]ddb.AttributeValue{"id": &ddb.AttributeValueMemberS{Value: name}}})
			if err == nil {
				if v, ok := out.Item["v"].(*ddb.AttributeValueMemberS); ok {
					set(name, &v.Value, nil)
				}
			}
		case "parameter":
			out, err := c.settings.GetParameter(ctx, &ssm.GetParameterInput{Name: &name})
			if err == nil {
				set(name, out.Parameter.Value, nil)
			}
		case "secret":
			out, err := c.secrets.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &name})
			if err == nil {
				set(name, out.SecretString, nil)
			}
		case "object":
			bucket, key, _ := strings.Cut(rest, "/")
			out, err := c.objects.GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: &key})
			if err == nil {
				body, err := io.ReadAll(out.Body)
				_ = out.Body.Close()
				text := string(body)
				set(name, &text, err)
				if round, there := out.Metadata["round"]; there {
					found["metadata/"+rest] = round
				}
			}
		}
	}
	c.readMessages(ctx, found)
	c.readFiles(ctx, found)
	return found
}

func (c *clients) readMessages(ctx context.Context, found map[string]string) {
	queue, err := c.queues.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String("q")})
	if err != nil {
		return
	}
	for {
		out, err := c.queues.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: queue.QueueUrl,
			MaxNumberOfMessages: 10, VisibilityTimeout: 3600})
		if err != nil || len(out.Messages) == 0 {
			return
		}
		for _, m := range out.Messages {
			var i, round int
			if _, err := fmt.Sscanf(*m.Body, "message %d in round %d;", &i, &round); err != nil {
				found["a message that nobody sent"] = *m.Body
			}
			found[fmt.Sprintf("message/%d-%d", round, i)] = *m.Body
		}
	}
}

// readFiles reads logs, notifications and the function.
func (c *clients) readFiles(ctx context.Context, found map[string]string) {
	events, err := c.p.Logs.Read(c.p.Scope, group, func(string) bool { return true }, 0, math.MaxInt64)
	if err == nil {
		for _, e := range events {
			found[fmt.Sprintf("event/%d", e.Time)] = e.Message
		}
	}
	text, err := os.ReadFile(filepath.Join(c.p.Dir, "notifications.jsonl"))
	if err == nil {
		for line := range strings.SplitSeq(string(text), "\n") {
			var n struct{ Message string }
			var i, round int
			if json.Unmarshal([]byte(line), &n) == nil {
				if _, err := fmt.Sscanf(n.Message, "notification %d in round %d;", &i, &round); err == nil {
					found[fmt.Sprintf("notification/%d-%d", round, i)] = n.Message
				}
			}
		}
	}
	f, err := c.lambdas.GetFunction(ctx, &lambda.GetFunctionInput{FunctionName: aws.String("f")})
	if err != nil {
		return
	}
	found["function"] = *f.Configuration.Description
	if response, err := http.Get(*f.Code.Location); err == nil {
		code, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err == nil && response.StatusCode == http.StatusOK {
			found["package"] = string(code)
		}
	}
	codes, err := filepath.Glob(filepath.Join(c.p.Dir, "lambda", "000000000000", "us-east-1", "f", "code", "*", "bootstrap"))
	if err == nil && len(codes) == 1 {
		if text, err := os.ReadFile(codes[0]); err == nil {
			found["code"] = strings.TrimPrefix(string(text), "#!/bin/sh\n# ")
		}
	}
}

// run runs an execution to its end.
func (c *clients) run(ctx context.Context, name, input string) error {
	arn := c.p.Scope.ARN("states", "stateMachine:m")
	x, err := c.states.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: &arn, Name: &name, Input: &input})
	if err != nil {
		return err
	}
	e, err := c.p.Engine()
	if err != nil {
		return err
	}
	return e.Await(ctx, *x.ExecutionArn)
}

// output returns the output of an execution.
func (c *clients) output(ctx context.Context, name string) (string, error) {
	arn := c.p.Scope.ARN("states", "execution:m:"+name)
	x, err := c.states.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: &arn})
	if err != nil {
		return "", err
	}
	if string(x.Status) != string(history.Succeeded) {
		return "", fmt.Errorf("it is %s", x.Status)
	}
	if _, err := c.states.GetExecutionHistory(ctx, &sfn.GetExecutionHistoryInput{ExecutionArn: &arn}); err != nil {
		return "", err
	}
	return *x.Output, nil
}
