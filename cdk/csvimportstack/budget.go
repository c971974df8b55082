package csvimportstack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsbudgets"
	"github.com/aws/jsii-runtime-go"
)

// deploymentTag is the tag that identifies a deployment's costs. It must be activated once as a cost allocation tag
// of the account.
const deploymentTag = "Deployment"

// addBudget publishes to Notices when 80 % of the month's budget is spent, and when the forecast exceeds 100 %.
func (s *Stack) addBudget() {
	if s.Environment.MonthlyBudget == 0 {
		return
	}
	mayPublish(s.Notices, "Budgets", "budgets.amazonaws.com", s.Account())
	notification := func(kind string, percent float64) *awsbudgets.CfnBudget_NotificationWithSubscribersProperty {
		return &awsbudgets.CfnBudget_NotificationWithSubscribersProperty{
			Notification: &awsbudgets.CfnBudget_NotificationProperty{
				NotificationType: jsii.String(kind), ComparisonOperator: jsii.String("GREATER_THAN"),
				Threshold: jsii.Number(percent), ThresholdType: jsii.String("PERCENTAGE"),
			},
			Subscribers: &[]any{&awsbudgets.CfnBudget_SubscriberProperty{
				SubscriptionType: jsii.String("SNS"), Address: s.Notices.TopicArn(),
			}},
		}
	}
	awsbudgets.NewCfnBudget(s.Stack, jsii.String("Budget"), &awsbudgets.CfnBudgetProps{
		Budget: &awsbudgets.CfnBudget_BudgetDataProperty{
			BudgetName: jsii.String(s.Environment.Prefix()), BudgetType: jsii.String("COST"),
			TimeUnit: jsii.String("MONTHLY"),
			BudgetLimit: &awsbudgets.CfnBudget_SpendProperty{
				Amount: jsii.Number(s.Environment.MonthlyBudget), Unit: jsii.String("USD"),
			},
			CostFilters: map[string]any{
				"TagKeyValue": jsii.Strings("user:" + deploymentTag + "$" + Name(s.Environment.Name)),
			},
		},
		NotificationsWithSubscribers: &[]any{notification("ACTUAL", 80), notification("FORECASTED", 100)},
	}).Node().AddDependency(s.Notices)
}
