package csvimportstack_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"stepback/asl"
	"stepback/cdk/csvimportstack"
	"stepback/cdk/environment"
	"stepback/localstack"
	"stepback/statemachine"
)

func TestDefinitionIsTheStateMachines(t *testing.T) {
	e := environment.Dev()
	e.BatchSize, e.ToleratedFailurePercentage = 50, 2.5
	machine := synth(t, e).only(t, "AWS::StepFunctions::StateMachine", "StateMachine")
	got := []byte(machine.Properties["DefinitionString"].(string))

	o := statemachine.Substitutions()
	o.Concurrency, o.BatchSize, o.ToleratedFailurePercentage = 10, 50, 2.5
	want, err := statemachine.Definition(statemachine.DefaultTable(), o)
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if json.Unmarshal(got, &a) != nil || json.Unmarshal(want, &b) != nil || !reflect.DeepEqual(a, b) {
		t.Error("the deployed definition is not that of package statemachine")
	}
	if _, problems := asl.Parse(string(got)); len(problems) != 0 {
		t.Errorf("%v", problems)
	}
}

func TestEverySubstitutionIsBound(t *testing.T) {
	machine := synth(t, environment.Prod()).only(t, "AWS::StepFunctions::StateMachine", "StateMachine")
	placeholder := regexp.MustCompile(`\$\{(\w+)\}`)
	used := map[string]bool{}
	for _, match := range placeholder.FindAllStringSubmatch(machine.Properties["DefinitionString"].(string), -1) {
		used[match[1]] = true
	}
	bound := machine.Properties["DefinitionSubstitutions"].(map[string]any)
	if len(used) == 0 || len(used) != len(bound) {
		t.Errorf("%d placeholders, %d substitutions", len(used), len(bound))
	}
	for name := range used {
		if bound[name] == nil {
			t.Errorf("${%s} is not bound", name)
		}
	}
}

func TestMapLabelIsTheDefinitions(t *testing.T) {
	x := synth(t, environment.Prod())
	label := "csv-import-prod/ProcessUserRecords:*"
	if !strings.Contains(x.only(t, "AWS::StepFunctions::StateMachine", "StateMachine").Properties["DefinitionString"].(string),
		`"Label":"ProcessUserRecords"`) {
		t.Error("the distributed Map has another label")
	}
	if !strings.Contains(compact(t, x.only(t, "AWS::IAM::Policy", "StateMachineRole")), ":execution:"+label) {
		t.Error("the role may not describe the Map's child executions")
	}
}

// wildcards lists the actions for which AWS supports no narrower resource than *, with the reason.
var wildcards = map[string]string{
	"xray:PutTraceSegments": "traces have no ARN", "xray:PutTelemetryRecords": "traces have no ARN",
	"xray:GetSamplingRules": "not bound to a resource", "xray:GetSamplingTargets": "not bound to a resource",
	"logs:CreateLogDelivery": "deliveries have no ARN", "logs:GetLogDelivery": "deliveries have no ARN",
	"logs:UpdateLogDelivery": "deliveries have no ARN", "logs:DeleteLogDelivery": "deliveries have no ARN",
	"logs:ListLogDeliveries": "deliveries have no ARN", "logs:PutResourcePolicy": "policies of the account",
	"logs:DescribeResourcePolicies": "policies of the account", "logs:DescribeLogGroups": "a list of all",
	"cloudwatch:GetMetricData":       "metrics have no ARN",
	"ec2:CreateNetworkInterface":     "has no name before it exists",
	"ec2:DeleteNetworkInterface":     "has no name before it exists",
	"ec2:AssignPrivateIpAddresses":   "has no name before it exists",
	"ec2:UnassignPrivateIpAddresses": "has no name before it exists",
	"ec2:DescribeNetworkInterfaces":  "a list of all", "ec2:DescribeSubnets": "a list of all",
}

func TestNoWildcardThatCouldBeNarrower(t *testing.T) {
	policies := synth(t, environment.Prod()).ofType("AWS::IAM::Policy")
	for id, policy := range synth(t, environment.Dev()).ofType("AWS::IAM::Policy") {
		policies["dev "+id] = policy // with the controller
	}
	for id, policy := range policies {
		document := policy.Properties["PolicyDocument"].(map[string]any)
		for _, raw := range document["Statement"].([]any) {
			statement := raw.(map[string]any)
			for _, action := range each(statement["Action"]) {
				name := action.(string)
				if strings.Contains(name, "*") {
					t.Errorf("%s allows %s", id, name)
				}
				if slices.Contains(each(statement["Resource"]), any("*")) && wildcards[name] == "" {
					t.Errorf("%s allows %s on everything", id, name)
				}
			}
		}
	}
}

// each returns a list, or wraps the single value that CloudFormation writes instead of a list of one.
func each(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}

