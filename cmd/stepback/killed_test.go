package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cloudwatchtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	eventbridgetypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	schedulertypes "github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"stepback/cmd/stepback/exit"
)

// beginKilled begins a server for a kill test. kills is STEPBACK_KILLS, or few without it. STEPBACK_SEED and stream
// determine the server's random numbers.
func beginKilled(t *testing.T, few int, stream uint64) (server *tortured, kills int) {
	t.Helper()
	kills = few
	if n, err := strconv.Atoi(os.Getenv("STEPBACK_KILLS")); err == nil {
		kills = n
	}
	seed, _ := strconv.ParseUint(os.Getenv("STEPBACK_SEED"), 10, 64)
	t.Logf("STEPBACK_SEED=%d", seed)
	server = &tortured{t: t, data: t.TempDir(), random: rand.New(rand.NewPCG(seed, stream)),
		client: &http.Client{Timeout: 20 * time.Second}}
	server.begin()
	return server, kills
}

// TestKilledServices kills a server in a separate process with SIGKILL at random instants while SDK clients load its
// services, and restarts it on the same directory. Nothing that was acknowledged is lost, a FIFO queue keeps its
// order, and everything that was due arrives, including an alarm's message. STEPBACK_KILLS is the number of kills
// (make kill-services); STEPBACK_SEED chooses the instants. Without them the test is short and leaves out alarms,
// whose periods take a minute.
func TestKilledServices(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it works in real time")
	}
	server, kills := beginKilled(t, 3, 1)
	k := newKilled(t, server)
	k.alarms = kills > 3
	k.prepare()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var loads, readers sync.WaitGroup
	k.load(ctx, &loads)
	readCtx, stopReading := context.WithCancel(t.Context())
	defer stopReading()
	k.read(readCtx, &readers)
	for n := range kills {
		rest(time.Duration(200+server.random.IntN(1200)) * time.Millisecond)
		server.kill()
		server.begin()
		if n%20 == 19 {
			t.Logf("%d kills: %s", n+1, k.counts())
		}
	}
	rest(time.Second)
	stop()
	loads.Wait()
	k.arriveAll()
	stopReading()
	readers.Wait()
	k.checkRegisters()
	k.checkExecutions()
	k.checkLogs()
	server.kill()
	asProcess(t, "data", "check", "--data", server.data).ends(t, exit.OK, "problems: 0")
	t.Logf("%d kills, acknowledged: %s", kills, k.counts())
}

// killed records what clients know of a server that is killed: which calls it acknowledged, and what arrived.
type killed struct {
	t      *testing.T
	server *tortured
	alarms bool         // whether alarms are tested
	late   atomic.Int64 // schedules that were stored after their time

	cfg        aws.Config
	cloudwatch *cloudwatch.Client
	dynamodb   *dynamodb.Client
	events     *eventbridge.Client
	s3         *awss3.Client
	scheduler  *scheduler.Client
	secrets    *secretsmanager.Client
	sfn        *sfn.Client
	sns        *sns.Client
	sqs        *sqs.Client
	ssm        *ssm.Client
	topic      string
	alarmTopic string
	machine    string
	queues     map[string]string // URLs by name
	registers  []*register
	fifos      map[string]*fifoLoad // by queue
	mu         sync.Mutex
	acked      map[string]map[string]bool // messages by queue
	arrived    map[string]map[string]bool
	executions []string
	sending    string          // a machine that sends messages
	unread     map[string]bool // queues that nothing reads to the end
	lines      map[string]bool // acknowledged log lines
}

