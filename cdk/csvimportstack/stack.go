// Package csvimportstack declares the CSV import on AWS: buckets, functions, the state machine, its start by S3
// events, its tables, topics and database, its metrics, dashboard and alarms.
//
// It contains neither the settings that differ between environments nor the state machine; both are passed to it.
package csvimportstack

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"stepback/cdk/environment"
	"stepback/statemachine"
)

// Props are the inputs of a stack.
type Props struct {
	Environment environment.Environment
	// BootstrapFolder has a folder for each function (validate, process, aggregate, start, metrics, adapt, relay,
	// prune, train, files) with its executable for the environment's architecture, named bootstrap.
	BootstrapFolder string
	// Rewrite adapts the definitions to a platform that differs from AWS; nil changes nothing.
	Rewrite func(definition []byte) ([]byte, error)
	// DashboardApart omits the dashboard, for a platform that has dashboards but does not support them in
	// CloudFormation.
	DashboardApart bool
}

// Stack is the CSV import in one environment.
type Stack struct {
	awscdk.Stack
	Environment environment.Environment

	InputBucket, ResultBucket    awss3.Bucket
	Pages, Notices, Imports      awssns.Topic
	UndeliveredEvents            awssqs.Queue // events that could not start an execution
	UndeliveredNotifications     awssqs.Queue // messages of the topics that reached no subscriber
	RetryConfigurations, Breaker awsdynamodb.Table
	Validate, Process, Aggregate awslambda.Function
	Start, Metrics               awslambda.Function
	Files                        awslambda.Function
	StateMachine                 awsstepfunctions.StateMachine
	FilesStateMachine            awsstepfunctions.StateMachine // imports many files as one
	ObjectCreated                awsevents.Rule
	StateMachineLog              awslogs.LogGroup
	FilesStateMachineLog         awslogs.LogGroup
	Dashboard                    awscloudwatch.CfnDashboard

	alarmARNs []string                    // in the dashboard's order
	cluster   string                      // the identifier of the database cluster that the stack creates
	apart     bool                        // dashboards, versions and queries are not part of the stack
	logs      map[string]awslogs.LogGroup // log groups by function id
}

// Name returns the name of an environment's stack.
func Name(environmentName string) string { return "stepback-" + environmentName }

// New declares the stack. It returns an error if the environment is invalid, or if Lambda could not start one of the
// bootstraps.
func New(scope constructs.Construct, props Props) (*Stack, error) {
	e := props.Environment
	if err := e.Validate(); err != nil {
		return nil, err
	}
	definition, err := definition(e, props.Rewrite)
	var files []byte
	if err == nil {
		files, err = filesDefinition(e, props.Rewrite)
	}
	if err == nil {
		err = checkBootstraps(props.BootstrapFolder, e.Architecture)
	}
	if err != nil {
		return nil, fmt.Errorf("environment %q: %w", e.Name, err)
	}
	s := &Stack{Environment: e, logs: map[string]awslogs.LogGroup{}, Stack: awscdk.NewStack(scope, jsii.String(Name(e.Name)), &awscdk.StackProps{
		Description:           jsii.String("stepback: CSV import with retries, " + e.Name),
		AnalyticsReporting:    jsii.Bool(false),
		TerminationProtection: jsii.Bool(e.KeepData),
		Synthesizer: awscdk.NewDefaultStackSynthesizer(&awscdk.DefaultStackSynthesizerProps{
			GenerateBootstrapVersionRule: jsii.Bool(false),
		}),
	})}
	// CloudFormation supports tags on dashboards, but cfn-lint 1.51 and other endpoints do not know them.
	tagged := &awscdk.TagProps{ExcludeResourceTypes: jsii.Strings("AWS::CloudWatch::Dashboard")}
	awscdk.Tags_Of(s.Stack).Add(jsii.String("Application"), jsii.String("stepback"), tagged)
	awscdk.Tags_Of(s.Stack).Add(jsii.String("Environment"), jsii.String(e.Name), tagged)
	awscdk.Tags_Of(s.Stack).Add(jsii.String(deploymentTag), jsii.String(Name(e.Name)), tagged)
	for tag, value := range map[string]string{"Owner": e.Owner, "CostCenter": e.CostCenter} {
		if value != "" {
			awscdk.Tags_Of(s.Stack).Add(jsii.String(tag), jsii.String(value), tagged)
		}
	}
	s.apart = props.DashboardApart
	s.addBuckets()
	s.addTopics()
	s.addTables()
	db := s.addDatabase()
	s.addFunctions(props.BootstrapFolder, db)
	s.addStateMachine(definition)
	s.addFiles(props.BootstrapFolder, files)
	s.addStart(props.BootstrapFolder)
	s.addMetrics(props.BootstrapFolder)
	s.addAdapt(props.BootstrapFolder)
	s.addRelay(props.BootstrapFolder, db)
	s.addPrune(props.BootstrapFolder)
	s.addTrain(props.BootstrapFolder)
	err = s.addAlarms()
	if err == nil && !props.DashboardApart {
		err = s.addDashboard()
	}
	if err != nil {
		return nil, fmt.Errorf("environment %q: %w", e.Name, err)
	}
	s.addAliases()
	s.addRunbook()
	if !s.apart {
		s.addQueries()
	}
	s.addBudget()
	s.addOutputs()
	return s, nil
}

// definition returns the environment's state machine with placeholders for the names of resources.
func definition(e environment.Environment, rewrite func([]byte) ([]byte, error)) ([]byte, error) {
	o := statemachine.Substitutions()
	o.Shape = e.Shape
	o.Concurrency, o.BatchSize, o.BatchConcurrency = e.Concurrency, e.BatchSize, e.BatchConcurrency
	o.RangeConcurrency = e.RangeConcurrency
	o.ToleratedFailurePercentage, o.Timeout = e.ToleratedFailurePercentage, e.Timeout
	table := statemachine.DefaultTable()
	if o.Express = e.Express; e.Express {
		table = statemachine.ExpressTable()
	}
	text, err := statemachine.Definition(table, o)
	if err != nil || rewrite == nil {
		return text, err
	}
	return rewrite(text)
}

// filesDefinition returns the environment's state machine of many files with placeholders for the names of resources.
func filesDefinition(e environment.Environment, rewrite func([]byte) ([]byte, error)) ([]byte, error) {
	o := statemachine.FilesSubstitutions()
	o.Concurrency, o.ImportTimeout = e.FilesConcurrency, e.Timeout
	text, err := statemachine.FilesDefinition(statemachine.FilesTable(o.ImportTimeout), o)
	if err != nil || rewrite == nil {
		return text, err
	}
	return rewrite(text)
}

// nameOf returns the physical name of a resource, or "" if it does not exist.
func (s *Stack) nameOf(part string, exists bool) string {
	if !exists {
		return ""
	}
	return *s.name(part)
}

// name returns the physical name of a resource.
func (s *Stack) name(part string) *string { return jsii.String(s.Environment.Prefix() + "-" + part) }

// removal returns what happens to data when the stack is deleted. What a failed first deployment created is not data:
// if it were kept, the next deployment would fail because its names are taken.
func (s *Stack) removal() awscdk.RemovalPolicy {
	if s.Environment.KeepData {
		return awscdk.RemovalPolicy_RETAIN_ON_UPDATE_OR_DELETE
	}
	return awscdk.RemovalPolicy_DESTROY
}
