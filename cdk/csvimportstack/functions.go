package csvimportstack

import (
	"path/filepath"
	"strconv"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"stepback/statemachine"
)

// function holds the settings of one Lambda function.
type function struct {
	id, name, description string
	memory                int // MB
	disk                  int // MiB of temporary disk; 0 means Lambda's default
	timeout               time.Duration
	instances             int  // reserved concurrency; 0 means unreserved
	quiet                 bool // logs nothing about successful invocations
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
		description: "States ValidateCSVFile and ValidateRange: check a file and write the copies that the Map reads",
		memory:      e.ValidateMemory, disk: e.ValidateDisk(), timeout: timeoutOf(statemachine.ValidateCSVFile),
		environment: s.guarded(map[string]*string{
			"CSV_MAX_BYTES":  jsii.String(strconv.FormatInt(e.MaxFileBytes, 10)),
			"CSV_PART_BYTES": jsii.String(strconv.FormatInt(e.PartBytes, 10)),
		}),
		access: append(s.guardAccess(),
			// Without permission to list, S3 returns 403 instead of 404 for missing objects.
			allow([]string{"s3:ListBucket"}, in.BucketArn()),
			allow([]string{"s3:GetObject"}, in.ArnForObjects(jsii.String("*"))),
			// GetObject: the plan of a large file, and the reports about its ranges
			allow([]string{"s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload"},
				results.ArnForObjects(jsii.String("work/*"))),
			// the dead letters of corrections files: which rows are dead, and the record in which they are claimed
			allow([]string{"s3:ListBucket"}, results.BucketArn()),
			allow([]string{"s3:GetObject"}, results.ArnForObjects(jsii.String("output/*"))),
			allow([]string{"s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload"},
				results.ArnForObjects(jsii.String("dead-letters/*"))),
		),
	})
	s.Process = s.function(bootstraps, function{
		id: "Process", name: "process", description: "State ProcessSingleUserRecord: adds one row's counts to its user, exactly once",
		memory: e.ProcessMemory, timeout: timeoutOf(statemachine.ProcessSingleUserRecord),
		environment: s.guarded(map[string]*string{
			"DATABASE_URL": db.url, "WAIT_LIMIT": jsii.String(statemachine.WaitLimit(e.Timeout).String()),
		}),
		access: append(s.guardAccess(), db.access), vpc: db.vpc,
		// With one invocation per row, three lines about each would cost as much as the invocations.
		quiet: e.Shape != statemachine.Bulk && !e.LogExecutionData,
	})
	s.Aggregate = s.function(bootstraps, function{
		id: "Aggregate", name: "aggregate", description: "State AggregateResults: checks that every row has an outcome and writes the summary",
		memory: e.AggregateMemory, disk: e.AggregateDisk(), timeout: timeoutOf(statemachine.AggregateResults),
		environment: s.guarded(map[string]*string{"DATABASE_URL": db.url}),
		access: append(s.guardAccess(), db.access,
			allow([]string{"s3:ListBucket"}, results.BucketArn()), // as above
			allow([]string{"s3:GetObject"}, results.ArnForObjects(jsii.String("*"))),
			allow([]string{"s3:PutObject", "s3:AbortMultipartUpload"}, results.ArnForObjects(jsii.String("output/*"))),
			// the results of the parts of a large file, until they are joined
			allow([]string{"s3:PutObject", "s3:AbortMultipartUpload"}, results.ArnForObjects(jsii.String("work/*"))),
		),
		vpc: db.vpc,
	})
	for _, r := range db.dependencies {
		s.Process.Node().AddDependency(r)
		s.Aggregate.Node().AddDependency(r)
	}
}

// guarded adds a function's variables for its breaker: the function shares the breaker of its callee with all other
// functions, publishes its state, and starts with a limit that admits the state machine's concurrent calls.
func (s *Stack) guarded(environment map[string]*string) map[string]*string {
	environment["BREAKER_TABLE"], environment["STATE_MACHINE"] = s.Breaker.TableName(),
		jsii.String(s.Environment.Prefix())
	if s.measuresRetryValue() {
		environment["CONFIGURATION_TABLE"] = s.RetryConfigurations.TableName()
		environment["MODEL_OBJECT"] = s.modelObject()
	}
	e := s.Environment
	if e.SourceBreaker {
		environment["BREAKER"] = jsii.String("source")
	}
	calls := statemachine.Options{Shape: e.Shape, Concurrency: e.Concurrency, BatchConcurrency: e.BatchConcurrency}.Calls()
	environment["CALLS_AT_A_TIME"] = jsii.String(strconv.Itoa(calls))
	return environment
}

