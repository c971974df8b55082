package csvimportstack

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awseventstargets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogsdestinations"
	"github.com/aws/jsii-runtime-go"

	"stepback/cdk/environment"
	"stepback/statemachine"
)

// metricsFunction names both the metrics function and the folder of its bootstrap.
const metricsFunction = "metrics"

// addMetrics declares the function that counts retries from the logs of the state machines. It keeps open executions in
// memory, so there must be exactly one instance.
func (s *Stack) addMetrics(bootstraps string) {
	variables := map[string]*string{
		"LOG_LEVEL":         jsii.String(s.Environment.LogLevel),
		"STATE_MACHINE_ARN": s.StateMachine.StateMachineArn(),
		"BREAKER_TABLE":     s.Breaker.TableName(),
	}
	if only := statemachine.ChildTask(s.Environment.Shape); only != "" {
		variables["CHILD_STATE"] = jsii.String(only)
	}
	access := []awsiam.PolicyStatement{
		allow([]string{"states:DescribeStateMachine", "states:ListExecutions"}, s.StateMachine.StateMachineArn()),
		allow([]string{"dynamodb:GetItem"}, s.Breaker.TableArn()),
	}
	if s.putsMetricData() {
		variables["METRIC_DATA"] = jsii.String("put")
		access = append(access, allow([]string{"cloudwatch:PutMetricData"}, jsii.String("*"))) // metrics have no ARN
	}
	s.Metrics = s.function(bootstraps, function{
		id: "Metrics", name: metricsFunction,
		description: "Counts retries from the state machines' logs and publishes them as metrics",
		memory:      environment.MetricsMemory, timeout: time.Minute, instances: 1,
		environment: variables, access: access,
	})
	s.publishEvery("ConfigurationSchedule", "configuration", "Publishes the state machine's retry configuration as metrics", nil)
	s.publishEvery("CircuitSchedule", "circuit", "Publishes as a metric that the circuit breaker is open while an execution runs",
		awsevents.RuleTargetInput_FromObject(map[string]string{"publish": "circuit-breaker"}))
	s.subscribeMetrics("StateMachineLog", s.StateMachineLog)
	s.subscribeMetrics("FilesStateMachineLog", s.FilesStateMachineLog)
	if s.putsMetricData() {
		for _, id := range []string{"Validate", "Process", "Aggregate"} {
			s.subscribeMetrics(id+"Log", s.logs[id])
		}
	}
}

// publishEvery invokes the function metrics on the environment's schedule.
func (s *Stack) publishEvery(id, rule, description string, event awsevents.RuleTargetInput) {
	interval := awscdk.Duration_Minutes(jsii.Number(s.Environment.Schedule(rule).Minutes))
	awsevents.NewRule(s.Stack, jsii.String(id), &awsevents.RuleProps{
		RuleName: s.name(rule), Description: jsii.String(description), Schedule: awsevents.Schedule_Rate(interval),
		Targets: &[]awsevents.IRuleTarget{awseventstargets.NewLambdaFunction(s.Metrics,
			&awseventstargets.LambdaFunctionProps{Event: event, RetryAttempts: jsii.Number(0), MaxEventAge: interval})},
	})
}

// putsMetricData reports whether the function metrics puts metric data, because the platform's logs do not extract
// metrics in the embedded format. It then also puts those of the other functions, from their logs.
func (s *Stack) putsMetricData() bool { return s.apart }

// subscribeMetrics sends a log group to the metrics function.
func (s *Stack) subscribeMetrics(id string, group awslogs.LogGroup) {
	awslogs.NewSubscriptionFilter(s.Stack, jsii.String(id+"Subscription"), &awslogs.SubscriptionFilterProps{
		LogGroup: group, FilterName: jsii.String("retry-metrics"),
		FilterPattern: awslogs.FilterPattern_AllEvents(),
		Destination: awslogsdestinations.NewLambdaDestination(s.Metrics,
			&awslogsdestinations.LambdaDestinationOptions{AddPermissions: jsii.Bool(false)}),
	}).Node().AddDependency(awslambda.NewCfnPermission(s.Stack, jsii.String(id+"MayInvoke"),
		&awslambda.CfnPermissionProps{
			Action: jsii.String("lambda:InvokeFunction"), FunctionName: s.Metrics.FunctionArn(),
			Principal:     jsii.String("logs.amazonaws.com"),
			SourceAccount: s.Account(), SourceArn: group.LogGroupArn(),
		}))
}
