package local_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	ebtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"stepback/engine/clock"
	"stepback/local"
)

// TestAnAlarmFiresOnTheAgeOfAQueue leaves a message in a queue for ten minutes of virtual time. The alarm on the age
// of the oldest message notifies a topic to which another queue is subscribed; the metrics of all three services are
// recorded.
func TestAnAlarmFiresOnTheAgeOfAQueue(t *testing.T) {
	t.Parallel()
	c := clock.Virtual(time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC))
	p := open(t, local.Config{Clock: c})
	ctx, s := t.Context(), settings(p)
	queues, topics, metrics := sqs.NewFromConfig(s), sns.NewFromConfig(s), cloudwatch.NewFromConfig(s)
	events := eventbridge.NewFromConfig(s)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	arn := func(name string) *string { return aws.String("arn:aws:sqs:us-east-1:000000000000:" + name) }
	url := map[string]*string{}
	for _, name := range []string{"jobs", "pages"} {
		q, err := queues.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name})
		must(err)
		url[name] = q.QueueUrl
	}
	topic, err := topics.CreateTopic(ctx, &sns.CreateTopicInput{Name: aws.String("alarms")})
	must(err)
	_, err = topics.Subscribe(ctx, &sns.SubscribeInput{TopicArn: topic.TopicArn, Protocol: aws.String("sqs"), Endpoint: arn("pages")})
	must(err)
	_, err = topics.Subscribe(ctx, &sns.SubscribeInput{TopicArn: topic.TopicArn, Protocol: aws.String("sqs"), Endpoint: arn("jobs"),
		Attributes: map[string]string{"FilterPolicy": `{"kind":["none"]}`}})
	must(err)
	_, err = events.PutRule(ctx, &eventbridge.PutRuleInput{Name: aws.String("orders"), EventPattern: aws.String(`{"source":["shop"]}`)})
	must(err)
	_, err = events.PutTargets(ctx, &eventbridge.PutTargetsInput{Rule: aws.String("orders"), Targets: []ebtypes.Target{
		{Id: aws.String("q"), Arn: arn("jobs")}, {Id: aws.String("none"), Arn: arn("none"),
			DeadLetterConfig: &ebtypes.DeadLetterConfig{Arn: arn("jobs")}}}})
	must(err)
	_, err = metrics.PutMetricAlarm(ctx, &cloudwatch.PutMetricAlarmInput{AlarmName: aws.String("old"),
		Namespace: aws.String("AWS/SQS"), MetricName: aws.String("ApproximateAgeOfOldestMessage"),
		Dimensions: []cwtypes.Dimension{{Name: aws.String("QueueName"), Value: aws.String("jobs")}},
		Statistic:  cwtypes.StatisticMaximum, Period: aws.Int32(60), EvaluationPeriods: aws.Int32(2),
		Threshold:          aws.Float64(300),
		ComparisonOperator: cwtypes.ComparisonOperatorGreaterThanThreshold, AlarmActions: []string{*topic.TopicArn}})
	must(err)
	_, err = events.PutEvents(ctx, &eventbridge.PutEventsInput{Entries: []ebtypes.PutEventsRequestEntry{
		{Source: aws.String("shop"), DetailType: aws.String("order"), Detail: aws.String("{}")}}})
	must(err)
	pass := func(d time.Duration) {
		t.Helper()
		c.Hold()
		defer c.Release()
		must(c.Sleep(ctx, d))
	}
	received := func() []string {
		t.Helper()
		out, err := queues.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: url["pages"]})
		must(err)
		var all []string
		for _, m := range out.Messages {
			all = append(all, *m.Body)
		}
		return all
	}
	pass(4 * time.Minute)
	if got := received(); len(got) != 0 {
		t.Errorf("the alarm fired too soon: %s", got)
	}
	pass(6 * time.Minute)
	if got := received(); len(got) != 1 || !strings.Contains(got[0], `ALARM: \"old\"`) {
		t.Fatalf("%q", got)
	}
	pass(2 * time.Minute)
	sum := func(namespace, metric, statistic, dimension, value string) float64 {
		t.Helper()
		out, err := metrics.GetMetricStatistics(ctx, &cloudwatch.GetMetricStatisticsInput{Namespace: &namespace,
			MetricName: &metric, StartTime: aws.Time(time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)),
			EndTime: aws.Time(c.Now().Truncate(time.Minute)),
			Period:  aws.Int32(3600), Statistics: []cwtypes.Statistic{cwtypes.Statistic(statistic)},
			Dimensions: []cwtypes.Dimension{{Name: &dimension, Value: &value}}})
		must(err)
		if len(out.Datapoints) != 1 {
			t.Errorf("%s of %s: %d data points", metric, value, len(out.Datapoints))
			return -1
		}
		d := out.Datapoints[0]
		switch statistic {
		case "Sum":
			return *d.Sum
		case "Maximum":
			return *d.Maximum
		}
		return *d.SampleCount
	}
	for _, w := range []struct {
		namespace, metric, statistic, dimension, value string
		want                                           float64
	}{
		{"AWS/SQS", "NumberOfMessagesSent", "Sum", "QueueName", "jobs", 2},
		{"AWS/SQS", "ApproximateNumberOfMessagesVisible", "Maximum", "QueueName", "jobs", 2},
		{"AWS/SQS", "NumberOfMessagesSent", "Sum", "QueueName", "pages", 1},
		{"AWS/SQS", "NumberOfMessagesReceived", "Sum", "QueueName", "pages", 1},
		{"AWS/SQS", "NumberOfEmptyReceives", "Sum", "QueueName", "pages", 1},
		{"AWS/SQS", "ApproximateNumberOfMessagesNotVisible", "Maximum", "QueueName", "pages", 1},
		{"AWS/SQS", "SentMessageSize", "SampleCount", "QueueName", "jobs", 2},
		{"AWS/SNS", "NumberOfMessagesPublished", "Sum", "TopicName", "alarms", 1},
		{"AWS/SNS", "NumberOfNotificationsDelivered", "Sum", "TopicName", "alarms", 1},
		{"AWS/SNS", "NumberOfNotificationsFilteredOut", "Sum", "TopicName", "alarms", 1},
		{"AWS/Events", "TriggeredRules", "Sum", "RuleName", "orders", 1},
		{"AWS/Events", "MatchedEvents", "Sum", "RuleName", "orders", 1},
		{"AWS/Events", "Invocations", "Sum", "RuleName", "orders", 2},
		{"AWS/Events", "InvocationAttempts", "Sum", "RuleName", "orders", 2},
		{"AWS/Events", "SuccessfulInvocationAttempts", "Sum", "RuleName", "orders", 1},
		{"AWS/Events", "FailedInvocations", "Sum", "RuleName", "orders", 1},
		{"AWS/Events", "InvocationsSentToDlq", "Sum", "RuleName", "orders", 1},
	} {
		if got := sum(w.namespace, w.metric, w.statistic, w.dimension, w.value); got != w.want {
			t.Errorf("%s of %s is %v, want %v", w.metric, w.value, got, w.want)
		}
	}
	listed, err := metrics.ListMetrics(ctx, &cloudwatch.ListMetricsInput{Namespace: aws.String("AWS/SQS")})
	must(err)
	if !slices.ContainsFunc(listed.Metrics, func(m cwtypes.Metric) bool { return *m.MetricName == "ApproximateAgeOfOldestMessage" }) {
		t.Error("the age is not listed")
	}
}
