package csvimportstack_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"stepback/cdk/environment"
)

// nagRules contains those rules of cdk-nag's pack AwsSolutions that apply to the stack, under their own names.
// cdk-nag itself is not on the Go module proxy. Each reports whether a resource violates it; x is the whole template.
var nagRules = map[string]struct {
	kind   string
	breaks func(t *testing.T, x template, r resource) bool
}{
	"AwsSolutions-S1 (no access log)":       {"AWS::S3::Bucket", lacks("LoggingConfiguration")},
	"AwsSolutions-S2 (public)":              {"AWS::S3::Bucket", lacks("PublicAccessBlockConfiguration")},
	"AwsSolutions-S10 (plain HTTP)":         {"AWS::S3::BucketPolicy", violatedIf(`"aws:SecureTransport":"false"`, false)},
	"AwsSolutions-SNS3 (plain HTTP)":        {"AWS::SNS::TopicPolicy", violatedIf(`"aws:SecureTransport":"false"`, false)},
	"AwsSolutions-SNS2 (not encrypted)":     {"AWS::SNS::Topic", lacks("KmsMasterKeyId")},
	"AwsSolutions-SQS2 (not encrypted)":     {"AWS::SQS::Queue", lacks("SqsManagedSseEnabled")},
	"AwsSolutions-SQS3 (no dead letters)":   {"AWS::SQS::Queue", lacks("RedrivePolicy")},
	"AwsSolutions-SQS4 (plain HTTP)":        {"AWS::SQS::QueuePolicy", violatedIf(`"aws:SecureTransport":"false"`, false)},
	"AwsSolutions-DDB3 (no recovery)":       {"AWS::DynamoDB::Table", violatedIf(`"PointInTimeRecoveryEnabled":true`, false)},
	"AwsSolutions-SF1 (not all is logged)":  {"AWS::StepFunctions::StateMachine", violatedIf(`"Level":"ALL"`, false)},
	"AwsSolutions-SF2 (not traced)":         {"AWS::StepFunctions::StateMachine", violatedIf(`"TracingConfiguration":{"Enabled":true}`, false)},
	"AwsSolutions-L1 (old runtime)":         {"AWS::Lambda::Function", violatedIf(`"Runtime":"provided.al2023"`, false)},
	"AwsSolutions-IAM4 (managed policy)":    {"AWS::IAM::Role", violatedIf(":iam::aws:policy/", true)},
	"AwsSolutions-IAM5 (wildcard)":          {"AWS::IAM::Policy", wild},
	"AwsSolutions-VPC7 (no flow log)":       {"AWS::EC2::VPC", func(_ *testing.T, x template, _ resource) bool { return len(x.ofType("AWS::EC2::FlowLog")) == 0 }},
	"AwsSolutions-EC23 (open to the world)": {"AWS::EC2::SecurityGroup", violatedIf(`"CidrIp":"0.0.0.0/0","Description":"from`, true)},
	"AwsSolutions-RDS2 (not encrypted)":     {"AWS::RDS::DBCluster", violatedIf(`"StorageEncrypted":true`, false)},
	"AwsSolutions-RDS6 (no IAM login)":      {"AWS::RDS::DBCluster", violatedIf(`"EnableIAMDatabaseAuthentication":true`, false)},
	"AwsSolutions-RDS10 (may be deleted)":   {"AWS::RDS::DBCluster", violatedIf(`"DeletionProtection":true`, false)},
	"AwsSolutions-RDS11 (default port)":     {"AWS::RDS::DBCluster", violatedIf(`"Port":5432`, true)},
	"AwsSolutions-RDS16 (no log exports)":   {"AWS::RDS::DBCluster", lacks("EnableCloudwatchLogsExports")},
	"AwsSolutions-SMG4 (not rotated)":       {"AWS::SecretsManager::Secret", func(*testing.T, template, resource) bool { return true }},
	"CloudWatch (kept for ever)":            {"AWS::Logs::LogGroup", lacks("RetentionInDays")},
}

