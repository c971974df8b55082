package csvimportstack

import (
	"path/filepath"
	"strconv"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"stepback/retrymetrics"
	"stepback/statemachine"
)

// function is what one Lambda function has of its own.
type function struct {
	id, name, description string
	memory                int // MB
	disk                  int // MiB of temporary disk; 0 is what every function has
	timeout               time.Duration
	instances             int  // at a time, reserved for it; 0 is as many as there is room for
	quiet                 bool // logs nothing about invocations that went well
	environment           map[string]*string
	access                []awsiam.PolicyStatement
	vpc                   *awslambda.CfnFunction_VpcConfigProperty
}

// addFunctions declares the functions of the state machine's task states.
func (s *Stack) addFunctions(bootstraps string, db database) {
	e := s.Environment
	in, results := s.InputBucket, s.ResultBucket
	s.Validate = s.function(bootstraps, function{
		id: "Validate", name: "validate",
		description: "State ValidateCSVFile: reads a file and copies it for the Map",
		memory:      e.ValidateMemory, disk: e.ValidateDisk(), timeout: timeoutOf(statemachine.ValidateCSVFile),
		environment: s.guarded(map[string]*string{
			"CSV_MAX_BYTES": jsii.String(strconv.FormatInt(e.MaxFileBytes, 10)),
		}),
		access: append(s.guardAccess(),
			// Without the right to list, S3 answers 403 in place of 404 for what is not there.
			allow([]string{"s3:ListBucket"}, in.BucketArn()),
			allow([]string{"s3:GetObject"}, in.ArnForObjects(jsii.String("*"))),
			allow([]string{"s3:PutObject", "s3:AbortMultipartUpload"}, results.ArnForObjects(jsii.String("work/*"))),
		),
	})
	s.Process = s.function(bootstraps, function{
		id: "Process", name: "process", description: "State ProcessSingleUserRecord: adds one row's counts to its user, exactly once",
		memory: e.ProcessMemory, timeout: timeoutOf(statemachine.ProcessSingleUserRecord),
		environment: s.guarded(map[string]*string{"DATABASE_URL": db.url}),
		access:      append(s.guardAccess(), db.access), vpc: db.vpc,
		// One invocation for each row: three lines about each would cost as much as the invocations.
		quiet: e.LogLevel == string(retrymetrics.LevelError),
	})
	s.Aggregate = s.function(bootstraps, function{
		id: "Aggregate", name: "aggregate", description: "State AggregateResults: accounts for every row",
		memory: e.AggregateMemory, disk: e.AggregateDisk(), timeout: timeoutOf(statemachine.AggregateResults),
		environment: s.guarded(map[string]*string{"DATABASE_URL": db.url}),
		access: append(s.guardAccess(), db.access,
			allow([]string{"s3:ListBucket"}, results.BucketArn()), // as above
			allow([]string{"s3:GetObject"}, results.ArnForObjects(jsii.String("*"))),
			allow([]string{"s3:PutObject", "s3:AbortMultipartUpload"}, results.ArnForObjects(jsii.String("output/*"))),
		),
		vpc: db.vpc,
	})
	for _, r := range db.ready {
		s.Process.Node().AddDependency(r)
		s.Aggregate.Node().AddDependency(r)
	}
}

// guarded adds what a function reads to share the breaker of what it calls with all others, to publish its state, and
// to begin with a limit that lets through what the state machine calls at a time.
func (s *Stack) guarded(environment map[string]*string) map[string]*string {
	environment["BREAKER_TABLE"], environment["STATE_MACHINE"] = s.Breaker.TableName(),
		jsii.String(s.Environment.Prefix())
	if s.judges() {
		environment["CONFIGURATION_TABLE"] = s.RetryConfigurations.TableName()
	}
	e := s.Environment
	calls := statemachine.Options{Shape: e.Shape, Concurrency: e.Concurrency, BatchConcurrency: e.BatchConcurrency}.Calls()
	environment["CALLS_AT_A_TIME"] = jsii.String(strconv.Itoa(calls))
	return environment
}

// guardAccess is what the guard in front of a function's work takes: reading the shared breaker's item and changing it,
// and reading what the controller tells about retries.
func (s *Stack) guardAccess() []awsiam.PolicyStatement {
	access := []awsiam.PolicyStatement{allow([]string{"dynamodb:GetItem", "dynamodb:UpdateItem"}, s.Breaker.TableArn())}
	if s.judges() {
		access = append(access, allow([]string{"dynamodb:GetItem"}, s.RetryConfigurations.TableArn()))
	}
	return access
}

