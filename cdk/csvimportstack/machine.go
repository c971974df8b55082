package csvimportstack

import (
	"bytes"
	"encoding/json"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/jsii-runtime-go"

	"stepback/statemachine"
)

// mapLabels are the Labels of the definition's distributed Maps, which are part of the names of their Map Runs and child
// executions.
var mapLabels = []string{statemachine.ProcessUserRecords, statemachine.ValidateRanges}

// addStateMachine declares the state machine. It has a fixed name, because its own role refers to it.
func (s *Stack) addStateMachine(definition []byte) {
	name := s.Environment.Prefix()
	role := awsiam.NewRole(s.Stack, jsii.String("StateMachineRole"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("states.amazonaws.com"), &awsiam.ServicePrincipalOpts{
			Conditions: &map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": s.Account()}},
		}),
	})
	for _, statement := range s.stateMachineAccess(name) {
		role.AddToPolicy(statement)
	}
	// The prefix keeps CloudWatch from adding an entry for each log group to a resource policy of limited length.
	s.StateMachineLog = s.logGroup("StateMachineLog", "/aws/vendedlogs/states/"+name)
	s.StateMachine = awsstepfunctions.NewStateMachine(s.Stack, jsii.String("StateMachine"),
		&awsstepfunctions.StateMachineProps{
			StateMachineName: jsii.String(name), Role: role,
			DefinitionBody: awsstepfunctions.DefinitionBody_FromString(jsii.String(compact(definition))),
			DefinitionSubstitutions: &map[string]*string{
				"ValidateFunctionArn":  s.qualifiedARN(s.Validate),
				"ProcessFunctionArn":   s.qualifiedARN(s.Process),
				"AggregateFunctionArn": s.qualifiedARN(s.Aggregate),
				"ResultBucketName":     s.ResultBucket.BucketName(),
				"NotificationTopicArn": s.Imports.TopicArn(),
			},
			Logs: &awsstepfunctions.LogOptions{
				Destination:          s.StateMachineLog,
				Level:                awsstepfunctions.LogLevel(s.Environment.LogLevel),
				IncludeExecutionData: jsii.Bool(s.Environment.LogExecutionData),
			},
			TracingEnabled: jsii.Bool(true),
		})
	s.StateMachine.Node().AddDependency(role)
}

// stateMachineAccess returns the permissions that the definition needs. CDK cannot derive them, because the
// definition is text.
func (s *Stack) stateMachineAccess(name string) []awsiam.PolicyStatement {
	results := s.ResultBucket
	children := append([]*string{s.states("execution", name+":*")}, s.ofMaps("execution", name)...)
	return []awsiam.PolicyStatement{
		allow([]string{"lambda:InvokeFunction"}, s.invoked(s.Validate, s.Process, s.Aggregate)...),
		allow([]string{"sns:Publish"}, s.Imports.TopicArn()),
		// The ItemReader reads the copy of the upload, never the upload; the ResultWriter writes and joins its parts.
		allow([]string{"s3:GetObject"}, results.ArnForObjects(jsii.String("work/*"))),
		allow([]string{"s3:GetObject", "s3:PutObject", "s3:ListMultipartUploadParts", "s3:AbortMultipartUpload"},
			results.ArnForObjects(jsii.String("results/*"))),
		allow([]string{"states:StartExecution"}, s.states("stateMachine", name)),
		allow([]string{"states:DescribeExecution", "states:StopExecution", "states:RedriveExecution"}, children...),
	}
}

// ofMaps returns the ARNs of the Map Runs, or of the child executions, of a state machine's distributed Maps.
func (s *Stack) ofMaps(resource, machine string) []*string {
	arns := make([]*string, len(mapLabels))
	for i, label := range mapLabels {
		arns[i] = s.states(resource, machine+"/"+label+":*")
	}
	return arns
}

// invoked returns the ARNs of the functions that a definition calls, in every version: executions that started before a
// deployment call older ones.
func (s *Stack) invoked(functions ...awslambda.Function) []*string {
	var arns []*string
	for _, f := range functions {
		if s.apart {
			arns = append(arns, f.FunctionArn())
			continue
		}
		arns = append(arns, jsii.String(*f.FunctionArn()+":*"))
	}
	return arns
}

// states returns an ARN of Step Functions, built from names: a reference to the resource would create a cycle.
func (s *Stack) states(resource, name string) *string {
	return s.FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("states"), Resource: jsii.String(resource), ResourceName: jsii.String(name),
		ArnFormat: awscdk.ArnFormat_COLON_RESOURCE_NAME,
	})
}

// compact returns the definition without its indentation, which is a third of its size.
func compact(definition []byte) string {
	var text bytes.Buffer
	if err := json.Compact(&text, definition); err != nil {
		panic("the definition is not JSON: " + err.Error())
	}
	return text.String()
}