// accepted explains for each finding in prod why it remains. There must be no other findings, and each of these must
// still exist.
var accepted = map[string]string{
	"AwsSolutions-S1 (no access log) InputBucket":                  "an option, accessLogBucket of the environment: the bucket that takes logs is the account's",
	"AwsSolutions-S1 (no access log) ResultBucket":                 "as InputBucket",
	"AwsSolutions-SNS2 (not encrypted) Pages":                      "alarms cannot publish to a topic under AWS's own key, and one of the account costs a key; messages name executions and keys of files",
	"AwsSolutions-SNS2 (not encrypted) Notices":                    "as Pages",
	"AwsSolutions-SNS2 (not encrypted) Imports":                    "as Pages",
	"AwsSolutions-SQS3 (no dead letters) UndeliveredEvents":        "it is where dead letters go",
	"AwsSolutions-SQS3 (no dead letters) UndeliveredNotifications": "it is where dead letters go",
	"AwsSolutions-L1 (old runtime) AWS":                            "CDK's own provider of the database's login: its runtime is CDK's choice",
	"AwsSolutions-L1 (old runtime) Custom":                         "CDK's own provider that empties the default security group: its runtime is CDK's choice",
	"AwsSolutions-IAM4 (managed policy) AWS":                       "CDK's own provider: AWSLambdaBasicExecutionRole, which is CDK's choice",
	"AwsSolutions-IAM4 (managed policy) Custom":                    "as above",
	"AwsSolutions-IAM5 (wildcard) ValidateRole":                    "objects of a bucket, and X-Ray, which has no ARNs",
	"AwsSolutions-IAM5 (wildcard) ProcessRole":                     "X-Ray, and the network interfaces that Lambda makes, which have no ARN before they exist; denied to the code",
	"AwsSolutions-IAM5 (wildcard) AggregateRole":                   "as Process, and objects of a bucket",
	"AwsSolutions-IAM5 (wildcard) RelayRole":                       "as Process",
	"AwsSolutions-IAM5 (wildcard) StartRole":                       "X-Ray",
	"AwsSolutions-IAM5 (wildcard) AdaptRole":                       "executions and Map Runs by name, X-Ray, and metrics, which have no ARN",
	"AwsSolutions-IAM5 (wildcard) MetricsRole":                     "X-Ray",
	"AwsSolutions-IAM5 (wildcard) TrainRole":                       "executions and Map Runs by name, and X-Ray",
	"AwsSolutions-IAM5 (wildcard) PruneRole":                       "versions of the functions and executions by name, and X-Ray",
	"AwsSolutions-IAM5 (wildcard) FilesRole":                       "objects of a bucket, and X-Ray",
	"AwsSolutions-IAM5 (wildcard) FilesStateMachineRole":           "its own executions and Map Runs and the imports by name, objects of a bucket, log deliveries, and X-Ray",
	"AwsSolutions-IAM5 (wildcard) StateMachineRole":                "its own executions and Map Runs by name, objects of a bucket, log deliveries, which have no ARN, and X-Ray",
	"AwsSolutions-VPC7 (no flow log) Network":                      "isolated subnets without a way to the internet; flow logs are the account's to collect",
	"AwsSolutions-RDS11 (default port) Database":                   "another port hides nothing: only the functions' security group is let in",
	"AwsSolutions-RDS16 (no log exports) Database":                 "errors reach the functions' logs by SQLSTATE; statements would put user records into a log",
}

func lacks(property string) func(*testing.T, template, resource) bool {
	return func(_ *testing.T, _ template, r resource) bool { return r.Properties[property] == nil }
}

// violatedIf returns a rule that is violated if the properties contain a text (breaks is true), or do not contain it
// (breaks is false).
func violatedIf(part string, breaks bool) func(*testing.T, template, resource) bool {
	return func(t *testing.T, _ template, r resource) bool {
		t.Helper()
		return strings.Contains(compact(t, r.Properties), part) == breaks
	}
}

func wild(_ *testing.T, _ template, r resource) bool {
	text, err := json.Marshal(r.Properties["PolicyDocument"])
	return err != nil || strings.Contains(string(text), "*")
}

func TestRulesOfAwsSolutions(t *testing.T) {
	x := synth(t, environment.Prod())
	found := map[string]bool{}
	for rule, check := range nagRules {
		for id, r := range x.ofType(check.kind) {
			if !check.breaks(t, x, r) {
				continue
			}
			known := ""
			for finding := range accepted {
				name, prefix, _ := strings.Cut(finding, ") ")
				if name+")" == rule && strings.HasPrefix(id, prefix) && len(prefix) > len(known) {
					known = prefix
				}
			}
			if known == "" {
				t.Errorf("%s: %s breaks it; mend it, or say in accepted why it stays", rule, id)
				continue
			}
			found[rule+" "+known] = true
		}
	}
	var stale []string
	for finding := range accepted {
		if !found[finding] {
			stale = append(stale, finding)
		}
	}
	slices.Sort(stale)
	if len(stale) > 0 {
		t.Errorf("accepted, and not found any more: %q", stale)
	}
}
