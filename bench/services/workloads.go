package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"

	sdkaws "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	eventtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// apis holds the SDK's clients of the server.
type apis struct {
	host   string
	sqs    *sqs.Client
	dynamo *dynamodb.Client
	s3     *s3.Client
	sns    *sns.Client
	events *eventbridge.Client
	made   int // number of queues, tables and topics created
}

func newAPIs(address string, clients int) *apis {
	keys := credentials.NewStaticCredentialsProvider("000000000000", "secret", "")
	over := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	return &apis{
		host: strings.TrimPrefix(address, "http://"),
		sqs:  sqs.New(sqs.Options{BaseEndpoint: &address, Region: "us-east-1", Credentials: keys, HTTPClient: over}),
		dynamo: dynamodb.New(dynamodb.Options{BaseEndpoint: &address, Region: "us-east-1", Credentials: keys,
			HTTPClient: over}),
		s3:  s3.New(s3.Options{BaseEndpoint: &address, Region: "us-east-1", Credentials: keys, HTTPClient: over, UsePathStyle: true}),
		sns: sns.New(sns.Options{BaseEndpoint: &address, Region: "us-east-1", Credentials: keys, HTTPClient: over}),
		events: eventbridge.New(eventbridge.Options{BaseEndpoint: &address, Region: "us-east-1", Credentials: keys,
			HTTPClient: over}),
	}
}

// name returns an unused name.
func (a *apis) name() string {
	a.made++
	return fmt.Sprint("bench", a.made)
}

// queue creates a queue and returns its URL and ARN.
func (a *apis) queue(ctx context.Context) (address, arn string, err error) {
	name := a.name()
	out, err := a.sqs.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name})
	if err != nil {
		return "", "", err
	}
	return *out.QueueUrl, "arn:aws:sqs:us-east-1:000000000000:" + name, nil
}

// text is the content of messages and items.
var text = strings.Repeat("x", 200)

var workloads = []workload{
	{"SQS send, receive, delete", 3, messages, rawMessages},
	{"DynamoDB PutItem", 1, items, rawItems},
	{"S3 PutObject of 1 kB", 1, objects, rawObjects},
	{"S3 GetObject of 1 kB", 1, reading, rawReading},
	{"SNS Publish to a queue, signed envelope", 1, fanOut(1, false), rawFanOut(1, false)},
	{"SNS Publish to 10 queues, raw delivery", 1, fanOut(10, true), rawFanOut(10, true)},
	{"SNS Publish to 10 queues, signed envelopes", 1, fanOut(10, false), rawFanOut(10, false)},
	{"PutEvents → rule → SQS", 1, ruled, rawRuled},
	{"StartExecution of one Pass", 1, nil, rawStarts("StartExecution", "STANDARD")},
	{"StartSyncExecution of one Pass", 1, nil, rawStarts("StartSyncExecution", "EXPRESS")},
}

func messages(ctx context.Context, a *apis) (func(context.Context) error, error) {
	queue, _, err := a.queue(ctx)
	return func(ctx context.Context) error {
		if _, err := a.sqs.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &queue, MessageBody: &text}); err != nil {
			return err
		}
		out, err := a.sqs.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &queue})
		if err != nil {
			return err
		}
		if len(out.Messages) != 1 {
			return errors.New("no message came")
		}
		_, err = a.sqs.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &queue,
			ReceiptHandle: out.Messages[0].ReceiptHandle})
		return err
	}, err
}

func rawMessages(ctx context.Context, a *apis) (func(*connection) error, error) {
	queue, _, err := a.queue(ctx)
	target := func(operation, body string) []byte { return a.json("sqs", "1.0", "AmazonSQS."+operation, body) }
	send := target("SendMessage", fmt.Sprintf(`{"MessageBody":%q,"QueueUrl":%q}`, text, queue))
	receive := target("ReceiveMessage", fmt.Sprintf(`{"QueueUrl":%q}`, queue))
	return func(c *connection) error {
		if _, err := c.ask(send); err != nil {
			return err
		}
		got, err := c.ask(receive)
		if err != nil {
			return err
		}
		_, rest, ok := bytes.Cut(got, []byte(`"ReceiptHandle":"`))
		if !ok {
			return fmt.Errorf("no message came: %s", got)
		}
		handle, _, _ := bytes.Cut(rest, []byte(`"`))
		_, err = c.ask(target("DeleteMessage", fmt.Sprintf(`{"QueueUrl":%q,"ReceiptHandle":"%s"}`, queue, handle)))
		return err
	}, err
}

