package csvimportstack

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/jsii-runtime-go"

	"stepback/statemachine"
)

// filesFunction names the function of ListFiles and SumFiles, the folder of its bootstrap, and the state machine that
// imports many files as one.
const filesFunction = "files"

// stagedPrefix is the key prefix of objects in the input bucket that start no import of their own: they wait for an
// import of many files.
const stagedPrefix = "staged/"

// filesMemory is the function's memory in MB: the list of 100,000 files whose keys are as long as S3 allows takes 300.
const filesMemory = 1024

// addFiles declares the state machine that imports many files as one, and its function.
func (s *Stack) addFiles(bootstraps string, definition []byte) {
	in, results := s.InputBucket, s.ResultBucket
	name := *s.name(filesFunction)
	s.Files = s.function(bootstraps, function{
		id: "Files", name: filesFunction,
		description: "States ListFiles and SumFiles: list the files of a prefix or a manifest, and add up their imports",
		memory:      filesMemory, timeout: filesTimeout(),
		environment: map[string]*string{"INPUT_BUCKET": in.BucketName(), "STATE_MACHINE": jsii.String(name)},
		access: []awsiam.PolicyStatement{
			// the files of a prefix; without permission to list, S3 returns 403 instead of 404 for missing objects
			allow([]string{"s3:ListBucket"}, in.BucketArn(), results.BucketArn()),
			allow([]string{"s3:GetObject"}, in.ArnForObjects(jsii.String("*"))), // manifests, and HeadObject of each file
			allow([]string{"s3:GetObject", "s3:PutObject"}, results.ArnForObjects(jsii.String("work/files/*"))),
			allow([]string{"s3:GetObject"}, results.ArnForObjects(jsii.String("results/files/*")),
				results.ArnForObjects(jsii.String("output/*"))), // the summaries of the files
			allow([]string{"s3:PutObject"}, results.ArnForObjects(jsii.String("imports/*"))),
		},
	})
	role := awsiam.NewRole(s.Stack, jsii.String("FilesStateMachineRole"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("states.amazonaws.com"), &awsiam.ServicePrincipalOpts{
			Conditions: &map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": s.Account()}},
		}),
	})
	for _, statement := range s.filesAccess(name) {
		role.AddToPolicy(statement)
	}
	s.FilesStateMachineLog = s.logGroup("FilesStateMachineLog", "/aws/vendedlogs/states/"+name)
	s.FilesStateMachine = awsstepfunctions.NewStateMachine(s.Stack, jsii.String("FilesStateMachine"),
		&awsstepfunctions.StateMachineProps{
			StateMachineName: jsii.String(name), Role: role,
			DefinitionBody: awsstepfunctions.DefinitionBody_FromString(jsii.String(compact(definition))),
			DefinitionSubstitutions: &map[string]*string{
				"FilesFunctionArn":      s.qualifiedARN(s.Files),
				"ImportStateMachineArn": s.startedARN(s.Environment.Prefix()),
				"ImportExecutionsArn":   s.states("execution", s.Environment.Prefix()),
				"ResultBucketName":      results.BucketName(),
				"NotificationTopicArn":  s.Imports.TopicArn(),
			},
			Logs: &awsstepfunctions.LogOptions{
				Destination:          s.FilesStateMachineLog,
				Level:                awsstepfunctions.LogLevel(s.Environment.LogLevel),
				IncludeExecutionData: jsii.Bool(s.Environment.LogExecutionData),
			},
			TracingEnabled: jsii.Bool(true),
		})
	s.FilesStateMachine.Node().AddDependency(role)
}

// filesAccess returns the permissions that the definition of many files needs.
func (s *Stack) filesAccess(name string) []awsiam.PolicyStatement {
	results, imports := s.ResultBucket, s.Environment.Prefix()
	children := []*string{s.states("execution", name+":*"), s.states("execution", name+"/"+statemachine.ImportFiles+":*")}
	return []awsiam.PolicyStatement{
		allow([]string{"lambda:InvokeFunction"}, s.invoked(s.Files)...),
		allow([]string{"sns:Publish"}, s.Imports.TopicArn()),
		allow([]string{"s3:GetObject"}, results.ArnForObjects(jsii.String("work/files/*"))),
		allow([]string{"s3:GetObject", "s3:PutObject", "s3:ListMultipartUploadParts", "s3:AbortMultipartUpload"},
			results.ArnForObjects(jsii.String("results/files/*"))),
		// the Map's children
		allow([]string{"states:StartExecution"}, s.states("stateMachine", name)),
		allow([]string{"states:DescribeExecution", "states:StopExecution", "states:RedriveExecution"}, children...),
		// the imports of the files; Step Functions learns of their ends through its managed rule
		s.mayStart(s.StateMachine.StateMachineArn()),
		allow([]string{"states:DescribeExecution", "states:StopExecution"}, s.states("execution", imports+":*")),
		allow([]string{"events:PutTargets", "events:PutRule", "events:DescribeRule"}, s.FormatArn(&awscdk.ArnComponents{
			Service: jsii.String("events"), Resource: jsii.String("rule"),
			ResourceName: jsii.String("StepFunctionsGetEventsForStepFunctionsExecutionRule"),
		})),
	}
}

// filesTimeout returns the function's timeout, before that of its states.
func filesTimeout() time.Duration {
	listing, ok := statemachine.FilesTable(time.Hour).State(statemachine.ListFiles)
	if !ok {
		panic("the retry table of many files lacks " + statemachine.ListFiles)
	}
	return listing.Timeout - timeoutMargin
}
