package local_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/engine/journal/diskspace"
	"stepback/local"
	"stepback/local/services/delivery"
	"stepback/local/services/lambda/functions"
	"stepback/tasks/lambda/invocation"
)

// diskImage is the disk as a crash leaves it, the time of the crash, and whether the request was answered by then.
type diskImage struct {
	disk     *vfs.MemFS
	at       time.Time
	answered bool
}

// crashingDisk is the disk of a platform's databases. From begin on it keeps an image of itself at every sync of any
// of them: what a process leaves that is killed at that instant, with none, a half or all of the unsynced data.
type crashingDisk struct {
	disk   *vfs.MemFS
	random *rand.Rand

	mu       sync.Mutex
	clock    *clock.Clock // nil before begin
	answered bool
	images   []diskImage
}

// MaybeError implements errorfs.Injector; it injects nothing and only observes.
func (c *crashingDisk) MaybeError(op errorfs.Op) error {
	switch op.Kind {
	case errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo:
		c.keep()
	default:
	}
	return nil
}

// String implements errorfs.Injector.
func (*crashingDisk) String() string { return "crashes" }

func (c *crashingDisk) keep() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.clock == nil {
		return
	}
	unsynced := []int{0, 0, 50, 100}[c.random.IntN(4)]
	c.images = append(c.images, diskImage{c.disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: unsynced,
		RNG: c.random}), c.clock.Now(), c.answered})
}

func (c *crashingDisk) begin(clock *clock.Clock) {
	c.mu.Lock()
	c.clock = clock
	c.mu.Unlock()
}

func (c *crashingDisk) answer() {
	c.mu.Lock()
	c.answered = true
	c.mu.Unlock()
}

// end returns the images, at most as many as a test can open.
func (c *crashingDisk) end() []diskImage {
	c.keep()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock = nil
	const most = 16
	for len(c.images) > most {
		i := c.random.IntN(len(c.images))
		c.images = slices.Delete(c.images, i, i+1)
	}
	return c.images
}

// crashed is a platform in a test of crashes.
type crashed struct {
	stacks
	p *local.Platform
}

// do calls an operation that must succeed.
func (c crashed) do(service, operation string, in map[string]any) map[string]any {
	c.t.Helper()
	out, err := c.try(service, operation, in)
	if err != nil {
		c.t.Fatal(service, operation, err)
	}
	return out
}

func (c crashed) queue(name string, attributes map[string]any) string {
	c.t.Helper()
	url, _ := c.do("sqs", "CreateQueue", map[string]any{"QueueName": name, "Attributes": attributes})["QueueUrl"].(string)
	return url
}

func crashARN(service, resource string) string {
	return "arn:aws:" + service + ":us-east-1:000000000000:" + resource
}

// received returns the bodies of the messages of a queue, which it deletes, in order.
func (c crashed) received(name string) (bodies []string) {
	c.t.Helper()
	url, _ := c.do("sqs", "GetQueueUrl", map[string]any{"QueueName": name})["QueueUrl"].(string)
	for wait := 20; ; wait = 0 { // in virtual time
		out := c.do("sqs", "ReceiveMessage", map[string]any{"QueueUrl": url, "MaxNumberOfMessages": 10,
			"WaitTimeSeconds": wait})
		list, _ := out["Messages"].([]any)
		if len(list) == 0 {
			return bodies
		}
		for _, m := range list {
			message, _ := m.(map[string]any)
			body, _ := message["Body"].(string)
			bodies = append(bodies, body)
			c.do("sqs", "DeleteMessage", map[string]any{"QueueUrl": url, "ReceiptHandle": message["ReceiptHandle"]})
		}
	}
}

// once returns an error unless a queue has exactly one message, or at least one if more are allowed.
func (c crashed) once(name string, more bool) error {
	c.t.Helper()
	if got := c.received(name); len(got) == 0 || len(got) > 1 && !more {
		return fmt.Errorf("the queue %s has %q", name, got)
	}
	return nil
}