// table creates a table with a partition and a sort key.
func (a *apis) table(ctx context.Context) (string, error) {
	name := a.name()
	in := &dynamodb.CreateTableInput{TableName: &name, BillingMode: dynamotypes.BillingModePayPerRequest}
	for _, key := range []struct {
		name string
		kind dynamotypes.ScalarAttributeType
		role dynamotypes.KeyType
	}{
		{"pk", dynamotypes.ScalarAttributeTypeS, dynamotypes.KeyTypeHash},
		{"sk", dynamotypes.ScalarAttributeTypeN, dynamotypes.KeyTypeRange},
	} {
		in.AttributeDefinitions = append(in.AttributeDefinitions, dynamotypes.AttributeDefinition{
			AttributeName: &key.name, AttributeType: key.kind})
		in.KeySchema = append(in.KeySchema, dynamotypes.KeySchemaElement{AttributeName: &key.name, KeyType: key.role})
	}
	_, err := a.dynamo.CreateTable(ctx, in)
	return name, err
}

func items(ctx context.Context, a *apis) (func(context.Context) error, error) {
	table, err := a.table(ctx)
	var next atomic.Int64
	return func(ctx context.Context) error {
		i := next.Add(1)
		_, err := a.dynamo.PutItem(
			ctx,
			&dynamodb.PutItemInput{TableName: &table, Item: map[string]dynamotypes.AttributeValue{
				"pk":   &dynamotypes.AttributeValueMemberS{Value: fmt.Sprint("p", i%1000)},
				"sk":   &dynamotypes.AttributeValueMemberN{Value: strconv.FormatInt(i, 10)},
				"body": &dynamotypes.AttributeValueMemberS{Value: text},
			}},
		)
		return err
	}, err
}

func rawItems(ctx context.Context, a *apis) (func(*connection) error, error) {
	table, err := a.table(ctx)
	var next atomic.Int64
	return func(c *connection) error {
		i := next.Add(1)
		_, err := c.ask(a.json("dynamodb", "1.0", "DynamoDB_20120810.PutItem", fmt.Sprintf(
			`{"Item":{"body":{"S":%q},"pk":{"S":"p%d"},"sk":{"N":"%d"}},"TableName":%q}`, text, i%1000, i, table)))
		return err
	}, err
}

// bucket creates a bucket.
func (a *apis) bucket(ctx context.Context) (string, error) {
	name := a.name()
	_, err := a.s3.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &name})
	return name, err
}

// kilobyte is the content of objects.
var kilobyte = strings.Repeat("x", 1000)

func objects(ctx context.Context, a *apis) (func(context.Context) error, error) {
	bucket, err := a.bucket(ctx)
	var next atomic.Int64
	return func(ctx context.Context) error {
		key := fmt.Sprint("key-", next.Add(1))
		_, err := a.s3.PutObject(ctx, &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader(kilobyte)})
		return err
	}, err
}

func rawObjects(ctx context.Context, a *apis) (func(*connection) error, error) {
	bucket, err := a.bucket(ctx)
	var next atomic.Int64
	return func(c *connection) error {
		_, err := c.ask(a.object("PUT", fmt.Sprintf("/%s/key-%d", bucket, next.Add(1)), kilobyte))
		return err
	}, err
}

// object1 creates a bucket with an object.
func (a *apis) object1(ctx context.Context) (bucket, key string, err error) {
	bucket, err = a.bucket(ctx)
	if err != nil {
		return "", "", err
	}
	key = "key"
	_, err = a.s3.PutObject(ctx, &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader(kilobyte)})
	return bucket, key, err
}

func reading(ctx context.Context, a *apis) (func(context.Context) error, error) {
	bucket, key, err := a.object1(ctx)
	return func(ctx context.Context) error {
		out, err := a.s3.GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: &key})
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, out.Body)
		return errors.Join(err, out.Body.Close())
	}, err
}

func rawReading(ctx context.Context, a *apis) (func(*connection) error, error) {
	bucket, key, err := a.object1(ctx)
	get := a.object("GET", "/"+bucket+"/"+key, "")
	return func(c *connection) error {
		_, err := c.ask(get)
		return err
	}, err
}