// ahead is how much earlier than its state a function runs out of time, so that its error, which has a name and a
// message, is there before States.Timeout. The function itself ends its work another second earlier.
const ahead = 2 * time.Second

// timeoutOf is the timeout of the function of a state: a little below the one that the retry table gives the state.
func timeoutOf(state string) time.Duration {
	s, ok := statemachine.DefaultTable().State(state)
	if !ok {
		panic("the retry table lacks " + state)
	}
	return s.Timeout - ahead
}

// function declares a function with a log group and a role that allows it nothing but what it is for.
func (s *Stack) function(bootstraps string, f function) awslambda.Function {
	name := *s.name(f.name)
	logs := s.logGroup(f.id+"Log", "/aws/lambda/"+name)
	s.logs[f.id] = logs
	role := awsiam.NewRole(s.Stack, jsii.String(f.id+"Role"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
	})
	role.AddToPolicy(allow([]string{"logs:CreateLogStream", "logs:PutLogEvents"}, logs.LogGroupArn()))
	for _, statement := range f.access {
		role.AddToPolicy(statement)
	}
	if f.vpc != nil {
		role.AddToPolicy(networkInterfaces())
		role.AddToPolicy(s.noInterfacesFor(name))
	}
	props := &awslambda.FunctionProps{
		FunctionName: jsii.String(name), Description: jsii.String(f.description),
		Runtime: awslambda.Runtime_PROVIDED_AL2023(), Handler: jsii.String(executable), Architecture: s.architecture(),
		Code:        awslambda.Code_FromAsset(jsii.String(filepath.Join(bootstraps, f.name)), nil),
		MemorySize:  jsii.Number(f.memory),
		Timeout:     awscdk.Duration_Seconds(jsii.Number(f.timeout.Seconds())),
		Environment: &f.environment, Role: role, LogGroup: logs, Tracing: awslambda.Tracing_ACTIVE,
	}
	if f.disk > 0 {
		props.EphemeralStorageSize = awscdk.Size_Mebibytes(jsii.Number(f.disk))
	}
	if f.instances > 0 && s.Environment.MayReserve() {
		props.ReservedConcurrentExecutions = jsii.Number(f.instances)
	}
	if f.quiet {
		// Lambda's own level for what the function prints stays at INFO: it takes a line without a level, such as that
		// of a crash, for INFO. The function keeps back what it has to say itself.
		props.LoggingFormat, props.SystemLogLevelV2 = awslambda.LoggingFormat_JSON, awslambda.SystemLogLevel_WARN
		f.environment["LOG_LEVEL"] = jsii.String("WARN")
	}
	made := awslambda.NewFunction(s.Stack, jsii.String(f.id), props)
	if f.vpc != nil {
		made.Node().DefaultChild().(awslambda.CfnFunction).SetVpcConfig(f.vpc)
		made.Node().AddDependency(role) // with its policy: Lambda tries the interfaces out at once
	}
	return made
}

func (s *Stack) architecture() awslambda.Architecture {
	if s.Environment.Architecture == "x86_64" {
		return awslambda.Architecture_X86_64()
	}
	return awslambda.Architecture_ARM_64()
}

// noInterfacesFor keeps the code of a function from the rights that Lambda itself needs of its role.
func (s *Stack) noInterfacesFor(name string) awsiam.PolicyStatement {
	statement := networkInterfaces()
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Effect: awsiam.Effect_DENY, Actions: statement.Actions(), Resources: statement.Resources(),
		Conditions: &map[string]any{"ArnEquals": map[string]any{
			"lambda:SourceFunctionArn": s.FormatArn(&awscdk.ArnComponents{
				Service: jsii.String("lambda"), Resource: jsii.String("function"), ResourceName: jsii.String(name),
				ArnFormat: awscdk.ArnFormat_COLON_RESOURCE_NAME,
			}),
		}},
	})
}

// networkInterfaces lets Lambda place a function into a VPC. The interfaces have no names before they exist.
func networkInterfaces() awsiam.PolicyStatement {
	return allow([]string{
		"ec2:CreateNetworkInterface", "ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets",
		"ec2:DeleteNetworkInterface",
		"ec2:AssignPrivateIpAddresses", "ec2:UnassignPrivateIpAddresses",
	}, jsii.String("*"))
}