// sleep lets virtual time pass.
func (c crashed) sleep(d time.Duration) error {
	c.p.Clock.Hold()
	defer c.p.Clock.Release()
	return c.p.Clock.Sleep(c.t.Context(), d)
}

// killedScenario describes requests of a client, and checks their effect after a crash in the middle of them.
type killedScenario struct {
	prepare func(c crashed)
	act     func(c crashed) error // repeated by the client if it had no answer
	check   func(c crashed) error
}

var crashStart = time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)

// killedScenarios has a scenario for each pair of stores of which one has a key, a position or a state, and the other
// one the effect.
var killedScenarios = map[string]killedScenario{
	"a FIFO topic to a FIFO queue": {
		func(c crashed) {
			c.queue("out.fifo", map[string]any{"FifoQueue": "true"})
			c.do("sns", "CreateTopic", map[string]any{"Name": "in.fifo", "Attributes": map[string]any{"FifoTopic": "true"}})
			c.do("sns", "Subscribe", map[string]any{"TopicArn": crashARN("sns", "in.fifo"), "Protocol": "sqs",
				"Endpoint": crashARN("sqs", "out.fifo"), "Attributes": map[string]any{"RawMessageDelivery": "true"}})
		},
		func(c crashed) error {
			_, err := c.try("sns", "Publish", map[string]any{"TopicArn": crashARN("sns", "in.fifo"), "Message": "m",
				"MessageGroupId": "g", "MessageDeduplicationId": "d"})
			return err
		},
		func(c crashed) error { return c.once("out.fifo", false) },
	},
	"a topic to a queue and a dead-letter queue": {
		func(c crashed) {
			c.queue("out", nil)
			c.queue("dead", nil)
			gone := c.queue("gone", nil)
			c.do("sns", "CreateTopic", map[string]any{"Name": "in"})
			for _, queue := range []string{"out", "gone"} {
				c.do("sns", "Subscribe", map[string]any{"TopicArn": crashARN("sns", "in"), "Protocol": "sqs",
					"Endpoint": crashARN("sqs", queue), "Attributes": map[string]any{
						"RedrivePolicy": `{"deadLetterTargetArn":"` + crashARN("sqs", "dead") + `"}`}})
			}
			c.do("sqs", "DeleteQueue", map[string]any{"QueueUrl": gone})
		},
		func(c crashed) error {
			_, err := c.try("sns", "Publish", map[string]any{"TopicArn": crashARN("sns", "in"), "Message": "m"})
			return err
		},
		func(c crashed) error { return errors.Join(c.once("out", true), c.once("dead", true)) },
	},
	"an archived event to a queue": {
		func(c crashed) { c.rule("in", map[string]any{"EventPattern": `{"source":["s"]}`}, true) },
		func(c crashed) error {
			_, err := c.try("eventbridge", "PutEvents", map[string]any{"Entries": []any{map[string]any{"Source": "s",
				"DetailType": "d", "Detail": "{}"}}})
			return err
		},
		func(c crashed) error { return c.once("out", true) },
	},
	"a scheduled rule to a queue": {
		func(c crashed) { c.rule("in", map[string]any{"ScheduleExpression": "rate(1 hour)"}, false) },
		func(c crashed) error { return c.sleep(time.Hour + time.Second - c.p.Clock.Now().Sub(crashStart)) },
		func(c crashed) error { return c.once("out", true) },
	},
	"a replay to a queue": {
		func(c crashed) {
			c.rule("in", map[string]any{"EventPattern": `{"source":["s"]}`}, true)
			c.do("eventbridge", "PutEvents", map[string]any{"Entries": []any{map[string]any{"Source": "s",
				"DetailType": "d", "Detail": "{}"}}})
			if got := c.received("out"); len(got) != 1 {
				c.t.Fatal(got)
			}
		},
		func(c crashed) error {
			if _, err := c.try("eventbridge", "DescribeReplay", map[string]any{"ReplayName": "again"}); err != nil {
				if _, err := c.try("eventbridge", "StartReplay", map[string]any{"ReplayName": "again",
					"EventSourceArn": crashARN("events", "archive/all"), "EventStartTime": float64(crashStart.Unix() - 60),
					"EventEndTime": float64(crashStart.Unix() + 3600),
					"Destination":  map[string]any{"Arn": crashARN("events", "event-bus/default")}}); err != nil {
					return err
				}
			}
			for {
				out, err := c.try("eventbridge", "DescribeReplay", map[string]any{"ReplayName": "again"})
				if err != nil || out["State"] == "COMPLETED" {
					return err
				}
			}
		},
		func(c crashed) error { return c.once("out", true) },
	},
	"a schedule to a queue": {
		func(c crashed) {
			c.queue("out", nil)
			c.do("scheduler", "CreateSchedule", map[string]any{"Name": "in",
				"ScheduleExpression": "at(2026-11-22T01:00:00)", "FlexibleTimeWindow": map[string]any{"Mode": "OFF"},
				"ActionAfterCompletion": "DELETE", "Target": map[string]any{"Arn": crashARN("sqs", "out"), "Input": "m",
					"RoleArn": "arn:aws:iam::000000000000:role/r"}})
		},
		func(c crashed) error { return c.sleep(time.Hour + time.Second - c.p.Clock.Now().Sub(crashStart)) },
		func(c crashed) error { return c.once("out", true) },
	},
	"an asynchronous invocation to its destination and dead-letter queue": {
		func(c crashed) {
			c.queue("out", nil)
			c.queue("dead", nil)
			c.do("lambda", "UpdateFunctionConfiguration", map[string]any{"FunctionName": "fails",
				"DeadLetterConfig": map[string]any{"TargetArn": crashARN("sqs", "dead")}})
			c.do("lambda", "PutFunctionEventInvokeConfig", map[string]any{"FunctionName": "fails",
				"MaximumRetryAttempts": 0, "DestinationConfig": map[string]any{
					"OnFailure": map[string]any{"Destination": crashARN("sqs", "out")}}})
		},
		func(c crashed) error {
			_, err := c.p.Functions.Invoke(c.t.Context(), c.p.Scope, &invocation.Request{FunctionName: "fails",
				Payload: []byte(`{}`), Type: invocation.Event})
			return err
		},
		func(c crashed) error { return errors.Join(c.once("out", true), c.once("dead", true)) },
	},
	"a stream to a function that fails to a queue": {
		func(c crashed) {
			c.queue("out", nil)
			c.table(map[string]any{"StreamEnabled": true, "StreamViewType": "NEW_IMAGE"})
			out := c.do("dynamodb", "DescribeTable", map[string]any{"TableName": "items"})
			of, _ := out["Table"].(map[string]any)
			c.do("lambda", "CreateEventSourceMapping", map[string]any{"FunctionName": "fails",
				"EventSourceArn": of["LatestStreamArn"], "StartingPosition": "LATEST", "MaximumRetryAttempts": 0,
				"DestinationConfig": map[string]any{"OnFailure": map[string]any{"Destination": crashARN("sqs", "out")}}})
		},
		func(c crashed) error {
			_, err := c.try("dynamodb", "PutItem", map[string]any{"TableName": "items",
				"Item": map[string]any{"k": map[string]any{"S": "a"}, "n": map[string]any{"N": fmt.Sprint(rand.Int())}}})
			return err
		},
		func(c crashed) error { return c.once("out", true) },
	},
	"a queue's mapping to a function": {
		func(c crashed) {
			c.queue("out", nil)
			// A message that the killed process had received is hidden for this time; out is polled for longer.
			c.queue("in", map[string]any{"VisibilityTimeout": "10"})
			c.do("lambda", "CreateEventSourceMapping", map[string]any{"FunctionName": "sends",
				"EventSourceArn": crashARN("sqs", "in")})
		},
		func(c crashed) error {
			_, err := c.try("sqs", "SendMessage", map[string]any{"QueueUrl": c.p.Endpoint + "/000000000000/in",
				"MessageBody": "m"})
			return err
		},
		func(c crashed) error { return c.once("out", true) },
	},
	"a redrive to the dead-letter queue and back": {
		func(c crashed) {
			c.queue("dead", nil)
			c.queue("out", map[string]any{"VisibilityTimeout": "0", "RedrivePolicy": `{"deadLetterTargetArn":"` +
				crashARN("sqs", "dead") + `","maxReceiveCount":"1"}`})
			c.do("sqs", "SendMessage", map[string]any{"QueueUrl": c.p.Endpoint + "/000000000000/out", "MessageBody": "m"})
		},
		func(c crashed) error {
			for range 2 {
				if _, err := c.try("sqs", "ReceiveMessage", map[string]any{
					"QueueUrl": c.p.Endpoint + "/000000000000/out"}); err != nil {
					return err
				}
			}
			_, err := c.try("sqs", "StartMessageMoveTask", map[string]any{"SourceArn": crashARN("sqs", "dead")})
			if err != nil && strings.Contains(err.Error(), "already a task running") {
				return nil
			}
			return err
		},
		func(c crashed) error {
			if got := append(c.received("dead"), c.received("out")...); len(got) != 1 {
				return fmt.Errorf("the queues have %q", got)
			}
			return nil
		},
	},
	"an execution that sends a message": {
		func(c crashed) {
			c.queue("out", nil)
			c.do("sfn", "CreateStateMachine", map[string]any{"name": "in", "roleArn": role, "definition": `{"StartAt":"S",
				"States":{"S":{"Type":"Task","Resource":"arn:aws:states:::sqs:sendMessage","End":true,"Parameters":{
				"QueueUrl":"` + c.p.Endpoint + `/000000000000/out","MessageBody":"m"}}}}`})
		},
		func(c crashed) error {
			_, err := c.try("sfn", "StartExecution", map[string]any{"name": "e", "input": "{}",
				"stateMachineArn": crashARN("states", "stateMachine:in")})
			if err != nil && strings.Contains(err.Error(), "ExecutionAlreadyExists") {
				return nil
			}
			return err
		},
		func(c crashed) error { return c.once("out", true) },
	},
	"a transaction with a token": {
		func(c crashed) { c.table(nil) },
		func(c crashed) error {
			_, err := c.try("dynamodb", "TransactWriteItems", map[string]any{"ClientRequestToken": "t",
				"TransactItems": []any{map[string]any{"Update": map[string]any{"TableName": "items",
					"Key": map[string]any{"k": map[string]any{"S": "a"}}, "UpdateExpression": "ADD n :one",
					"ExpressionAttributeValues": map[string]any{":one": map[string]any{"N": "1"}}}}}})
			return err
		},
		func(c crashed) error {
			out := c.do("dynamodb", "GetItem", map[string]any{"TableName": "items",
				"Key": map[string]any{"k": map[string]any{"S": "a"}}})
			found, _ := out["Item"].(map[string]any)
			if n, _ := found["n"].(map[string]any); n["N"] != "1" {
				return fmt.Errorf("the counter is %v", found)
			}
			return nil
		},
	},
	"a rotation of a secret to its function": {
		func(c crashed) {
			c.queue("out", nil)
			c.do("secretsmanager", "CreateSecret", map[string]any{"Name": "s", "SecretString": "v"})
		},
		func(c crashed) error {
			_, err := c.try("secretsmanager", "RotateSecret", map[string]any{"SecretId": "s",
				"ClientRequestToken": strings.Repeat("t", 32), "RotationLambdaARN": crashARN("lambda", "function:sends")})
			return err
		},
		func(c crashed) error { return c.once("out", true) },
	},
}