// topic creates a topic with some queues.
func (a *apis) topic(ctx context.Context, queues int, raw bool) (string, error) {
	name := a.name()
	out, err := a.sns.CreateTopic(ctx, &sns.CreateTopicInput{Name: &name})
	if err != nil {
		return "", err
	}
	for range queues {
		_, queue, err := a.queue(ctx)
		if err != nil {
			return "", err
		}
		if _, err := a.sns.Subscribe(ctx, &sns.SubscribeInput{TopicArn: out.TopicArn, Protocol: sdkaws.String("sqs"),
			Endpoint: &queue, Attributes: map[string]string{"RawMessageDelivery": strconv.FormatBool(raw)}}); err != nil {
			return "", err
		}
	}
	return *out.TopicArn, nil
}

func fanOut(queues int, raw bool) func(context.Context, *apis) (func(context.Context) error, error) {
	return func(ctx context.Context, a *apis) (func(context.Context) error, error) {
		topic, err := a.topic(ctx, queues, raw)
		return func(ctx context.Context) error {
			_, err := a.sns.Publish(ctx, &sns.PublishInput{TopicArn: &topic, Message: &text})
			return err
		}, err
	}
}

func rawFanOut(queues int, raw bool) func(context.Context, *apis) (func(*connection) error, error) {
	return func(ctx context.Context, a *apis) (func(*connection) error, error) {
		topic, err := a.topic(ctx, queues, raw)
		publish := a.request("sns", "application/x-www-form-urlencoded", "", url.Values{"Action": {"Publish"},
			"Version": {"2010-03-31"}, "TopicArn": {topic}, "Message": {text}}.Encode())
		return func(c *connection) error {
			_, err := c.ask(publish)
			return err
		}, err
	}
}

// rule creates ten rules, one of which matches the source f, with a queue as target.
func (a *apis) rule(ctx context.Context) error {
	for _, source := range strings.Split("abcdefghij", "") {
		_, queue, err := a.queue(ctx)
		if err != nil {
			return err
		}
		if _, err := a.events.PutRule(ctx, &eventbridge.PutRuleInput{Name: &source, EventPattern: sdkaws.String(
			`{"source":["` + source + `"],"detail":{"n":[{"numeric":[">=",0]}]}}`)}); err != nil {
			return err
		}
		if _, err := a.events.PutTargets(ctx, &eventbridge.PutTargetsInput{Rule: &source,
			Targets: []eventtypes.Target{{Id: sdkaws.String("q"), Arn: &queue}}}); err != nil {
			return err
		}
	}
	return nil
}

var detail = `{"n":1,"text":"` + text + `"}`

func ruled(ctx context.Context, a *apis) (func(context.Context) error, error) {
	err := a.rule(ctx)
	return func(ctx context.Context) error {
		out, err := a.events.PutEvents(ctx, &eventbridge.PutEventsInput{Entries: []eventtypes.PutEventsRequestEntry{{
			Source: sdkaws.String("f"), DetailType: sdkaws.String("made"), Detail: &detail}}})
		if err == nil && out.FailedEntryCount > 0 {
			err = errors.New(*out.Entries[0].ErrorMessage)
		}
		return err
	}, err
}

func rawRuled(ctx context.Context, a *apis) (func(*connection) error, error) {
	err := a.rule(ctx)
	put := a.json("events", "1.1", "AWSEvents.PutEvents", fmt.Sprintf(
		`{"Entries":[{"Detail":%q,"DetailType":"made","Source":"f"}]}`, detail))
	return func(c *connection) error {
		_, err := c.ask(put)
		return err
	}, err
}

// rawStarts returns a workload that starts executions of a state machine of one Pass state.
func rawStarts(operation, kind string) func(context.Context, *apis) (func(*connection) error, error) {
	return func(ctx context.Context, a *apis) (func(*connection) error, error) {
		c, err := dial(ctx, a.host)
		if err != nil {
			return nil, err
		}
		defer c.Close()
		name := a.name()
		const arn = "arn:aws:states:us-east-1:000000000000:stateMachine:"
		request := func(operation, body string) []byte {
			return a.json("states", "1.0", "AWSStepFunctions."+operation, body)
		}
		_, err = c.ask(request("CreateStateMachine", fmt.Sprintf(
			`{"name":%q,"type":%q,"roleArn":"arn:aws:iam::000000000000:role/r","definition":%q}`, name, kind, onePass)))
		start := request(operation, fmt.Sprintf(`{"stateMachineArn":%q,"input":"{\"n\":1}"}`, arn+name))
		return func(c *connection) error {
			_, err := c.ask(start)
			return err
		}, err
	}
}

const onePass = `{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}` //nolint:gosec // a definition, not a password
