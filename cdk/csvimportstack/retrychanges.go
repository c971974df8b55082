package csvimportstack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"stepback/adaptive/controller/decide"
)

// retryChanges names the rule for the controller's events, and the log group of its audit log.
const retryChanges = "retry-changes"

// addRetryChanges declares the rule for the controller's events about changes and proposals: each becomes a notice,
// and a record of an audit log. Other programs can react with rules of their own on the same source.
func (s *Stack) addRetryChanges() {
	// EventBridge may write only to log groups whose names begin with /aws/events/.
	audit := s.logGroup("RetryChangesLog", "/aws/events/"+*s.name(retryChanges))
	policy := awslogs.NewCfnResourcePolicy(s.Stack, jsii.String("RetryChangesMayLog"), &awslogs.CfnResourcePolicyProps{
		PolicyName: s.name(retryChanges),
		PolicyDocument: s.ToJsonString(map[string]any{"Version": "2012-10-17", "Statement": []any{map[string]any{
			"Effect":    "Allow",
			"Principal": map[string]any{"Service": []string{"events.amazonaws.com", "delivery.logs.amazonaws.com"}},
			"Action":    []string{"logs:CreateLogStream", "logs:PutLogEvents"},
			"Resource":  audit.LogGroupArn(),
			"Condition": map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": s.Account()}},
		}}}, nil),
	})
	rule := awsevents.NewCfnRule(s.Stack, jsii.String("RetryChanges"), &awsevents.CfnRuleProps{
		Name:        s.name(retryChanges),
		Description: jsii.String("Sends a notice about each change and proposal of the retry controller, and logs it"),
		EventPattern: map[string]any{
			"source":      []string{decide.EventSource},
			"detail-type": []string{decide.EventUpdate, decide.EventProposal},
			"resources":   []*string{s.StateMachine.StateMachineArn()},
		},
		Targets: []any{
			&awsevents.CfnRule_TargetProperty{
				Id: jsii.String("notices"), Arn: s.Notices.TopicArn(),
				InputTransformer: &awsevents.CfnRule_InputTransformerProperty{
					InputPathsMap: &map[string]*string{"kind": jsii.String("$.detail-type"), "text": jsii.String("$.detail.text"),
						"time": jsii.String("$.detail.timestamp")},
					InputTemplate: jsii.String(`"<kind> of ` + s.Environment.Prefix() + ` at <time>: <text>"`),
				},
			},
			&awsevents.CfnRule_TargetProperty{Id: jsii.String("log"), Arn: s.logGroupTarget(audit)},
		},
	})
	rule.AddDependency(policy)
	s.mayNotify("RetryChanges", retryChanges)
}

// mayNotify allows a rule to publish to the topic of notices.
func (s *Stack) mayNotify(sid, rule string) {
	s.Notices.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid:        jsii.String(sid),
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("events.amazonaws.com"), nil)},
		Actions:    jsii.Strings("sns:Publish"), Resources: &[]*string{s.Notices.TopicArn()},
		Conditions: &map[string]any{"ArnEquals": map[string]any{"aws:SourceArn": s.FormatArn(&awscdk.ArnComponents{
			Service: jsii.String("events"), Resource: jsii.String("rule"), ResourceName: s.name(rule),
		})}},
	}))
}

// logGroupTarget returns a log group's ARN as a rule takes it, without the :* at the end.
func (s *Stack) logGroupTarget(group awslogs.LogGroup) *string {
	return s.FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("logs"), Resource: jsii.String("log-group"), ResourceName: group.LogGroupName(),
		ArnFormat: awscdk.ArnFormat_COLON_RESOURCE_NAME,
	})
}