func newKilled(t *testing.T, server *tortured) *killed {
	t.Helper()
	k := &killed{t: t, server: server, queues: map[string]string{}, acked: map[string]map[string]bool{},
		arrived: map[string]map[string]bool{}, lines: map[string]bool{}}
	cfg := aws.Config{
		Region: "us-east-1", BaseEndpoint: aws.String("http://" + server.address),
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		// no retries: the test needs to know whether each call was answered
		Retryer:    func() aws.Retryer { return aws.NopRetryer{} },
		HTTPClient: &http.Client{Timeout: 20 * time.Second},
	}
	k.cfg = cfg
	k.cloudwatch, k.dynamodb = cloudwatch.NewFromConfig(cfg), dynamodb.NewFromConfig(cfg)
	k.events = eventbridge.NewFromConfig(cfg)
	k.s3 = awss3.NewFromConfig(cfg, func(o *awss3.Options) { o.UsePathStyle = true })
	k.scheduler, k.secrets = scheduler.NewFromConfig(cfg), secretsmanager.NewFromConfig(cfg)
	k.sfn, k.sns = sfn.NewFromConfig(cfg), sns.NewFromConfig(cfg)
	k.sqs, k.ssm = sqs.NewFromConfig(cfg), ssm.NewFromConfig(cfg)
	return k
}

const (
	killedAccount = "000000000000"
	killedSlots   = 3 // the slots of each register

	// killedPatience is the time after which a server that does not answer has hung. On a busy machine, a server that
	// is killed again and again may not answer a call for minutes.
	killedPatience = 10 * time.Minute
)

// killedQueues are the queues in which messages arrive, named for how they were sent.
var killedQueues = []string{"direct", "published", "ruled", "scheduled", "alarmed", "redriven", "undelivered", "uploaded",
	"invoked", "executed"}

func (k *killed) must(err error) {
	k.t.Helper()
	if err != nil {
		k.t.Fatal(err)
	}
}

// prepare creates the resources that the clients load.
func (k *killed) prepare() {
	k.t.Helper()
	ctx := k.t.Context()
	for _, name := range append([]string{"order.fifo", "published.fifo"}, killedQueues...) {
		attributes := map[string]string{"VisibilityTimeout": "2"}
		if strings.HasSuffix(name, ".fifo") {
			attributes["FifoQueue"] = "true"
		}
		out, err := k.sqs.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
		k.must(err)
		k.queues[name] = *out.QueueUrl
		k.acked[name], k.arrived[name] = map[string]bool{}, map[string]bool{}
	}
	k.topic, k.alarmTopic = k.subscribed("topic", "published"), k.subscribed("alarms", "alarmed")
	_, err := k.events.PutRule(ctx, &eventbridge.PutRuleInput{Name: aws.String("all"),
		EventPattern: aws.String(`{"source":["killed"]}`)})
	k.must(err)
	_, err = k.events.PutTargets(ctx, &eventbridge.PutTargetsInput{Rule: aws.String("all"),
		Targets: []eventbridgetypes.Target{{Id: aws.String("q"), Arn: aws.String(queueARN("ruled")),
			InputPath: aws.String("$.detail.id")}}})
	k.must(err)
	_, err = k.dynamodb.CreateTable(ctx, &dynamodb.CreateTableInput{TableName: aws.String("items"),
		BillingMode: dynamodbtypes.BillingModePayPerRequest,
		KeySchema: []dynamodbtypes.KeySchemaElement{{AttributeName: aws.String("k"),
			KeyType: dynamodbtypes.KeyTypeHash}},
		AttributeDefinitions: []dynamodbtypes.AttributeDefinition{{AttributeName: aws.String("k"),
			AttributeType: dynamodbtypes.ScalarAttributeTypeS}}})
	k.must(err)
	_, err = k.s3.CreateBucket(ctx, &awss3.CreateBucketInput{Bucket: aws.String("objects")})
	k.must(err)
	for slot := range killedSlots {
		_, err = k.secrets.CreateSecret(ctx, &secretsmanager.CreateSecretInput{Name: aws.String(slotName(slot)),
			SecretString: aws.String("0")})
		k.must(err)
	}
	m, err := k.sfn.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{Name: aws.String("wait"),
		RoleArn: aws.String("arn:aws:iam::000000000000:role/r"), Definition: aws.String(
			`{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":1,"Next":"P"},"P":{"Type":"Pass","End":true}}}`)})
	k.must(err)
	k.machine = *m.StateMachineArn
	k.registers = append(k.everyRegister(), k.describedRegisters(k.cfg)...)
	k.fifos = map[string]*fifoLoad{"order.fifo": {send: k.sendToFIFO, gone: map[string]bool{}},
		"published.fifo": {send: k.publishInOrder, gone: map[string]bool{}}}
	k.preparePairs()
}

