package csvimportstack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/jsii-runtime-go"
)

// liveAlias is the alias of each state machine through which its executions are started. It points at the version of the
// last deployment, or at one that the controller has published since.
const liveAlias = "live"

// byDeployment is the description of versions that a deployment publishes. By it, the controller (package
// adaptive/controller) distinguishes them from its own versions and takes them as its base.
const byDeployment = "deployment"

// addAliases publishes a version of each state machine with each deployment that changes it, and points its alias at it.
func (s *Stack) addAliases() {
	if s.apart {
		return
	}
	s.addAlias("StateMachine", s.StateMachine, "Version with which imports are started",
		"executions-failed", "executions-timed-out", "many-dead-letters")
	s.addAlias("FilesStateMachine", s.FilesStateMachine, "Version with which imports of many files are started",
		"files-executions-failed", "files-executions-timed-out")
}

// addAlias declares the version and the alias of a state machine. The alias points at a new version either at once or
// first for a share of the new executions. In the second case, the deployment is rolled back if one of the alarms fires
// meanwhile.
func (s *Stack) addAlias(id string, of awsstepfunctions.StateMachine, description string, alarms ...string) {
	machine := of.Node().DefaultChild().(awsstepfunctions.CfnStateMachine)
	version := awsstepfunctions.NewCfnStateMachineVersion(s.Stack, jsii.String(id+"Version"),
		&awsstepfunctions.CfnStateMachineVersionProps{
			StateMachineArn: of.StateMachineArn(), Description: jsii.String(byDeployment),
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
		names := make([]string, len(alarms))
		for i, name := range alarms {
			names[i] = *s.name(name)
		}
		preference.Alarms = jsii.Strings(names...)
	}
	alias := awsstepfunctions.NewCfnStateMachineAlias(s.Stack, jsii.String(id+"Alias"),
		&awsstepfunctions.CfnStateMachineAliasProps{
			Name: jsii.String(liveAlias), Description: jsii.String(description), DeploymentPreference: preference,
		})
	for _, child := range *s.Node().Children() {
		if alarm, ok := child.(awscloudwatch.CfnAlarm); ok {
			alias.Node().AddDependency(alarm)
		}
	}
	s.ObjectCreated.Node().AddDependency(alias)
}

// startedARN returns the ARN through which executions of a state machine, given by its name, are started: the alias, or
// the state machine if there is none. It is built from names, because a reference would create a cycle: the alias depends
// on alarms, and the alarms on functions.
func (s *Stack) startedARN(machine string) *string {
	if s.apart {
		return s.states("stateMachine", machine)
	}
	return s.states("stateMachine", machine+":"+liveAlias)
}

// mayStart allows a role to start executions of a state machine, but only through the alias. Step Functions authorizes
// aliases by the state machine's ARN and a condition.
func (s *Stack) mayStart(machineARN *string) awsiam.PolicyStatement {
	props := &awsiam.PolicyStatementProps{
		Actions: jsii.Strings("states:StartExecution"), Resources: &[]*string{machineARN},
	}
	if !s.apart {
		props.Conditions = &map[string]any{"ForAnyValue:StringEquals": map[string]any{
			"states:StateMachineQualifier": []string{liveAlias},
		}}
	}
	return awsiam.NewPolicyStatement(props)
}