func TestBucketsAreClosed(t *testing.T) {
	x := synth(t, environment.Prod())
	for id, b := range x.ofType("AWS::S3::Bucket") {
		closed := `{"BlockPublicAcls":true,"BlockPublicPolicy":true,"IgnorePublicAcls":true,"RestrictPublicBuckets":true}`
		if got := compact(t, b.Properties["PublicAccessBlockConfiguration"]); got != closed {
			t.Errorf("%s: %s", id, got)
		}
		if !strings.Contains(compact(t, b.Properties["BucketEncryption"]), "AES256") ||
			b.Properties["LifecycleConfiguration"] == nil || b.DeletionPolicy != keptOnceMade {
			t.Errorf("%s is not encrypted, forgets nothing or goes with the stack", id)
		}
	}
	policies := x.ofType("AWS::S3::BucketPolicy")
	if len(policies) != 2 {
		t.Errorf("%d bucket policies", len(policies))
	}
	for id, p := range policies {
		if !strings.Contains(compact(t, p.Properties), `{"Bool":{"aws:SecureTransport":"false"}},"Effect":"Deny"`) {
			t.Errorf("%s admits plain HTTP", id)
		}
	}
	const events = `{"EventBridgeConfiguration":{"EventBridgeEnabled":true}}`
	if got := compact(t, x.only(t, "AWS::S3::Bucket",
		"InputBucket").Properties["NotificationConfiguration"]); got != events {
		t.Errorf("the input bucket announces %s", got)
	}
	if got := x.only(t, "AWS::S3::Bucket", "ResultBucket").Properties["NotificationConfiguration"]; got != nil {
		t.Error("the result bucket announces its objects, and a normalised copy would be imported again")
	}
}

func TestFunctions(t *testing.T) {
	x := synth(t, environment.Prod())
	for id, want := range map[string]string{
		"Validate":  `{"disk":{"Size":512},"memory":1024,"timeout":298,"vpc":false}`,
		"Process":   `{"disk":null,"memory":512,"timeout":28,"vpc":true}`,
		"Aggregate": `{"disk":{"Size":3840},"memory":1024,"timeout":118,"vpc":true}`,
		"Start":     `{"disk":null,"memory":128,"timeout":30,"vpc":false}`,
		"Metrics":   `{"disk":null,"memory":1769,"timeout":60,"vpc":false}`,
		"Files":     `{"disk":null,"memory":1024,"timeout":298,"vpc":false}`,
	} {
		p := x.only(t, "AWS::Lambda::Function", id).Properties
		got := compact(t, map[string]any{"memory": p["MemorySize"], "timeout": p["Timeout"],
			"disk": p["EphemeralStorage"], "vpc": p["VpcConfig"] != nil})
		if got != want {
			t.Errorf("%s is %s, want %s", id, got, want)
		}
		if p["Runtime"] != "provided.al2023" || p["Handler"] != "bootstrap" ||
			compact(t, p["Architectures"]) != `["arm64"]` ||
			compact(t, p["TracingConfig"]) != `{"Mode":"Active"}` {
			t.Errorf("%s: %s", id, compact(t, p))
		}
	}
}

// The tables have the keys with which packages adaptive/controller and adaptive/shared/dynamostore read them.
func TestTablesHaveTheKeysOfTheirPrograms(t *testing.T) {
	x := synth(t, environment.Prod())
	for id, want := range map[string]string{
		"RetryConfigurations": `[{"AttributeName":"state_machine","KeyType":"HASH"}]`,
		"CircuitBreakers":     `[{"AttributeName":"callee","KeyType":"HASH"}]`,
	} {
		p := x.only(t, "AWS::DynamoDB::Table", id).Properties
		if got := compact(t, p["KeySchema"]); got != want {
			t.Errorf("%s has the key %s, want %s", id, got, want)
		}
		if got := compact(t, p["TimeToLiveSpecification"]); got != `{"AttributeName":"ttl","Enabled":true}` {
			t.Errorf("%s expires by %s", id, got)
		}
	}
}

func TestFunctionsShareABreaker(t *testing.T) {
	x := synth(t, environment.Prod())
	for _, id := range []string{"Validate", "Process", "Aggregate"} {
		variables := compact(t, x.only(t, "AWS::Lambda::Function", id).Properties["Environment"])
		if !strings.Contains(variables, `"BREAKER_TABLE":{"Ref":"CircuitBreakers`) ||
			!strings.Contains(variables, `"STATE_MACHINE":"csv-import-prod"`) {
			t.Errorf("%s has %s", id, variables)
		}
		const access = `{"Action":["dynamodb:GetItem","dynamodb:UpdateItem"],"Effect":"Allow","Resource":{"Fn::GetAtt":["CircuitBreakers`
		if got := compact(t, x.only(t, "AWS::IAM::Policy", id+"Role").Properties); !strings.Contains(got, access) {
			t.Errorf("%s may not use the breaker: %s", id, got)
		}
	}
	gateways := 0
	for _, e := range x.ofType("AWS::EC2::VPCEndpoint") {
		if strings.Contains(compact(t, e.Properties["ServiceName"]), "dynamodb") && e.Properties["VpcEndpointType"] == "Gateway" {
			gateways++
		}
	}
	if gateways != 1 {
		t.Error("functions in the VPC cannot reach the breaker's table")
	}
}