// subscribed creates a topic and subscribes a queue to it.
func (k *killed) subscribed(topic, queue string) string {
	k.t.Helper()
	out, err := k.sns.CreateTopic(k.t.Context(), &sns.CreateTopicInput{Name: &topic})
	k.must(err)
	_, err = k.sns.Subscribe(k.t.Context(), &sns.SubscribeInput{TopicArn: out.TopicArn, Protocol: aws.String("sqs"),
		Endpoint: aws.String(queueARN(queue)), Attributes: map[string]string{"RawMessageDelivery": "true"}})
	k.must(err)
	return *out.TopicArn
}

func queueARN(name string) string { return "arn:aws:sqs:us-east-1:" + killedAccount + ":" + name }

func slotName(slot int) string { return "slot-" + strconv.Itoa(slot) }

// load starts the clients, which run until ctx ends.
func (k *killed) load(ctx context.Context, running *sync.WaitGroup) {
	call := context.WithoutCancel(ctx) // calls that have begun are completed
	each := func(pause time.Duration, act func(n int) error) {
		running.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				if act(n) != nil {
					pause = max(pause, 5*time.Millisecond)
				}
				rest(pause)
			}
		})
	}
	send := func(queue string, pause time.Duration, act func(id string) error) {
		each(pause, func(n int) error {
			id := fmt.Sprintf("%s-%d", queue, n)
			err := act(id)
			if err == nil {
				k.mu.Lock()
				if queue == "lines" {
					k.lines[id] = true
				} else {
					k.acked[queue][id] = true
				}
				k.mu.Unlock()
			}
			return err
		})
	}
	send("direct", time.Millisecond, func(id string) error {
		_, err := k.sqs.SendMessage(call, &sqs.SendMessageInput{QueueUrl: aws.String(k.queues["direct"]),
			MessageBody: &id})
		return err
	})
	send("published", 2*time.Millisecond, func(id string) error {
		_, err := k.sns.Publish(call, &sns.PublishInput{TopicArn: &k.topic, Message: &id})
		return err
	})
	send("ruled", 2*time.Millisecond, func(id string) error {
		entry := eventbridgetypes.PutEventsRequestEntry{Source: aws.String("killed"), DetailType: aws.String("d"),
			Detail: aws.String(`{"id":"` + id + `"}`)}
		out, err := k.events.PutEvents(call,
			&eventbridge.PutEventsInput{Entries: []eventbridgetypes.PutEventsRequestEntry{entry}})
		if err == nil && out.FailedEntryCount > 0 {
			err = errors.New("refused")
		}
		return err
	})
	send("scheduled", 20*time.Millisecond, func(id string) error {
		due := time.Now().UTC().Add(5 * time.Second).Truncate(time.Second)
		_, err := k.scheduler.CreateSchedule(call, &scheduler.CreateScheduleInput{Name: &id,
			ScheduleExpression:    aws.String("at(" + due.Format("2006-01-02T15:04:05") + ")"),
			FlexibleTimeWindow:    &schedulertypes.FlexibleTimeWindow{Mode: schedulertypes.FlexibleTimeWindowModeOff},
			ActionAfterCompletion: schedulertypes.ActionAfterCompletionDelete,
			Target: &schedulertypes.Target{Arn: aws.String(queueARN("scheduled")),
				RoleArn: aws.String("arn:aws:iam::000000000000:role/r"), Input: &id}})
		if err == nil && !time.Now().Before(due) {
			// A server that begins on a busy machine may store it after its time, and then the schedule never runs.
			k.late.Add(1)
			return errors.New("stored too late")
		}
		return err
	})
	if k.alarms {
		send("alarmed", 500*time.Millisecond, func(id string) error { return k.alarm(call, id) })
	}
	for _, f := range k.fifos {
		for group := range f.groups {
			each(2*time.Millisecond, func(int) error { return f.sendNext(call, group) })
		}
	}
	k.loadPairs(call, send)
	for _, r := range k.registers {
		for slot := range killedSlots {
			each(3*time.Millisecond, func(int) error { return k.write(call, r, slot) })
		}
	}
	each(5*time.Millisecond, func(n int) error {
		out, err := k.sfn.StartExecution(call, &sfn.StartExecutionInput{StateMachineArn: &k.machine,
			Name: aws.String("e" + strconv.Itoa(n))})
		if err == nil {
			k.mu.Lock()
			k.executions = append(k.executions, *out.ExecutionArn)
			k.mu.Unlock()
		}
		return err
	})
}