// table creates the table items.
func (c crashed) table(stream map[string]any) {
	c.t.Helper()
	in := map[string]any{"TableName": "items", "BillingMode": "PAY_PER_REQUEST",
		"KeySchema":            []any{map[string]any{"AttributeName": "k", "KeyType": "HASH"}},
		"AttributeDefinitions": []any{map[string]any{"AttributeName": "k", "AttributeType": "S"}}}
	if stream != nil {
		in["StreamSpecification"] = stream
	}
	c.do("dynamodb", "CreateTable", in)
}

// rule creates a rule with the queue out as its target, and, if archived is true, the archive all of its bus.
func (c crashed) rule(name string, in map[string]any, archived bool) {
	c.t.Helper()
	c.queue("out", nil)
	in = maps.Clone(in)
	in["Name"] = name
	c.do("eventbridge", "PutRule", in)
	c.do("eventbridge", "PutTargets", map[string]any{"Rule": name, "Targets": []any{map[string]any{"Id": "q",
		"Arn": crashARN("sqs", "out")}}})
	if archived {
		c.do("eventbridge", "CreateArchive", map[string]any{"ArchiveName": "all",
			"EventSourceArn": crashARN("events", "event-bus/default")})
	}
}

// TestKilledBetweenStores kills a platform at every sync of every database while a client's request passes from one
// store to another one. The client, if it had no answer, repeats the request at the next process. Nothing that was
// answered is lost, and what must not happen twice does not.
func TestKilledBetweenStores(t *testing.T) {
	t.Parallel()
	for name, s := range killedScenarios {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, seed := t.TempDir(), uint64(len(name))
			d := &crashingDisk{disk: vfs.NewCrashableMem(), random: rand.New(rand.NewPCG(seed, 1))}
			c, end := openCrashed(t, dir, errorfs.Wrap(d.disk, d), crashStart)
			s.prepare(c)
			d.begin(c.p.Clock)
			if err := s.act(c); err != nil {
				t.Fatal(err)
			}
			d.answer()
			if err := c.sleep(10 * time.Second); err != nil { // what the request started ends
				t.Fatal(err)
			}
			images := d.end()
			if err := s.check(c); err != nil {
				t.Fatal("without a crash: ", err)
			}
			end()
			for i, im := range images {
				c, end := openCrashed(t, dir, im.disk, im.at.Add(time.Second))
				if !im.answered {
					if err := s.act(c); err != nil {
						t.Fatal(err)
					}
				}
				if err := s.check(c); err != nil {
					t.Errorf("crash %d of %d at %s, answered %v: %v", i, len(images), im.at.Sub(crashStart), im.answered, err)
				}
				end()
			}
			t.Logf("%d crashes", len(images))
		})
	}
}