func TestController(t *testing.T) {
	without := environment.Prod()
	without.Adapt = environment.AdaptOff
	for _, e := range append(environment.All(), without) {
		x := synth(t, e)
		functions, schedules := 0, 0
		for id := range x.Resources {
			if strings.HasPrefix(id, "Adapt") {
				switch x.Resources[id].Type {
				case "AWS::Lambda::Function":
					functions++
				case "AWS::Events::Rule":
					schedules++
					if got := x.Resources[id].Properties["ScheduleExpression"]; got != "rate(1 minute)" {
						t.Errorf("%s: the controller looks at %v", e.Name, got)
					}
				}
			}
		}
		if want := map[environment.AdaptMode]int{environment.AdaptOff: 0}[e.Adapt]; e.Adapt == environment.AdaptOff {
			if tables := x.ofType("AWS::DynamoDB::Table"); functions != want || schedules != want || len(tables) != 1 {
				t.Errorf("%s has a controller, or its table", e.Name)
			}
			continue
		}
		if functions != 1 || schedules != 1 {
			t.Fatalf("%s: %d functions, %d schedules", e.Name, functions, schedules)
		}
		policy := compact(t, x.only(t, "AWS::IAM::Policy", "AdaptRole").Properties)
		changes := []string{"states:UpdateStateMachine", "states:PublishStateMachineVersion", "states:UpdateMapRun",
			"states:DeleteStateMachineVersion"}
		for _, right := range changes {
			if strings.Contains(policy, right) != (e.Adapt == environment.AdaptOn) {
				t.Errorf("%s: the controller's mode is %q, and %s in %s", e.Name, e.Adapt, right, policy)
			}
		}
		for _, right := range []string{"states:DescribeStateMachine", "states:ListExecutions", "states:ListMapRuns",
			"states:DescribeMapRun", "dynamodb:GetItem", "dynamodb:PutItem", "cloudwatch:GetMetricData",
			`"Condition":{"StringEquals":{"events:source":"csv.processing.retry.manager"}}`} {
			if !strings.Contains(policy, right) {
				t.Errorf("%s: the controller may not %s", e.Name, right)
			}
		}
	}
}

func TestRelay(t *testing.T) {
	x := synth(t, environment.Prod())
	f := x.only(t, "AWS::Lambda::Function", "Relay").Properties
	if got := compact(t, f["Environment"]); !strings.Contains(got, `"SINK":{"Ref":"`) ||
		!strings.Contains(got, "postgres+iam://") || f["VpcConfig"] == nil || f["Timeout"] != 55.0 {
		t.Errorf("the relay is %s", compact(t, f))
	}
	endpoint := x.only(t, "AWS::EC2::VPCEndpoint", "NetworkSink").Properties
	if !strings.Contains(compact(t, endpoint["ServiceName"]), "sns") || len(endpoint["SubnetIds"].([]any)) != 1 {
		t.Errorf("the relay reaches its topic by %s", compact(t, endpoint))
	}
	e := environment.Prod()
	e.Relay.To = "arn:aws:sqs:eu-west-1:123456789012:orders"
	x = synth(t, e)
	const access = `{"Action":["sqs:GetQueueUrl","sqs:SendMessage"],"Effect":"Allow","Resource":"arn:aws:sqs:eu-west-1:123456789012:orders"}`
	if got := compact(t, x.only(t, "AWS::IAM::Policy", "RelayRole").Properties); !strings.Contains(got, access) {
		t.Errorf("the relay may %s", got)
	}
	for id := range synth(t, environment.Dev()).Resources {
		if strings.HasPrefix(id, "Relay") {
			t.Errorf("dev has %s, which keeps its database awake", id)
		}
	}
}

func TestObjectsStartExecutions(t *testing.T) {
	x := synth(t, environment.Dev())
	rule := x.only(t, "AWS::Events::Rule", "ObjectCreated").Properties
	pattern := compact(t, rule["EventPattern"])
	if !strings.HasPrefix(pattern, `{"detail":{"bucket":{"name":[{"Ref":"InputBucket`) ||
		!strings.HasSuffix(pattern, `]},"object":{"key":[{"anything-but":{"prefix":"staged/"}},{"suffix":".manifest"}]}},`+
			`"detail-type":["Object Created"],"source":["aws.s3"]}`) {
		t.Errorf("pattern %s", pattern)
	}
	targets := compact(t, rule["Targets"])
	for _, part := range []string{`"Fn::GetAtt":["Start`, `"DeadLetterConfig":{"Arn":{"Fn::GetAtt":["UndeliveredEvents`,
		`"MaximumEventAgeInSeconds":7200`} {
		if !strings.Contains(targets, part) {
			t.Errorf("targets %s lack %s", targets, part)
		}
	}
	if !strings.Contains(compact(t, x.only(t, "AWS::Lambda::EventInvokeConfig", "StartRetries")),
		`"OnFailure":{"Destination":{"Fn::GetAtt":["UndeliveredEvents`) {
		t.Error("an event on which the function fails is lost")
	}
}