// alarm creates an alarm and puts a value above the threshold into its metric. If it returns nil, both calls have
// been acknowledged.
func (k *killed) alarm(ctx context.Context, id string) error {
	_, err := k.cloudwatch.PutMetricAlarm(ctx, &cloudwatch.PutMetricAlarmInput{AlarmName: &id,
		Namespace: aws.String("killed"), MetricName: &id, Statistic: cloudwatchtypes.StatisticMaximum,
		Period: aws.Int32(60), EvaluationPeriods: aws.Int32(1), Threshold: aws.Float64(1),
		ComparisonOperator: cloudwatchtypes.ComparisonOperatorGreaterThanThreshold,
		AlarmActions:       []string{k.alarmTopic}})
	if err != nil {
		return err
	}
	_, err = k.cloudwatch.PutMetricData(ctx, &cloudwatch.PutMetricDataInput{Namespace: aws.String("killed"),
		MetricData: []cloudwatchtypes.MetricDatum{{MetricName: &id, Value: aws.Float64(5)}}})
	return err
}

// fifoLoad is the messages of a FIFO queue.
type fifoLoad struct {
	send   func(ctx context.Context, group, id string) error
	groups [3]int // the number of acknowledged messages of each group
	next   [3]int // the number of the next message expected of each group
	gone   map[string]bool
}

// sendNext sends the next message of a group; callers repeat it, with the same deduplication ID, until it is
// acknowledged.
func (f *fifoLoad) sendNext(ctx context.Context, group int) error {
	err := f.send(ctx, strconv.Itoa(group), fmt.Sprintf("%d-%d", group, f.groups[group]))
	if err == nil {
		f.groups[group]++
	}
	return err
}

func (k *killed) sendToFIFO(ctx context.Context, group, id string) error {
	_, err := k.sqs.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: aws.String(k.queues["order.fifo"]),
		MessageBody: &id, MessageGroupId: &group, MessageDeduplicationId: &id})
	return err
}

// read receives and deletes messages from every queue until ctx ends.
func (k *killed) read(ctx context.Context, running *sync.WaitGroup) {
	k.readPairs(ctx, running)
	for name := range k.queues {
		if k.unread[name] {
			continue
		}
		running.Go(func() {
			for ctx.Err() == nil {
				if err := k.receive(ctx, name); err != nil {
					rest(20 * time.Millisecond)
				}
			}
		})
	}
}

func (k *killed) receive(ctx context.Context, name string) error {
	url := k.queues[name]
	out, err := k.sqs.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: 10,
		WaitTimeSeconds: 1})
	if err != nil {
		return err
	}
	var entries []sqstypes.DeleteMessageBatchRequestEntry
	k.mu.Lock()
	for i, m := range out.Messages {
		body := strings.Trim(*m.Body, `"`)
		switch name {
		case "alarmed":
			_, after, _ := strings.Cut(body, `"AlarmName":"`)
			body, _, _ = strings.Cut(after, `"`)
		case "order.fifo", "published.fifo":
			k.inOrder(name, body)
		case "uploaded", "invoked":
			body = idIn(*m.Body)
		}
		k.arrived[name][body] = true
		entries = append(entries, sqstypes.DeleteMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)),
			ReceiptHandle: m.ReceiptHandle})
	}
	k.mu.Unlock()
	if len(entries) == 0 {
		return nil
	}
	deleted, err := k.sqs.DeleteMessageBatch(ctx, &sqs.DeleteMessageBatchInput{QueueUrl: &url, Entries: entries})
	f := k.fifos[name]
	if err != nil || f == nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, d := range deleted.Successful {
		i, _ := strconv.Atoi(*d.Id)
		f.gone[*out.Messages[i].Body] = true
	}
	return nil
}

