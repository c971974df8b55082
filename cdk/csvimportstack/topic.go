package csvimportstack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssnssubscriptions"
	"github.com/aws/jsii-runtime-go"
)

// addTopic declares the topic that imports, and alarms, report to. It is not encrypted with a key of AWS's own:
// CloudWatch alarms could not publish to it.
func (s *Stack) addTopic() {
	s.Topic = awssns.NewTopic(s.Stack, jsii.String("Notifications"), &awssns.TopicProps{
		TopicName:   s.name("notifications"),
		DisplayName: jsii.String("CSV import " + s.Environment.Name),
		EnforceSSL:  jsii.Bool(true),
	})
	// A topic with a policy of its own has lost the one that let the account's alarms publish.
	s.Topic.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid:        jsii.String("Alarms"),
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("cloudwatch.amazonaws.com"), nil)},
		Actions:    jsii.Strings("sns:Publish"), Resources: &[]*string{s.Topic.TopicArn()},
		Conditions: &map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": s.Account()}},
	}))
	for _, address := range s.Environment.Emails {
		s.Topic.AddSubscription(awssnssubscriptions.NewEmailSubscription(jsii.String(address), nil))
	}
	for _, endpoint := range s.Environment.Endpoints {
		s.Topic.AddSubscription(awssnssubscriptions.NewUrlSubscription(jsii.String(endpoint), nil))
	}
	if len(s.Environment.Emails)+len(s.Environment.Endpoints) == 0 {
		awscdk.Annotations_Of(s.Topic).AddWarningV2(jsii.String("stepback:nobody-subscribed"),
			jsii.String("Nobody is subscribed to the notifications of "+s.Environment.Name+
				": set Emails or Endpoints of the environment"))
	}
}