// keptOnceMade keeps what a stack leaves, except after a failed first deployment, because the next one needs the
// names.
const keptOnceMade = "RetainExceptOnCreate"

func TestDataStaysWithProdAndGoesWithDev(t *testing.T) {
	for want, e := range map[string]environment.Environment{keptOnceMade: environment.Prod(),
		"Delete": environment.Dev()} {
		x := synth(t, e)
		for _, kind := range []string{"AWS::S3::Bucket", "AWS::DynamoDB::Table", "AWS::Logs::LogGroup"} {
			for id, r := range x.ofType(kind) {
				if r.DeletionPolicy != want && !strings.HasPrefix(id, "DatabaseLogin") {
					t.Errorf("%s: %s is %s, want %s", e.Name, id, r.DeletionPolicy, want)
				}
			}
		}
	}
}

// A new account runs ten concurrent invocations and allows no reservations.
func TestASmallAccount(t *testing.T) {
	x := synth(t, environment.Dev().Within(10))
	if f := x.only(t, "AWS::Lambda::Function", "Metrics").Properties; f["ReservedConcurrentExecutions"] != nil {
		t.Errorf("%v instances are reserved, which Lambda refuses", f["ReservedConcurrentExecutions"])
	}
	if text := x.only(t, "AWS::StepFunctions::StateMachine",
		"StateMachine").Properties["DefinitionString"].(string); !strings.Contains(text, `"MaxConcurrency":9,`) {
		t.Error("the Map takes all invocations of the account")
	}
}

func TestTablesAndLogs(t *testing.T) {
	x := synth(t, environment.Prod())
	if got := compact(t, x.only(t, "AWS::DynamoDB::Table",
		"RetryConfigurations").Properties["TimeToLiveSpecification"]); got != `{"AttributeName":"ttl","Enabled":true}` {
		t.Errorf("ttl %s", got)
	}
	x.only(t, "AWS::DynamoDB::Table", "CircuitBreakers")
	for id, group := range x.ofType("AWS::Logs::LogGroup") {
		if group.Properties["RetentionInDays"] != 90.0 {
			t.Errorf("%s is kept for %v days", id, group.Properties["RetentionInDays"])
		}
	}
	machine := x.only(t, "AWS::StepFunctions::StateMachine", "StateMachine").Properties
	if name := x.only(t, "AWS::Logs::LogGroup",
		"StateMachineLog").Properties["LogGroupName"]; name != "/aws/vendedlogs/states/csv-import-prod" {
		t.Errorf("the state machine logs to %v", name)
	}
	logging := machine["LoggingConfiguration"].(map[string]any)
	if logging["Level"] != "ALL" || logging["IncludeExecutionData"] != false ||
		compact(t, machine["TracingConfiguration"]) != `{"Enabled":true}` {
		t.Errorf("logging %s", compact(t, logging))
	}
}