// inOrder checks a message of a FIFO queue: it may be delivered again unless it was deleted, but never before its
// turn.
func (k *killed) inOrder(queue, body string) {
	f := k.fifos[queue]
	g, n, _ := strings.Cut(body, "-")
	group, err := strconv.Atoi(g)
	number, err2 := strconv.Atoi(n)
	switch {
	case err != nil || err2 != nil:
		k.t.Errorf("%s has a message %q", queue, body)
	case number > f.next[group]:
		k.t.Errorf("%s: message %d of group %d came before %d", queue, number, group, f.next[group])
	case number == f.next[group]:
		f.next[group]++
	case f.gone[body]:
		k.t.Errorf("message %d of group %d came again after its deletion was acknowledged", number, group)
	}
}

// register is a stored value that is overwritten again and again with a larger number.
type register struct {
	name        string
	write       func(ctx context.Context, slot, value string) error
	read        func(ctx context.Context, slot string) (string, error)
	tried, held [killedSlots]int // the last number written, and the last acknowledged
}

// write writes the next number. If the write is not acknowledged, it checks the number that is stored.
func (k *killed) write(ctx context.Context, r *register, slot int) error {
	r.tried[slot]++
	err := r.write(ctx, slotName(slot), strconv.Itoa(r.tried[slot]))
	if err == nil {
		r.held[slot] = r.tried[slot]
		return nil
	}
	k.look(ctx, r, slot)
	return err
}

// look reads the number as soon as a server answers, and checks that it lies between the last acknowledged and the
// last written one.
func (k *killed) look(ctx context.Context, r *register, slot int) {
	if r.held[slot] == 0 {
		return
	}
	var err error
	for end := time.Now().Add(killedPatience); time.Now().Before(end); rest(20 * time.Millisecond) {
		var text string
		if text, err = r.read(ctx, slotName(slot)); err != nil && !answered(err) {
			continue
		}
		n, bad := strconv.Atoi(text)
		if err != nil || bad != nil || n < r.held[slot] || n > r.tried[slot] {
			k.t.Errorf("%s %d is %q (%v); %d was acknowledged, %d tried", r.name, slot, text, err, r.held[slot],
				r.tried[slot])
		}
		return
	}
	k.t.Errorf("%s cannot be read: %v", r.name, err)
}

// answered reports whether err is a response of the server.
func answered(err error) bool {
	var a interface{ ErrorCode() string }
	return errors.As(err, &a)
}

// checkRegisters checks every number.
func (k *killed) checkRegisters() {
	for _, r := range k.registers {
		for slot := range killedSlots {
			k.look(k.t.Context(), r, slot)
		}
	}
}

