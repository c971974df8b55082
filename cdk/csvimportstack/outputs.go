package csvimportstack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
)

// addOutputs adds the locations of everything as outputs.
func (s *Stack) addOutputs() {
	for _, o := range []struct {
		id, description string
		value           *string
	}{
		{"StateMachineArn", "The state machine", s.StateMachine.StateMachineArn()},
		{"StateMachineAliasArn", "What imports are started by", s.startedARN()},
		{"DashboardUrl", "What is retried, and the alarms", s.dashboardURL()},
		{"InputBucketName", "Files put here are imported", s.InputBucket.BucketName()},
		{"ResultBucketName", "Summaries, dead letters and corrections", s.ResultBucket.BucketName()},
		{"PagesTopicArn", "Wakes somebody", s.Pages.TopicArn()},
		{"NoticesTopicArn", "Hears of alarms that can wait", s.Notices.TopicArn()},
		{"ImportsTopicArn", "Hears how each import ended", s.Imports.TopicArn()},
		{"UsersDatabase", "Which database the rows are counted in; make deploy refuses another", s.databaseIdentity()},
		{"UndeliveredEventsUrl", "Events for which no execution could be started", s.UndeliveredEvents.QueueUrl()},
		{"RetryConfigurationsTable", "Changes of the retry configuration", s.RetryConfigurations.TableName()},
		{"CircuitBreakersTable", "States of the circuit breakers", s.Breaker.TableName()},
	} {
		awscdk.NewCfnOutput(s.Stack, jsii.String(o.id), &awscdk.CfnOutputProps{Value: o.value,
			Description: jsii.String(o.description)})
	}
}