func TestSubscriptions(t *testing.T) {
	e := environment.Dev()
	e.Pages.Endpoints = []string{"https://example.com/pager"}
	e.Notices.Emails, e.Imports.Emails = []string{"ann@example.com"}, []string{"ben@example.com"}
	x := synth(t, e)
	var got []string
	for _, s := range x.ofType("AWS::SNS::Subscription") {
		topic := strings.TrimRight(s.Properties["TopicArn"].(map[string]any)["Ref"].(string), "0123456789ABCDEF")
		got = append(got, topic+" "+s.Properties["Protocol"].(string)+" "+s.Properties["Endpoint"].(string))
		if !strings.Contains(compact(t, s.Properties["RedrivePolicy"]), `"Fn::GetAtt":["UndeliveredNotifications`) {
			t.Errorf("what does not reach %s is lost", s.Properties["Endpoint"])
		}
	}
	slices.Sort(got)
	want := []string{"Imports email ben@example.com", "Notices email ann@example.com",
		"Pages https https://example.com/pager"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	// The results of imports do not page.
	substitutions := compact(t, x.only(t, "AWS::StepFunctions::StateMachine", "StateMachine").Properties["DefinitionSubstitutions"])
	if !strings.Contains(substitutions, `"NotificationTopicArn":{"Ref":"Imports`) {
		t.Errorf("imports report to %s", substitutions)
	}
}

// TestImportsAreStartedByAnAlias: each state machine has a version for each deployment and an alias, the canary of which
// is watched by alarms of that state machine. Only through the alias are executions started.
func TestImportsAreStartedByAnAlias(t *testing.T) {
	x, dev := synth(t, environment.Prod()), synth(t, environment.Dev())
	alarms := map[string]bool{}
	for _, a := range x.ofType("AWS::CloudWatch::Alarm") {
		alarms[a.Properties["AlarmName"].(string)] = true
	}
	variables := variablesOf(x.only(t, "AWS::Lambda::Function", "Start"))
	for _, c := range []struct {
		machine, variable, started string
		alarms                     []string
	}{
		{"StateMachine", "STATE_MACHINE_ARN", ":stateMachine:csv-import-prod:live", []string{
			"csv-import-prod-executions-failed", "csv-import-prod-executions-timed-out", "csv-import-prod-many-dead-letters"}},
		{"FilesStateMachine", "FILES_STATE_MACHINE_ARN", ":stateMachine:csv-import-prod-files:live", []string{
			"csv-import-prod-files-executions-failed", "csv-import-prod-files-executions-timed-out"}},
	} {
		preference := compact(t, x.only(t, "AWS::StepFunctions::StateMachineAlias", c.machine).Properties["DeploymentPreference"])
		if !strings.HasPrefix(preference, `{"Alarms":["`+strings.Join(c.alarms, `","`)+
			`"],"Interval":15,"Percentage":20,"StateMachineVersionArn":{"Fn::GetAtt":["`+c.machine+`Version`) ||
			!strings.HasSuffix(preference, `"Type":"CANARY"}`) {
			t.Errorf("%s is deployed by %s", c.machine, preference)
		}
		for _, name := range c.alarms {
			if !alarms[name] {
				t.Errorf("the alarm %s, which rolls a deployment back, is not declared", name)
			}
		}
		version := x.only(t, "AWS::StepFunctions::StateMachineVersion", c.machine)
		if version.DeletionPolicy != "Retain" || !strings.Contains(compact(t, version.Properties),
			`"StateMachineRevisionId":{"Fn::GetAtt":["`+c.machine) {
			t.Errorf("version %s", compact(t, version))
		}
		if started := text(t, variables[c.variable]); !strings.HasSuffix(started, c.started) {
			t.Errorf("executions of %s are started by %s", c.machine, started)
		}
		preference = compact(t, dev.only(t, "AWS::StepFunctions::StateMachineAlias", c.machine).Properties["DeploymentPreference"])
		if !strings.HasSuffix(preference, `"Type":"ALL_AT_ONCE"}`) {
			t.Errorf("in dev %s is deployed by %s", c.machine, preference)
		}
	}
	for _, s := range x.statements(t) {
		if strings.HasPrefix(s.owner, "StartRole") && slices.Contains(s.actions, "states:StartExecution") &&
			s.condition != `{"ForAnyValue:StringEquals":{"states:StateMachineQualifier":["live"]}}` {
			t.Errorf("the function start may start %s on the condition %s", s.resources, s.condition)
		}
	}
}

// TestExecutionsKeepTheirCode: the definitions call versions of the functions, which change with the code and outlive
// their replacement, the roles may call every version, and the function prune deletes those that nothing uses.
func TestExecutionsKeepTheirCode(t *testing.T) {
	x := synth(t, environment.Prod())
	substitutions := ""
	for _, id := range []string{"StateMachine", "FilesStateMachine"} {
		substitutions += compact(t, x.only(t, "AWS::StepFunctions::StateMachine", id).Properties["DefinitionSubstitutions"])
	}
	versions := x.ofType("AWS::Lambda::Version")
	if len(versions) != 4 {
		t.Errorf("%d versions", len(versions))
	}
	for id, v := range versions {
		if v.DeletionPolicy != "Retain" || !strings.Contains(substitutions, `FunctionArn":{"Ref":"`+id+`"}`) {
			t.Errorf("%s is deleted with its replacement, or not called: %s", id, substitutions)
		}
	}
	prune := x.only(t, "AWS::Lambda::Function", "Prune")
	names := compact(t, variablesOf(prune)["FUNCTION_NAMES"])
	for f, role := range map[string]string{"Validate": "StateMachineRole", "Process": "StateMachineRole",
		"Aggregate": "StateMachineRole", "Files": "FilesStateMachineRole"} {
		every := regexp.MustCompile(`\{"Fn::GetAtt":\["` + f + `[0-9A-F]+","Arn"\]\},":\*"`)
		if policy := compact(t, x.only(t, "AWS::IAM::Policy", role).Properties); !every.MatchString(policy) {
			t.Errorf("the state machine may not call older versions of %s: %s", f, policy)
		}
		if policy := compact(t, x.only(t, "AWS::IAM::Policy", "PruneRole").Properties); !every.MatchString(policy) ||
			!regexp.MustCompile(`"Ref":"`+f+`[0-9A-F]+"`).MatchString(names) {
			t.Errorf("prune may not delete versions of %s, or does not know it: %s, %s", f, names, policy)
		}
	}
	machines := compact(t, variablesOf(prune)["STATE_MACHINE_ARNS"])
	if !regexp.MustCompile(`"Ref":"StateMachine[0-9A-F]+"`).MatchString(machines) ||
		!regexp.MustCompile(`"Ref":"FilesStateMachine[0-9A-F]+"`).MatchString(machines) {
		t.Errorf("prune deletes versions of %s", machines)
	}
	e := environment.Prod()
	e.ProcessMemory++
	for id := range synth(t, e).ofType("AWS::Lambda::Version") {
		if _, same := versions[id]; same == strings.HasPrefix(id, "Process") {
			t.Errorf("after a change of Process, the version %s is the same: %v", id, same)
		}
	}
}

// TestManyFilesAsOne: the state machine of many files is that of package statemachine, starts imports through the alias, and
// may only do what its definition needs.
func TestManyFilesAsOne(t *testing.T) {
	x := synth(t, environment.Prod())
	machine := x.only(t, "AWS::StepFunctions::StateMachine", "FilesStateMachine").Properties
	want, err := statemachine.FilesDefinition(statemachine.FilesTable(24*time.Hour), statemachine.FilesSubstitutions())
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if json.Unmarshal([]byte(machine["DefinitionString"].(string)), &a) != nil || json.Unmarshal(want, &b) != nil ||
		!reflect.DeepEqual(a, b) {
		t.Error("the deployed definition is not that of package statemachine")
	}
	if machine["StateMachineName"] != "csv-import-prod-files" {
		t.Errorf("its name is %v", machine["StateMachineName"])
	}
	bound := machine["DefinitionSubstitutions"].(map[string]any)
	if len(bound) != 5 || !strings.HasSuffix(text(t, bound["ImportStateMachineArn"]), ":stateMachine:csv-import-prod:live") ||
		!strings.HasSuffix(text(t, bound["ImportExecutionsArn"]), ":execution:csv-import-prod") {
		t.Errorf("substitutions %s", compact(t, bound))
	}
	var access []string
	for _, s := range x.statements(t) {
		if strings.HasPrefix(s.owner, "FilesStateMachineRole") && !strings.HasSuffix(s.resources, `"*"`) {
			access = append(access, s.actions...)
		}
	}
	slices.Sort(access)
	if got, want := strings.Join(slices.Compact(access), " "), "events:DescribeRule events:PutRule events:PutTargets "+
		"lambda:InvokeFunction s3:AbortMultipartUpload s3:GetObject s3:ListMultipartUploadParts s3:PutObject sns:Publish "+
		"states:DescribeExecution states:RedriveExecution states:StartExecution states:StopExecution"; got != want {
		t.Errorf("the role may %s, want %s", got, want)
	}
	policy := compact(t, x.only(t, "AWS::IAM::Policy", "FilesStateMachineRole").Properties)
	for _, part := range []string{`:execution:csv-import-prod-files/ImportFiles:*`, `:execution:csv-import-prod:*`, `"/work/files/*"`,
		`"/results/files/*"`, `"Condition":{"ForAnyValue:StringEquals":{"states:StateMachineQualifier":["live"]}}`,
		`:rule/StepFunctionsGetEventsForStepFunctionsExecutionRule"`} {
		if !strings.Contains(policy, part) {
			t.Errorf("the role's policy lacks %s: %s", part, policy)
		}
	}
	if start := compact(t, x.only(t, "AWS::IAM::Policy", "StartRole").Properties); !strings.Contains(start, `{"Ref":"FilesStateMachine`) {
		t.Errorf("manifests start nothing: %s", start)
	}
}

func TestSavedQueries(t *testing.T) {
	x := synth(t, environment.Dev())
	queries := x.ofType("AWS::Logs::QueryDefinition")
	if len(queries) != 9 {
		t.Errorf("%d queries", len(queries))
	}
	for id, q := range queries {
		groups, _ := q.Properties["LogGroupNames"].([]any)
		if len(groups) == 0 || !strings.HasPrefix(q.Properties["Name"].(string), "csv-import-dev/") {
			t.Errorf("%s: %s", id, compact(t, q.Properties))
		}
	}
}

func TestBudgetAndTags(t *testing.T) {
	e := environment.Prod()
	e.Owner, e.CostCenter, e.MonthlyBudget = "data", "4711", 500
	x := synth(t, e)
	budget := compact(t, x.only(t, "AWS::Budgets::Budget", "").Properties)
	for _, part := range []string{`"Amount":500`, `"TagKeyValue":["user:Deployment$stepback-prod"]`,
		`"Address":{"Ref":"Notices`} {
		if !strings.Contains(budget, part) {
			t.Errorf("the budget %s lacks %s", budget, part)
		}
	}
	tags := compact(t, x.only(t, "AWS::S3::Bucket", "InputBucket").Properties["Tags"])
	for _, tag := range []string{`{"Key":"CostCenter","Value":"4711"}`, `{"Key":"Deployment","Value":"stepback-prod"}`,
		`{"Key":"Owner","Value":"data"}`} {
		if !strings.Contains(tags, tag) {
			t.Errorf("the tags %s lack %s", tags, tag)
		}
	}
	if len(synth(t, environment.Prod()).ofType("AWS::Budgets::Budget")) != 0 {
		t.Error("there is a budget of 0")
	}
}

func TestProdsBucketsKeepWhatIsReplaced(t *testing.T) {
	e := environment.Prod()
	e.AccessLogBucket = "company-access-logs"
	for id, b := range synth(t, e).ofType("AWS::S3::Bucket") {
		if got := compact(t, b.Properties["VersioningConfiguration"]); got != `{"Status":"Enabled"}` {
			t.Errorf("%s: %s", id, got)
		}
		if got := compact(t, b.Properties["LifecycleConfiguration"]); !strings.Contains(got,
			`"NoncurrentVersionExpiration":{"NoncurrentDays":30}`) {
			t.Errorf("%s keeps old versions for ever: %s", id, got)
		}
		if got := compact(t, b.Properties["LoggingConfiguration"]); !strings.HasPrefix(got,
			`{"DestinationBucketName":"company-access-logs","LogFilePrefix":"csv-import-prod/`) {
			t.Errorf("%s logs to %s", id, got)
		}
	}
}

// The runbook contains the guide's section on each alarm, and the alarms link to it.
func TestRunbook(t *testing.T) {
	x := synth(t, environment.Prod())
	body := text(t, x.only(t, "AWS::CloudWatch::Dashboard", "Runbook").Properties["DashboardBody"])
	for id, a := range x.ofType("AWS::CloudWatch::Alarm") {
		name := strings.TrimPrefix(a.Properties["AlarmName"].(string), "csv-import-prod-")
		if !strings.Contains(body, `"markdown":"### `+name+`\n`) && !strings.HasPrefix(name, "budget-") {
			t.Errorf("the runbook says nothing of %s", name)
		}
		if link := text(t, a.Properties["AlarmDescription"]); !strings.HasSuffix(link,
			"console.aws.amazon.com/cloudwatch/home?region=AWS::Region#dashboards/dashboard/CSV-Processing-Runbook-prod") {
			t.Errorf("%s: %s", id, link)
		}
	}
	if strings.Contains(body, "](") {
		t.Error("the runbook has links into the repository")
	}
}

func TestAurora(t *testing.T) {
	dev, prod := synth(t, environment.Dev()), synth(t, environment.Prod())
	cluster := dev.only(t, "AWS::RDS::DBCluster", "Database").Properties
	if got := compact(t, cluster["ServerlessV2ScalingConfiguration"]); got != `{"MaxCapacity":2,"MinCapacity":0,"SecondsUntilAutoPause":600}` {
		t.Errorf("dev scales %s", got)
	}
	for _, on := range []string{"StorageEncrypted", "EnableIAMDatabaseAuthentication", "ManageMasterUserPassword",
		"EnableHttpEndpoint"} {
		if cluster[on] != true {
			t.Errorf("%s is off", on)
		}
	}
	kept := prod.only(t, "AWS::RDS::DBCluster", "Database")
	if kept.DeletionPolicy != "Snapshot" || kept.Properties["DeletionProtection"] != true ||
		len(prod.ofType("AWS::RDS::DBInstance")) != 2 {
		t.Error("prod's database is not guarded, or stands alone")
	}
	if len(prod.ofType("AWS::EC2::NatGateway"))+len(prod.ofType("AWS::EC2::InternetGateway")) != 0 {
		t.Error("the VPC has a way to the internet")
	}
	process := prod.only(t, "AWS::Lambda::Function", "Process")
	if got := compact(t, dev.only(t, "AWS::Lambda::Function",
		"Process").Properties["Environment"]); !strings.Contains(got, "connect_timeout=20") {
		t.Errorf("a record does not wait for a paused cluster: %s", got)
	}
	if url := compact(t, process.Properties["Environment"]); !strings.Contains(url, "postgres+iam://stepback@") ||
		strings.Contains(url, "password") {
		t.Errorf("environment %s", url)
	}
	if !slices.ContainsFunc(process.DependsOn, func(id string) bool { return strings.HasPrefix(id, "DatabaseLogin") }) {
		t.Error("the function may run before its user exists")
	}
}

func TestExistingDatabase(t *testing.T) {
	e := environment.Dev()
	e.Database = environment.Database{SecretARN: "arn:aws:secretsmanager:us-east-1:123456789012:secret:db-a1b2c3"}
	x := synth(t, e)
	if len(x.ofType("AWS::RDS::DBCluster"))+len(x.ofType("AWS::EC2::VPC")) != 0 {
		t.Error("a database is created beside the existing one")
	}
	for _, id := range []string{"Process", "Aggregate"} {
		const url = `"DATABASE_URL":"secretsmanager:arn:aws:secretsmanager:us-east-1:123456789012:secret:db-a1b2c3"`
		if got := compact(t, x.only(t, "AWS::Lambda::Function", id).Properties["Environment"]); !strings.Contains(got,
			url) {
			t.Errorf("%s has %s", id, got)
		}
		const access = `{"Action":"secretsmanager:GetSecretValue","Effect":"Allow","Resource":"arn:aws:secretsmanager:us-east-1:123456789012:secret:db-a1b2c3"}`
		if got := compact(t, x.only(t, "AWS::IAM::Policy", id+"Role").Properties); !strings.Contains(got, access) {
			t.Errorf("%s may not read the secret: %s", id, got)
		}
	}
	e.Database.SubnetIDs, e.Database.SecurityGroupIDs = []string{"subnet-0123456789abcdef0"},
		[]string{"sg-0123456789abcdef0"}
	const vpc = `{"SecurityGroupIds":["sg-0123456789abcdef0"],"SubnetIds":["subnet-0123456789abcdef0"]}`
	if got := compact(t, synth(t, e).only(t, "AWS::Lambda::Function", "Process").Properties["VpcConfig"]); got != vpc {
		t.Errorf("VPC %s", got)
	}
}

func TestLocalIsRewritten(t *testing.T) {
	e := environment.Local("arn:aws:secretsmanager:us-east-1:000000000000:secret:db-a1b2c3", "x86_64")
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: jsii.String(t.TempDir())})
	s, err := csvimportstack.New(app, csvimportstack.Props{Environment: e, BootstrapFolder: bootstraps(t,
		e.Architecture), Rewrite: localstack.Definition, DashboardApart: true})
	if err != nil {
		t.Fatal(err)
	}
	x := read(t, s)
	if len(x.ofType("AWS::CloudWatch::Dashboard")) != 0 {
		t.Error("LocalStack's CloudFormation has no dashboards")
	}
	for id, percentage := range map[string]string{"StateMachine": "5.0", "FilesStateMachine": "100.0"} {
		definition := x.only(t, "AWS::StepFunctions::StateMachine", id).Properties["DefinitionString"].(string)
		if !strings.Contains(definition, `"ToleratedFailurePercentage":`+percentage) {
			t.Errorf("the definition of %s is not the one for LocalStack", id)
		}
	}
	// Without aliases, executions are started by the ARN of the state machine.
	variables := variablesOf(x.only(t, "AWS::Lambda::Function", "Start"))
	for name, want := range map[string]string{"STATE_MACHINE_ARN": ":stateMachine:csv-import-local",
		"FILES_STATE_MACHINE_ARN": ":stateMachine:csv-import-local-files"} {
		if got := text(t, variables[name]); !strings.HasSuffix(got, want) {
			t.Errorf("%s is %s", name, got)
		}
	}
	for _, name := range []string{"csv-import-local-files-executions-failed", "csv-import-local-files-executions-timed-out"} {
		if !slices.ContainsFunc(slices.Collect(maps.Values(x.ofType("AWS::CloudWatch::Alarm"))),
			func(a resource) bool { return a.Properties["AlarmName"] == name }) {
			t.Errorf("the alarm %s is not declared", name)
		}
	}
	// LocalStack's logs extract no metrics: the function metrics puts its own, and those of the other functions.
	if got := compact(t, x.only(t, "AWS::Lambda::Function", "Metrics").Properties["Environment"]); !strings.Contains(got, `"METRIC_DATA":"put"`) {
		t.Errorf("the function metrics has %s", got)
	}
	if got := compact(t, x.only(t, "AWS::IAM::Policy", "MetricsRole").Properties); !strings.Contains(got, "cloudwatch:PutMetricData") {
		t.Errorf("the function metrics may not put metric data: %s", got)
	}
	if n := len(x.ofType("AWS::Logs::SubscriptionFilter")); n != 5 {
		t.Errorf("%d logs are sent to the function metrics, want those of the two state machines and of three functions", n)
	}
}

