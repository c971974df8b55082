package csvimportstack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/jsii-runtime-go"
)

// liveAlias is the alias of the state machine through which imports are started. It points at the version of the last
// deployment, or at one that the controller has published since.
const liveAlias = "live"

// byDeployment is the description of versions that a deployment publishes. By it, the controller (package
// adaptive/controller) distinguishes them from its own versions and takes them as its base.
const byDeployment = "deployment"

// addAlias publishes a version of the state machine with each deployment that changes it, and points the alias at
// it, either at once or first for a share of the new imports. In the second case, the deployment is rolled back if
// one of the alarms on failing executions fires meanwhile.
func (s *Stack) addAlias() {
	if s.apart {
		return
	}
	machine := s.StateMachine.Node().DefaultChild().(awsstepfunctions.CfnStateMachine)
	version := awsstepfunctions.NewCfnStateMachineVersion(s.Stack, jsii.String("StateMachineVersion"),
		&awsstepfunctions.CfnStateMachineVersionProps{
			StateMachineArn: s.StateMachine.StateMachineArn(), Description: jsii.String(byDeployment),
			StateMachineRevisionId: machine.AttrStateMachineRevisionId(),
		})
	// Executions under way, and a rollback, need the previous version.
	version.ApplyRemovalPolicy(awscdk.RemovalPolicy_RETAIN, nil)
	preference := &awsstepfunctions.CfnStateMachineAlias_DeploymentPreferenceProperty{
		StateMachineVersionArn: version.AttrArn(), Type: jsii.String("ALL_AT_ONCE"),
	}
	if c := s.Environment.Canary; c.Percentage > 0 {
		preference.Type, preference.Percentage = jsii.String("CANARY"), jsii.Number(c.Percentage)
		preference.Interval = jsii.Number(c.Minutes)
		preference.Alarms = jsii.Strings(s.rollbackAlarms()...)
	}
	alias := awsstepfunctions.NewCfnStateMachineAlias(s.Stack, jsii.String("StateMachineAlias"),
		&awsstepfunctions.CfnStateMachineAliasProps{
			Name: jsii.String(liveAlias), Description: jsii.String("Version with which imports are started"),
			DeploymentPreference: preference,
		})
	for _, child := range *s.Node().Children() {
		if alarm, ok := child.(awscloudwatch.CfnAlarm); ok {
			alias.Node().AddDependency(alarm)
		}
	}
	s.ObjectCreated.Node().AddDependency(alias)
}

// rollbackAlarms returns the names of the alarms that roll a deployment back.
func (s *Stack) rollbackAlarms() []string {
	var names []string
	for _, name := range []string{"executions-failed", "executions-timed-out", "many-dead-letters"} {
		names = append(names, s.Environment.Prefix()+"-"+name)
	}
	return names
}

// startedARN returns the ARN through which imports are started: the alias, or the state machine if there is none.
// It is built from names, because a reference would create a cycle: the alias depends on alarms, and the alarms on
// functions.
func (s *Stack) startedARN() *string {
	if s.apart {
		return s.StateMachine.StateMachineArn()
	}
	return s.states("stateMachine", s.Environment.Prefix()+":"+liveAlias)
}

// mayStart allows a function to start imports, but only through the alias. Step Functions authorizes aliases by the
// state machine's ARN and a condition.
func (s *Stack) mayStart() awsiam.PolicyStatement {
	props := &awsiam.PolicyStatementProps{
		Actions: jsii.Strings("states:StartExecution"), Resources: &[]*string{s.StateMachine.StateMachineArn()},
	}
	if !s.apart {
		props.Conditions = &map[string]any{"ForAnyValue:StringEquals": map[string]any{
			"states:StateMachineQualifier": []string{liveAlias},
		}}
	}
	return awsiam.NewPolicyStatement(props)
}