// guardAccess returns the permissions of the guard in front of a function's work: reading and updating the shared
// breaker's item, and reading the controller's configuration of retries and the model of their success.
func (s *Stack) guardAccess() []awsiam.PolicyStatement {
	access := []awsiam.PolicyStatement{allow([]string{"dynamodb:GetItem", "dynamodb:UpdateItem"}, s.Breaker.TableArn())}
	if s.measuresRetryValue() {
		access = append(access, allow([]string{"dynamodb:GetItem"}, s.RetryConfigurations.TableArn()),
			// Without permission to list, S3 returns 403 instead of 404 as long as there is no model.
			allow([]string{"s3:ListBucket"}, s.ResultBucket.BucketArn()),
			allow([]string{"s3:GetObject"}, s.ResultBucket.ArnForObjects(jsii.String(modelKey))))
	}
	return access
}

// timeoutMargin is the time by which a function times out before its state. As a result, the function's error, which
// has a name and a message, arrives before States.Timeout. The function itself ends its work another second
// earlier.
const timeoutMargin = 2 * time.Second

// timeoutOf returns the timeout of a state's function: the state's timeout in the retry table, minus timeoutMargin.
func timeoutOf(state string) time.Duration {
	s, ok := statemachine.DefaultTable().State(state)
	if !ok {
		panic("the retry table lacks " + state)
	}
	return s.Timeout - timeoutMargin
}

// function declares a function with a log group and a role that allows only what it needs.
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
	// A version that the stack replaces stays: running executions call it, and so does a definition that is rolled
	// back.
	props.CurrentVersionOptions = &awslambda.VersionOptions{
		RemovalPolicy: awscdk.RemovalPolicy_RETAIN, Description: jsii.String(byDeployment),
	}
	if f.disk > 0 {
		props.EphemeralStorageSize = awscdk.Size_Mebibytes(jsii.Number(f.disk))
	}
	if f.instances > 0 && s.Environment.MayReserve() {
		props.ReservedConcurrentExecutions = jsii.Number(f.instances)
	}
	if f.quiet {
		// Lambda's own level for the function's output stays at INFO: it treats a line without a level, such as that
		// of a crash, as INFO. The function filters its own lines.
		props.LoggingFormat, props.SystemLogLevelV2 = awslambda.LoggingFormat_JSON, awslambda.SystemLogLevel_WARN
		f.environment["LOG_LEVEL"] = jsii.String("WARN")
	}
	made := awslambda.NewFunction(s.Stack, jsii.String(f.id), props)
	if f.vpc != nil {
		made.Node().DefaultChild().(awslambda.CfnFunction).SetVpcConfig(f.vpc)
		made.Node().AddDependency(role) // with its policy: Lambda tests the network interfaces at once
	}
	return made
}

// qualifiedARN returns the ARN of the function's version that the deployment publishes, or of the function itself on a
// platform without versions.
func (s *Stack) qualifiedARN(f awslambda.Function) *string {
	if s.apart {
		return f.FunctionArn()
	}
	return f.CurrentVersion().FunctionArn()
}

func (s *Stack) architecture() awslambda.Architecture {
	if s.Environment.Architecture == "x86_64" {
		return awslambda.Architecture_X86_64()
	}
	return awslambda.Architecture_ARM_64()
}

// noInterfacesFor denies the function's code the permissions on network interfaces, which only Lambda itself needs
// from the function's role.
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

// networkInterfaces allows Lambda to place a function into a VPC. The interfaces have no names before they exist.
func networkInterfaces() awsiam.PolicyStatement {
	return allow([]string{
		"ec2:CreateNetworkInterface", "ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets",
		"ec2:DeleteNetworkInterface",
		"ec2:AssignPrivateIpAddresses", "ec2:UnassignPrivateIpAddresses",
	}, jsii.String("*"))
}
