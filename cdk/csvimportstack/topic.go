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

// The names of the topics, and of the queue that keeps what reached no subscriber, which alarms watch.
const (
	pagesTopic    = "pages"
	noticesTopic  = "notices"
	importsTopic  = "imports"
	undeliverable = "undelivered-notifications"
)

// addTopics declares the topics of those who are woken, of those who read messages, and of those who hear how each import
// ended. They are not encrypted with a key of AWS's own: CloudWatch alarms could not publish to them.
func (s *Stack) addTopics() {
	e := s.Environment
	s.UndeliveredNotifications = s.queue("UndeliveredNotifications", undeliverable)
	s.Pages = s.topic("Pages", pagesTopic, "pages", e.Pages)
	s.Notices = s.topic("Notices", noticesTopic, "notices", e.Notices)
	s.Imports = s.topic("Imports", importsTopic, "results of imports", e.Imports)
	mayPublish(s.Pages, "Alarms", "cloudwatch.amazonaws.com", s.Account())
	mayPublish(s.Notices, "Alarms", "cloudwatch.amazonaws.com", s.Account())
}

// topic declares a topic with its subscribers. What reaches one of them in none of SNS's attempts goes to the queue.
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
		awscdk.Annotations_Of(topic).AddWarningV2(jsii.String("stepback:nobody-subscribed-"+name),
			jsii.String("Nobody is subscribed to the "+name+" of "+s.Environment.Name+": name somebody in environments/"+
				s.Environment.Name+".json"))
	}
	return topic
}

// mayPublish lets a service publish on behalf of the account. A topic with a policy of its own has lost the one that let
// the account's alarms do so.
func mayPublish(topic awssns.Topic, sid, service string, account *string) {
	topic.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid:        jsii.String(sid),
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String(service), nil)},
		Actions:    jsii.Strings("sns:Publish"), Resources: &[]*string{topic.TopicArn()},
		Conditions: &map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": account}},
	}))
}

// queue declares a queue that keeps for 14 days what could not be delivered.
func (s *Stack) queue(id, name string) awssqs.Queue {
	return awssqs.NewQueue(s.Stack, jsii.String(id), &awssqs.QueueProps{
		QueueName: s.name(name), Encryption: awssqs.QueueEncryption_SQS_MANAGED, EnforceSSL: jsii.Bool(true),
		RetentionPeriod: awscdk.Duration_Days(jsii.Number(14)), RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
	})
}
