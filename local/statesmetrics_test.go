package local_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/engine/clock"
	"stepback/local"
	"stepback/retrymetrics"
)

// A state machine calls an integration that fails twice, a function by its ARN and an activity, and is redriven.
// AWS/States' metrics of all three, of the executions and of the account are recorded.
func TestExecutionsAndTheirTasksAreMeasured(t *testing.T) {
	t.Parallel()
	c := clock.Virtual(time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC))
	p := open(t, local.Config{Clock: c})
	ctx, s := t.Context(), settings(p)
	states, metrics := sfn.NewFromConfig(s, sameHost), cloudwatch.NewFromConfig(s)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	// Measurements are put into CloudWatch before alarms are evaluated.
	_, err := metrics.PutMetricAlarm(ctx, &cloudwatch.PutMetricAlarmInput{AlarmName: aws.String("open"),
		Namespace: aws.String("AWS/States"), MetricName: aws.String("OpenExecutionCount"), Statistic: cwtypes.StatisticMaximum,
		Period: aws.Int32(60), EvaluationPeriods: aws.Int32(1), Threshold: aws.Float64(1000),
		ComparisonOperator: cwtypes.ComparisonOperatorGreaterThanThreshold})
	must(err)
	activity, err := states.CreateActivity(ctx, &sfn.CreateActivityInput{Name: aws.String("work")})
	must(err)
	const function = "arn:aws:lambda:us-east-1:000000000000:function:nobody"
	m, err := states.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{Name: aws.String("m"),
		RoleArn: aws.String("arn:aws:iam::000000000000:role/r"), Definition: aws.String(`{"StartAt":"Send","States":{
		"Send":{"Type":"Task","Resource":"arn:aws:states:::sqs:sendMessage","Parameters":{"QueueUrl":"http://localhost/000000000000/none","MessageBody":"x"},
			"Retry":[{"ErrorEquals":["States.ALL"],"IntervalSeconds":10,"MaxAttempts":1}],"Catch":[{"ErrorEquals":["States.ALL"],"Next":"Call"}],"Next":"Call"},
		"Call":{"Type":"Task","Resource":"` + function + `","Catch":[{"ErrorEquals":["States.ALL"],"Next":"Work"}],"Next":"Work"},
		"Work":{"Type":"Task","Resource":"` + *activity.ActivityArn + `","End":true}}}`)})
	must(err)
	x, err := states.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: m.StateMachineArn})
	must(err)
	pass := func(d time.Duration) {
		t.Helper()
		c.Hold()
		defer c.Release()
		must(c.Sleep(ctx, d))
	}
	ends := func(want sfntypes.ExecutionStatus) {
		t.Helper()
		e, err := p.Engine()
		must(err)
		c.Hold()
		must(e.Await(ctx, *x.ExecutionArn))
		c.Release()
		d, err := states.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: x.ExecutionArn})
		must(err)
		if d.Status != want {
			t.Fatal(d.Status, aws.ToString(d.Error), aws.ToString(d.Cause))
		}
	}
	work := func() *string {
		t.Helper()
		task, err := states.GetActivityTask(ctx, &sfn.GetActivityTaskInput{ActivityArn: activity.ActivityArn})
		must(err)
		return task.TaskToken
	}
	_, err = states.SendTaskFailure(ctx, &sfn.SendTaskFailureInput{TaskToken: work(), Error: aws.String("Tired")})
	must(err)
	ends(sfntypes.ExecutionStatusFailed)
	_, err = states.RedriveExecution(ctx, &sfn.RedriveExecutionInput{ExecutionArn: x.ExecutionArn})
	must(err)
	_, err = states.SendTaskSuccess(ctx, &sfn.SendTaskSuccessInput{TaskToken: work(), Output: aws.String("1")})
	must(err)
	ends(sfntypes.ExecutionStatusSucceeded)
	pass(3 * time.Minute) // enough for everything to be put into CloudWatch

	sum := func(name, dimension, value string) (total, count float64) {
		t.Helper()
		in := &cloudwatch.GetMetricStatisticsInput{Namespace: aws.String("AWS/States"), MetricName: &name,
			StartTime:  aws.Time(time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)),
			EndTime:    aws.Time(time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)),
			Period:     aws.Int32(3600),
			Statistics: []cwtypes.Statistic{cwtypes.StatisticSum, cwtypes.StatisticSampleCount}}
		if dimension != "" {
			in.Dimensions = []cwtypes.Dimension{{Name: &dimension, Value: &value}}
		}
		out, err := metrics.GetMetricStatistics(ctx, in)
		must(err)
		for _, d := range out.Datapoints {
			total, count = total+*d.Sum, count+*d.SampleCount
		}
		return total, count
	}
	const machine, call, worker, integration = "StateMachineArn", "LambdaFunctionArn", "ActivityArn", "ServiceIntegrationResourceArn"
	const send = "arn:aws:states:::sqs:sendMessage"
	for _, of := range []struct {
		name, dimension, value string
		want                   float64
	}{
		{"ExecutionsStarted", machine, *m.StateMachineArn, 1}, {"ExecutionsFailed", machine, *m.StateMachineArn, 1},
		{"ExecutionsSucceeded", machine, *m.StateMachineArn, 0}, {"ExecutionsRedriven", machine, *m.StateMachineArn, 1},
		{"RedrivenExecutionsSucceeded", machine, *m.StateMachineArn, 1},
		{"ServiceIntegrationsScheduled", integration, send, 2}, {"ServiceIntegrationsStarted", integration, send, 2},
		{"ServiceIntegrationsFailed", integration, send, 2}, {"ServiceIntegrationsSucceeded", integration, send, 0},
		{"LambdaFunctionsScheduled", call, function, 1}, {"LambdaFunctionsFailed", call, function, 1},
		{"ActivitiesScheduled", worker, *activity.ActivityArn, 2}, {"ActivitiesFailed", worker, *activity.ActivityArn, 1},
		{"ActivitiesStarted", worker, *activity.ActivityArn, 2}, {"ActivitiesSucceeded", worker, *activity.ActivityArn, 1},
	} {
		if got, _ := sum(of.name, of.dimension, of.value); got != of.want {
			t.Errorf("%s is %v, want %v", of.name, got, of.want)
		}
	}
	for _, name := range []string{"ServiceIntegrationTime", "ServiceIntegrationRunTime", "ServiceIntegrationScheduleTime"} {
		if _, n := sum(name, integration, send); n != 2 {
			t.Errorf("%s has %v values, want 2", name, n)
		}
	}
	attempts := 0.0
	for _, point := range p.Metrics().Points() {
		if point.Metric == retrymetrics.TaskAttempts {
			attempts += point.Values[0] * float64(point.Counts[0])
		}
	}
	if attempts != 5 {
		t.Errorf("%v attempts are counted, want 5: those before the redrive once", attempts)
	}
	if _, n := sum("ActivityTime", worker, *activity.ActivityArn); n != 2 {
		t.Errorf("ActivityTime has %v values, want 2", n)
	}
	for name, each := range map[string]float64{"OpenExecutionCount": 0, "OpenExecutionLimit": 1_000_000,
		"ApproximateOpenMapRunCount": 0, "OpenMapRunLimit": 1000, "ApproximateMapRunBacklogSize": 0} {
		if total, n := sum(name, "", ""); n == 0 || total != n*each {
			t.Errorf("%s is %v of %v", name, total, n)
		}
	}
}