// openCrashed opens a platform whose databases are on a disk, with functions that fail and that send a message to the
// queue out.
func openCrashed(t *testing.T, dir string, disk vfs.FS, at time.Time) (c crashed, end func()) {
	t.Helper()
	var p *local.Platform
	opened := make(chan struct{}) // closed once p is set: what is resumed may call functions before
	builtIn := map[string]functions.BuiltIn{
		"fails": func(functions.Surroundings) (functions.Program, error) {
			return functions.Program{Handler: func(any) error { return errors.New("no") }}, nil
		},
		"sends": func(functions.Surroundings) (functions.Program, error) {
			return functions.Program{Handler: func(ctx context.Context, _ any) error {
				to, _ := aws.ParseARN(crashARN("sqs", "out"))
				<-opened
				return p.Queues.Deliver(ctx, to, &delivery.Message{Body: "m"})
			}}, nil
		},
	}
	var err error
	p, err = local.Open(t.Context(), local.Config{Dir: dir, Clock: clock.Virtual(at),
		Space:   diskspace.Config{FS: disk},
		BuiltIn: builtIn})
	if err != nil {
		t.Fatal(err)
	}
	close(opened)
	for name := range builtIn {
		if _, err := p.Functions.Get(p.Scope, name, ""); err == nil {
			continue
		}
		if err := p.Functions.PutLocal(t.Context(), p.Scope, &functions.LocalInput{Name: name, BuiltIn: name,
			Role: role}); err != nil {
			t.Fatal(err)
		}
	}
	return crashed{stacksOf(t, p), p}, func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}