func TestNewRefusesAnEnvironmentThatIsNotAllowed(t *testing.T) {
	for want, change := range map[string]func(*environment.Environment){
		`environment "dev": LogDays is 8; want one of`:                                      func(e *environment.Environment) { e.LogDays = 8 },
		`environment "dev": state machine options: BatchSize is 1000; want 1 to 500`:        func(e *environment.Environment) { e.BatchSize = 1000 },
		`environment "dev": state machine options: ToleratedFailurePercentage is 101; want`: func(e *environment.Environment) { e.ToleratedFailurePercentage = 101 },
	} {
		e := environment.Dev()
		change(&e)
		app := awscdk.NewApp(&awscdk.AppProps{Outdir: jsii.String(t.TempDir())})
		if _, err := csvimportstack.New(app, csvimportstack.Props{Environment: e}); err == nil ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestRetriesAreJudgedByAValue(t *testing.T) {
	e := environment.Dev()
	for _, value := range []float64{0, 0.001} {
		e.RecordValue = value
		x := synth(t, e)
		adapt := compact(t, x.only(t, "AWS::Lambda::Function", "Adapt").Properties["Environment"])
		process := compact(t, x.only(t, "AWS::Lambda::Function", "Process").Properties["Environment"])
		rights := compact(t, x.only(t, "AWS::IAM::Policy", "AdaptRole").Properties)
		for what, has := range map[string]bool{
			"the controller's value":      strings.Contains(adapt, `"RECORD_VALUE":"0.001"`),
			"the function's table":        strings.Contains(process, `"CONFIGURATION_TABLE"`),
			"the right to read histories": strings.Contains(rights, "states:GetExecutionHistory"),
		} {
			if has != (value > 0) {
				t.Errorf("a row is worth %v, and %s is there: %v", value, what, has)
			}
		}
	}
}
