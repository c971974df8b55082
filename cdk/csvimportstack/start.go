package csvimportstack

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awseventstargets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"stepback/internal/objectevent"
)

// Limits on the retries of an event before it goes to the queue. First EventBridge tries to deliver the event, and
// then Lambda runs it up to three times.
const (
	deliveryAttempts = 10
	deliveryHours    = 2
)

// undeliveredEvents is the name of the queue for events that started no execution; an alarm watches it.
const undeliveredEvents = "undelivered-events"

// addStart declares the rule and the function that start an execution for a new object, and the queue of events for
// which that failed.
func (s *Stack) addStart(bootstraps string) {
	s.UndeliveredEvents = s.queue("UndeliveredEvents", undeliveredEvents)
	s.Start = s.function(bootstraps, function{
		id: "Start", name: "start", description: "Starts the import of an object, once per bucket, key and ETag",
		memory: 128, timeout: 30 * time.Second,
		environment: map[string]*string{
			"STATE_MACHINE_ARN":       s.startedARN(s.Environment.Prefix()),
			"FILES_STATE_MACHINE_ARN": s.startedARN(*s.name(filesFunction)),
		},
		access: []awsiam.PolicyStatement{
			s.mayStart(s.StateMachine.StateMachineArn()), s.mayStart(s.FilesStateMachine.StateMachineArn()),
			allow([]string{"sqs:SendMessage"}, s.UndeliveredEvents.QueueArn()),
		},
	})
	awslambda.NewCfnEventInvokeConfig(s.Stack, jsii.String("StartRetries"), &awslambda.CfnEventInvokeConfigProps{
		FunctionName: s.Start.FunctionName(), Qualifier: jsii.String("$LATEST"),
		MaximumRetryAttempts: jsii.Number(2), MaximumEventAgeInSeconds: jsii.Number(deliveryHours * 3600),
		DestinationConfig: &awslambda.CfnEventInvokeConfig_DestinationConfigProperty{
			OnFailure: &awslambda.CfnEventInvokeConfig_OnFailureProperty{Destination: s.UndeliveredEvents.QueueArn()},
		},
	})
	s.ObjectCreated = awsevents.NewRule(s.Stack, jsii.String("ObjectCreated"), &awsevents.RuleProps{
		RuleName: s.name("object-created"), Description: jsii.String("Invokes the start function for each new object in the input bucket"),
		EventPattern: &awsevents.EventPattern{
			Source: jsii.Strings(objectevent.Source), DetailType: jsii.Strings(objectevent.DetailType),
			Detail: &map[string]any{
				"bucket": map[string]any{"name": []*string{s.InputBucket.BucketName()}},
				"object": map[string]any{"key": startingKeys()},
			},
		},
		Targets: &[]awsevents.IRuleTarget{awseventstargets.NewLambdaFunction(s.Start,
			&awseventstargets.LambdaFunctionProps{
				DeadLetterQueue: s.UndeliveredEvents, RetryAttempts: jsii.Number(deliveryAttempts),
				MaxEventAge: awscdk.Duration_Hours(jsii.Number(deliveryHours)),
			})},
	})
}

// startingKeys returns the pattern of the keys that start an import: all but those of staged files, of which an import of
// many files takes care; manifests start one wherever they are.
func startingKeys() []any {
	return []any{
		map[string]any{"anything-but": map[string]any{"prefix": stagedPrefix}},
		map[string]any{"suffix": objectevent.ManifestSuffix},
	}
}
