package csvimportstack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssnssubscriptions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"stepback/cdk/environment"
)

// The names of the topics, and of the queue for messages that reached no subscriber; alarms watch them.
const (
	pagesTopic    = "pages"
	noticesTopic  = "notices"
	importsTopic  = "imports"
	undeliverable = "undelivered-notifications"
)

// addTopics declares the topics for pages, for notices, and for the results of imports. They are not encrypted with
// an AWS managed key, because CloudWatch alarms could not publish to them.
func (s *Stack) addTopics() {
	e := s.Environment
	s.UndeliveredNotifications = s.queue("UndeliveredNotifications", undeliverable)
	s.Pages = s.topic("Pages", pagesTopic, "pages", e.Pages)
	s.Notices = s.topic("Notices", noticesTopic, "notices", e.Notices)
	s.Imports = s.topic("Imports", importsTopic, "import results", e.Imports)
	mayPublish(s.Pages, "Alarms", "cloudwatch.amazonaws.com", s.Account())
	mayPublish(s.Notices, "Alarms", "cloudwatch.amazonaws.com", s.Account())
}

// topic declares a topic with its subscribers. If all of SNS's attempts to deliver a message to a subscriber fail,
// the message goes to the queue.
func (s *Stack) topic(id, name, display string, to environment.Subscribers) awssns.Topic {
	topic := awssns.NewTopic(s.Stack, jsii.String(id), &awssns.TopicProps{
		TopicName:   s.name(name),
		DisplayName: jsii.String("CSV import " + s.Environment.Name + ", " + display),
		EnforceSSL:  jsii.Bool(true),
	})
	for _, address := range to.Emails {
		topic.AddSubscription(awssnssubscriptions.NewEmailSubscription(jsii.String(address),
			&awssnssubscriptions.EmailSubscriptionProps{DeadLetterQueue: s.UndeliveredNotifications}))
	}
	for _, endpoint := range to.Endpoints {
		topic.AddSubscription(awssnssubscriptions.NewUrlSubscription(jsii.String(endpoint),
			&awssnssubscriptions.UrlSubscriptionProps{DeadLetterQueue: s.UndeliveredNotifications}))
	}
	if !to.Subscribed() {
		awscdk.Annotations_Of(topic).AddWarningV2(jsii.String("stepback:no-subscribers-"+name),
			jsii.String("The topic "+name+" of "+s.Environment.Name+" has no subscribers: add some to environments/"+
				s.Environment.Name+".json"))
	}
	return topic
}

// mayPublish allows a service to publish on behalf of the account. A topic with a custom policy no longer has the
// default one, which let the account's alarms do so.
func mayPublish(topic awssns.Topic, sid, service string, account *string) {
	topic.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid:        jsii.String(sid),
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String(service), nil)},
		Actions:    jsii.Strings("sns:Publish"), Resources: &[]*string{topic.TopicArn()},
		Conditions: &map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": account}},
	}))
}

// queue declares a queue that keeps undeliverable messages for 14 days.
func (s *Stack) queue(id, name string) awssqs.Queue {
	return awssqs.NewQueue(s.Stack, jsii.String(id), &awssqs.QueueProps{
		QueueName: s.name(name), Encryption: awssqs.QueueEncryption_SQS_MANAGED, EnforceSSL: jsii.Bool(true),
		RetentionPeriod: awscdk.Duration_Days(jsii.Number(14)), RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
	})
}
