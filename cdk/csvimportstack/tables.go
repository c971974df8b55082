package csvimportstack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/jsii-runtime-go"
)

// addTables declares the table of the controller, if there is one, with one item for each state machine, and the table of
// circuit breakers, with one item for each callee. Their keys are defined by packages adaptive/controller and
// adaptive/shared/dynamostore. Items expire at their ttl, in Unix seconds.
func (s *Stack) addTables() {
	if s.hasAdapt() {
		s.RetryConfigurations = s.table("RetryConfigurations", &awsdynamodb.TableProps{
			TableName:           s.name("retry_configurations"),
			PartitionKey:        text("state_machine"),
			TimeToLiveAttribute: jsii.String("ttl"),
		})
	}
	s.Breaker = s.table("CircuitBreakers", &awsdynamodb.TableProps{
		TableName:           s.name("circuit_breakers"),
		PartitionKey:        text("callee"),
		TimeToLiveAttribute: jsii.String("ttl"),
	})
}

func (s *Stack) table(id string, props *awsdynamodb.TableProps) awsdynamodb.Table {
	props.BillingMode = awsdynamodb.BillingMode_PAY_PER_REQUEST
	props.RemovalPolicy = s.removal()
	props.DeletionProtection = jsii.Bool(s.Environment.KeepData)
	props.PointInTimeRecoverySpecification = &awsdynamodb.PointInTimeRecoverySpecification{
		PointInTimeRecoveryEnabled: jsii.Bool(s.Environment.KeepData),
	}
	return awsdynamodb.NewTable(s.Stack, jsii.String(id), props)
}

func text(name string) *awsdynamodb.Attribute {
	return &awsdynamodb.Attribute{Name: jsii.String(name), Type: awsdynamodb.AttributeType_STRING}
}
