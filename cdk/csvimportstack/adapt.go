package csvimportstack

import (
	"strconv"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awseventstargets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"stepback/adaptive/controller/decide"
	"stepback/cdk/environment"
)

// adaptFunction names both the controller's function and the folder of its bootstrap.
const adaptFunction = "adapt"

// addAdapt declares the controller that adapts retries to measurements, if the environment has one.
func (s *Stack) addAdapt(bootstraps string) {
	mode := s.Environment.Adapt
	if !s.hasAdapt() {
		return
	}
	variables := map[string]*string{
		"STATE_MACHINE_ARN":   s.StateMachine.StateMachineArn(),
		"STATE_MACHINE_ALIAS": s.startedARN(s.Environment.Prefix()),
		"CONFIGURATION_TABLE": s.RetryConfigurations.TableName(),
		"DRY_RUN":             jsii.String(strconv.FormatBool(mode == environment.AdaptDryRun)),
	}
	for name, value := range s.Environment.Control.Variables() {
		variables[name] = jsii.String(value)
	}
	access := s.adaptAccess(mode)
	if s.measuresRetryValue() {
		variables["RECORD_VALUE"] = jsii.String(strconv.FormatFloat(s.Environment.RecordValue, 'g', -1, 64))
		variables["FUNCTION_MEMORY"] = jsii.String(strconv.Itoa(s.Environment.ProcessMemory))
		variables["FUNCTION_ARCHITECTURE"] = jsii.String(s.Environment.Architecture)
		access = append(access, s.historiesAccess()...)
	}
	f := s.function(bootstraps, function{
		id: "Adapt", name: adaptFunction, description: "Adapts the state machine's retries to measured failures",
		memory: environment.AdaptMemory, timeout: time.Minute, environment: variables, access: access,
	})
	s.invokeEvery(f, "AdaptSchedule", "adapt", "Invokes the retry controller")
	s.addRetryChanges()
}

func (s *Stack) hasAdapt() bool { return s.Environment.Adapt != environment.AdaptOff }

// measuresRetryValue reports whether the value of retries is measured.
func (s *Stack) measuresRetryValue() bool { return s.hasAdapt() && s.Environment.RecordValue > 0 }

// historiesAccess allows a function to read the histories of executions, including those of the Map's children.
func (s *Stack) historiesAccess() []awsiam.PolicyStatement {
	name := s.Environment.Prefix()
	executions := append([]*string{s.states("execution", name+":*")}, s.ofMaps("execution", name)...)
	return []awsiam.PolicyStatement{
		allow([]string{"states:GetExecutionHistory", "states:DescribeStateMachineForExecution"}, executions...),
		allow([]string{"states:ListExecutions"}, s.ofMaps("mapRun", name)...),
	}
}

// adaptAccess grants the controller the permissions it needs. A dry run may write its own row and send events, and
// change nothing else.
func (s *Stack) adaptAccess(mode environment.AdaptMode) []awsiam.PolicyStatement {
	name := s.Environment.Prefix()
	machine := s.StateMachine.StateMachineArn()
	mapRuns := s.ofMaps("mapRun", name)
	table := s.RetryConfigurations.TableArn()
	access := []awsiam.PolicyStatement{
		allow([]string{"states:DescribeStateMachine", "states:DescribeStateMachineAlias", "states:ListExecutions"},
			machine),
		allow([]string{"states:ListMapRuns"}, s.states("execution", name+":*")),
		allow([]string{"states:DescribeMapRun"}, mapRuns...),
		allow([]string{"dynamodb:GetItem", "dynamodb:PutItem"}, table),
		allow([]string{"cloudwatch:GetMetricData"}, jsii.String("*")), // metrics have no ARN
		awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Actions: jsii.Strings("events:PutEvents"),
			Resources: &[]*string{s.FormatArn(&awscdk.ArnComponents{
				Service: jsii.String("events"), Resource: jsii.String("event-bus"), ResourceName: jsii.String("default"),
			})},
			Conditions: &map[string]any{"StringEquals": map[string]any{"events:source": decide.EventSource}},
		}),
	}
	if mode == environment.AdaptDryRun {
		return access
	}
	return append(access,
		// The definition keeps its role, so iam:PassRole is not needed. Old versions are deleted after a change.
		allow([]string{"states:UpdateStateMachine", "states:PublishStateMachineVersion",
			"states:UpdateStateMachineAlias", "states:ListStateMachineVersions", "states:DeleteStateMachineVersion"}, machine),
		allow([]string{"states:UpdateMapRun"}, mapRuns...))
}

// maxEventAge is the longest time for which Lambda keeps an event.
const maxEventAge = 6 * time.Hour

// invokeEvery invokes a function on the environment's schedule, without retries: the next scheduled invocation is the
// retry.
func (s *Stack) invokeEvery(f awslambda.Function, id, rule, description string) {
	minutes := s.Environment.Schedule(rule).Minutes
	awslambda.NewCfnEventInvokeConfig(s.Stack, jsii.String(id+"Retries"), &awslambda.CfnEventInvokeConfigProps{
		FunctionName: f.FunctionName(), Qualifier: jsii.String("$LATEST"),
		MaximumRetryAttempts: jsii.Number(0), MaximumEventAgeInSeconds: jsii.Number(min(max(minutes*60, 60), maxEventAge.Seconds())),
	})
	awsevents.NewRule(s.Stack, jsii.String(id), &awsevents.RuleProps{
		RuleName: s.name(rule), Description: jsii.String(description),
		Schedule: awsevents.Schedule_Rate(awscdk.Duration_Minutes(jsii.Number(minutes))),
		Targets: &[]awsevents.IRuleTarget{awseventstargets.NewLambdaFunction(f, &awseventstargets.LambdaFunctionProps{
			RetryAttempts: jsii.Number(0), MaxEventAge: awscdk.Duration_Minutes(jsii.Number(max(minutes, 1))),
		})},
	})
}
