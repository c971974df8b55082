package csvimportstack

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogsdestinations"
	"github.com/aws/jsii-runtime-go"

	"stepback/retrypatterns"
)

// addMetrics declares the function that counts retries from the state machine's log. It keeps
// open executions in memory, so that there is one instance of it and no other.
func (s *Stack) addMetrics(bootstraps string) {
	s.Metrics = s.function(bootstraps, function{
		id: "Metrics", name: "metrics", description: "Counts retries from the state machine's log and publishes them as metrics",
		memory: 256, timeout: time.Minute, instances: 1,
		environment: map[string]*string{
			"CHILD_STATE":   jsii.String(retrypatterns.ProcessSingleUserRecord),
			"STATE_MACHINE": jsii.String(s.Environment.Prefix()),
		},
	})
	awslogs.NewSubscriptionFilter(s.Stack, jsii.String("StateMachineLogSubscription"), &awslogs.SubscriptionFilterProps{
		LogGroup: s.StateMachineLog, FilterName: jsii.String("retry-metrics"), FilterPattern: awslogs.FilterPattern_AllEvents(),
		Destination: awslogsdestinations.NewLambdaDestination(s.Metrics, &awslogsdestinations.LambdaDestinationOptions{AddPermissions: jsii.Bool(false)}),
	}).Node().AddDependency(awslambda.NewCfnPermission(s.Stack, jsii.String("StateMachineLogMayInvoke"), &awslambda.CfnPermissionProps{
		Action: jsii.String("lambda:InvokeFunction"), FunctionName: s.Metrics.FunctionArn(), Principal: jsii.String("logs.amazonaws.com"),
		SourceAccount: s.Account(), SourceArn: s.StateMachineLog.LogGroupArn(),
	}))
}
