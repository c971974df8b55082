package csvimportstack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
)

// addOutputs declares the outputs that make deploy prints: ARNs, names and URLs of the stack's resources.
func (s *Stack) addOutputs() {
	type output struct {
		id, description string
		value           *string
	}
	all := []output{
		{"StateMachineArn", "State machine that imports files", s.StateMachine.StateMachineArn()},
		{"StateMachineAliasArn", "Alias through which imports are started", s.startedARN(s.Environment.Prefix())},
		{"FilesStateMachineArn", "State machine that imports the files of a prefix or a manifest as one",
			s.FilesStateMachine.StateMachineArn()},
		{"FilesStateMachineAliasArn", "Alias through which imports of many files are started",
			s.startedARN(*s.name(filesFunction))},
		{"DashboardUrl", "Dashboard with retries and alarms", s.dashboardURL()},
		{"InputBucketName", "Bucket for CSV files; each new object starts an import", s.InputBucket.BucketName()},
		{"ResultBucketName", "Bucket with summaries, dead letters and corrections", s.ResultBucket.BucketName()},
		{"PagesTopicArn", "Topic for alarms that page the on-call engineer", s.Pages.TopicArn()},
		{"NoticesTopicArn", "Topic for alarms that can wait", s.Notices.TopicArn()},
		{"ImportsTopicArn", "Topic for the result of each import", s.Imports.TopicArn()},
		{"UsersDatabase", "Database of the users table; make deploy rejects a different one", s.databaseIdentity()},
		{"UndeliveredEventsUrl", "Queue of events that could not start an execution", s.UndeliveredEvents.QueueUrl()},
		{"CircuitBreakersTable", "Table with the circuit breaker states", s.Breaker.TableName()},
	}
	if s.hasAdapt() {
		all = append(all, output{"RetryConfigurationsTable", "Table with the retry configuration and its changes",
			s.RetryConfigurations.TableName()})
	}
	for _, o := range all {
		awscdk.NewCfnOutput(s.Stack, jsii.String(o.id), &awscdk.CfnOutputProps{Value: o.value,
			Description: jsii.String(o.description)})
	}
}