// everyRegister returns the registers, one for each service.
func (k *killed) everyRegister() []*register {
	return []*register{
		{name: "DynamoDB's item", write: func(ctx context.Context, slot, value string) error {
			_, err := k.dynamodb.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("items"),
				Item: map[string]dynamodbtypes.AttributeValue{"k": &dynamodbtypes.AttributeValueMemberS{Value: slot},
					"v": &dynamodbtypes.AttributeValueMemberN{Value: value}}})
			return err
		}, read: func(ctx context.Context, slot string) (string, error) {
			out, err := k.dynamodb.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("items"),
				ConsistentRead: aws.Bool(true),
				Key: map[string]dynamodbtypes.AttributeValue{
					"k": &dynamodbtypes.AttributeValueMemberS{Value: slot}}})
			if err != nil {
				return "", err
			}
			v, _ := out.Item["v"].(*dynamodbtypes.AttributeValueMemberN)
			if v == nil {
				return "", nil
			}
			return v.Value, nil
		}},
		{name: "S3's object", write: func(ctx context.Context, slot, value string) error {
			_, err := k.s3.PutObject(ctx, &awss3.PutObjectInput{Bucket: aws.String("objects"), Key: &slot,
				Body: strings.NewReader(value)})
			return err
		}, read: func(ctx context.Context, slot string) (string, error) {
			out, err := k.s3.GetObject(ctx, &awss3.GetObjectInput{Bucket: aws.String("objects"), Key: &slot})
			if err != nil {
				return "", err
			}
			defer out.Body.Close()
			text, err := io.ReadAll(out.Body)
			return string(text), err
		}},
		{name: "the parameter", write: func(ctx context.Context, slot, value string) error {
			_, err := k.ssm.PutParameter(ctx, &ssm.PutParameterInput{Name: &slot, Value: &value,
				Type: ssmtypes.ParameterTypeString, Overwrite: aws.Bool(true)})
			return err
		}, read: func(ctx context.Context, slot string) (string, error) {
			out, err := k.ssm.GetParameter(ctx, &ssm.GetParameterInput{Name: &slot})
			if err != nil {
				return "", err
			}
			return *out.Parameter.Value, nil
		}},
		{name: "the secret", write: func(ctx context.Context, slot, value string) error {
			_, err := k.secrets.PutSecretValue(ctx, &secretsmanager.PutSecretValueInput{SecretId: &slot,
				SecretString: &value})
			return err
		}, read: func(ctx context.Context, slot string) (string, error) {
			out, err := k.secrets.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &slot})
			if err != nil {
				return "", err
			}
			return *out.SecretString, nil
		}},
	}
}

// arriveAll waits until everything that was acknowledged has arrived.
func (k *killed) arriveAll() {
	k.mu.Lock()
	for queue, f := range k.fifos {
		for group, n := range f.groups {
			for i := range n {
				k.acked[queue][fmt.Sprintf("%d-%d", group, i)] = true
			}
		}
	}
	k.mu.Unlock()
	for end := time.Now().Add(killedPatience); ; rest(100 * time.Millisecond) {
		missing := k.missing()
		if len(missing) == 0 {
			return
		}
		if time.Now().After(end) {
			k.t.Errorf("acknowledged, and lost: %d, such as %v", len(missing), missing[:min(len(missing), 10)])
			return
		}
	}
}

// missing returns the messages that were acknowledged but have not arrived.
func (k *killed) missing() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []string
	for queue, ids := range k.acked {
		for id := range ids {
			if !k.arrived[queue][id] {
				out = append(out, queue+" "+id)
			}
		}
	}
	return out
}

// checkExecutions waits for the end of every execution whose start was acknowledged.
func (k *killed) checkExecutions() {
	for _, arn := range k.executions {
		status := sfntypes.ExecutionStatusRunning
		end := time.Now().Add(killedPatience)
		for status == sfntypes.ExecutionStatusRunning && time.Now().Before(end) {
			out, err := k.sfn.DescribeExecution(k.t.Context(), &sfn.DescribeExecutionInput{ExecutionArn: &arn})
			if err != nil {
				k.t.Error(err)
				break
			}
			if status = out.Status; status == sfntypes.ExecutionStatusRunning {
				rest(50 * time.Millisecond)
			}
		}
		if status != sfntypes.ExecutionStatusSucceeded {
			k.t.Errorf("%s, whose start was acknowledged, is %s", arn, status)
		}
	}
}

// counts returns a summary of how much was acknowledged.
func (k *killed) counts() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var parts []string
	for _, queue := range slices.Sorted(maps.Keys(k.acked)) {
		parts = append(parts, fmt.Sprintf("%s %d (arrived %d)", queue, len(k.acked[queue]), len(k.arrived[queue])))
	}
	return strings.Join(parts, ", ") + fmt.Sprintf(", executions %d, schedules stored too late to run %d", len(k.executions),
		k.late.Load())
}
