package awssdk

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/batch"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/codebuild"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	ecsdocument "github.com/aws/aws-sdk-go-v2/service/ecs/document"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emrserverless"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/firehose"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	gluedocument "github.com/aws/aws-sdk-go-v2/service/glue/document"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/kinesis"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/rdsdata"
	"github.com/aws/aws-sdk-go-v2/service/redshiftdata"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ses"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/aws-sdk-go-v2/service/xray"
)

// services are the services that tasks can call, by their names. Another one is another row, and a module in go.mod.
var services = sorted(slices.Concat(
	coreServices, databaseServices, jobServices, languageServices, machineServices, managementServices, modelServices,
))

func sorted(s []Service) []Service {
	slices.SortFunc(s, func(a, b Service) int { return strings.Compare(a.Name, b.Name) })
	return s
}

// coreServices are the services that most state machines call, whole.
var coreServices = []Service{
	{
		Name: "athena", ID: "Athena", Variable: "ATHENA_ENDPOINT", Class: "Athena",
		Client: func(c aws.Config) any { return athena.NewFromConfig(c) },
	},
	{
		Name: "batch", ID: "Batch", Variable: "BATCH_ENDPOINT", Class: "Batch",
		Client: func(c aws.Config) any { return batch.NewFromConfig(c) },
	},
	{
		Name: "cloudformation", ID: "CloudFormation", Variable: "CLOUDFORMATION_ENDPOINT", Class: "CloudFormation",
		Client: func(c aws.Config) any { return cloudformation.NewFromConfig(c) },
	},
	{
		Name: "cloudwatch", ID: "CloudWatch", Variable: "CLOUDWATCH_ENDPOINT", Class: "CloudWatch",
		Client: func(c aws.Config) any { return cloudwatch.NewFromConfig(c) },
	},
	{
		Name: "cloudwatchlogs", ID: "CloudWatch Logs", Variable: "CLOUDWATCHLOGS_ENDPOINT", Class: "CloudWatchLogs",
		Client: func(c aws.Config) any { return cloudwatchlogs.NewFromConfig(c) },
		unions: cloudwatchlogsUnions,
	},
	{
		Name: "codebuild", ID: "CodeBuild", Variable: "CODEBUILD_ENDPOINT", Class: "CodeBuild",
		Client: func(c aws.Config) any { return codebuild.NewFromConfig(c) },
	},
	{
		Name: "dynamodb", ID: "DynamoDB", Variable: "DYNAMODB_ENDPOINT", Class: "DynamoDb",
		Client: func(c aws.Config) any { return dynamodb.NewFromConfig(c) },
		unions: dynamodbUnions,
	},
	{
		Name: "ecs", ID: "ECS", Variable: "ECS_ENDPOINT", Class: "Ecs",
		Client: func(c aws.Config) any { return ecs.NewFromConfig(c) },
		unions: ecsUnions, document: func(v any) any { return ecsdocument.NewLazyDocument(v) },
	},
	{
		Name: "emr", ID: "EMR", Variable: "EMR_ENDPOINT", Class: "Emr",
		Client: func(c aws.Config) any { return emr.NewFromConfig(c) },
		unions: emrUnions,
	},
	{
		Name: "emrserverless", ID: "EMR Serverless", Variable: "EMR_SERVERLESS_ENDPOINT", Class: "EmrServerless",
		Client: func(c aws.Config) any { return emrserverless.NewFromConfig(c) },
		unions: emrserverlessUnions,
	},
	{
		Name: "eventbridge", ID: "EventBridge", Variable: "EVENTS_ENDPOINT", Class: "EventBridge",
		Client: func(c aws.Config) any { return eventbridge.NewFromConfig(c) },
	},
	{
		Name: "firehose", ID: "Firehose", Variable: "FIREHOSE_ENDPOINT", Class: "Firehose",
		Client: func(c aws.Config) any { return firehose.NewFromConfig(c) },
	},
	{
		Name: "glue", ID: "Glue", Variable: "GLUE_ENDPOINT", Class: "Glue",
		Client: func(c aws.Config) any { return glue.NewFromConfig(c) },
		unions: glueUnions, document: func(v any) any { return gluedocument.NewLazyDocument(v) },
	},
	{
		Name: "iam", ID: "IAM", Variable: "IAM_ENDPOINT", Class: "Iam",
		Client: func(c aws.Config) any { return iam.NewFromConfig(c) },
		unions: iamUnions,
	},
	{
		Name: "kinesis", ID: "Kinesis", Variable: "KINESIS_ENDPOINT", Class: "Kinesis",
		Client: func(c aws.Config) any { return kinesis.NewFromConfig(c) },
	},
	{
		Name: "kms", ID: "KMS", Variable: "KMS_ENDPOINT", Class: "Kms",
		Client: func(c aws.Config) any { return kms.NewFromConfig(c) },
	},
	{
		Name: "lambda", ID: "Lambda", Variable: "LAMBDA_ENDPOINT", Class: "Lambda",
		Client: func(c aws.Config) any { return lambda.NewFromConfig(c) },
	},
	{
		Name: "rdsdata", ID: "RDS Data", Variable: "RDS_DATA_ENDPOINT", Class: "RdsData",
		Client: func(c aws.Config) any { return rdsdata.NewFromConfig(c) },
		unions: rdsdataUnions,
	},
	{
		Name: "redshiftdata", ID: "Redshift Data", Variable: "REDSHIFT_DATA_ENDPOINT", Class: "RedshiftData",
		Client: func(c aws.Config) any { return redshiftdata.NewFromConfig(c) },
		unions: redshiftdataUnions,
	},
	{
		Name: "s3", ID: "S3", Variable: "S3_ENDPOINT", Class: "S3",
		Client: func(c aws.Config) any {
			return s3.NewFromConfig(c, func(o *s3.Options) { o.UsePathStyle = true })
		},
		unions: s3Unions,
		modeled: []string{
			"BucketAlreadyExists", "BucketAlreadyOwnedByYou", "EncryptionTypeMismatch", "IdempotencyParameterMismatch",
			"InvalidObjectState", "InvalidRequest", "InvalidWriteOffset", "NoSuchBucket", "NoSuchKey", "NoSuchUpload",
			"ObjectAlreadyInActiveTierError", "ObjectNotInActiveTierError", "TooManyParts",
		},
		translated: map[string]string{"HeadObject:NotFound": "NoSuchKey", "HeadBucket:NotFound": "NoSuchBucket"},
		present:    []string{"Metadata"},
	},
	{
		Name: "scheduler", ID: "Scheduler", Variable: "SCHEDULER_ENDPOINT", Class: "Scheduler",
		Client: func(c aws.Config) any { return scheduler.NewFromConfig(c) },
	},
	{
		Name: "secretsmanager", ID: "Secrets Manager", Variable: "SECRETS_MANAGER_ENDPOINT", Class: "SecretsManager",
		Client: func(c aws.Config) any { return secretsmanager.NewFromConfig(c) },
	},
	{
		Name: "ses", ID: "SES", Variable: "SES_ENDPOINT", Class: "Ses",
		Client: func(c aws.Config) any { return ses.NewFromConfig(c) },
	},
	{
		Name: "sesv2", ID: "SESv2", Variable: "SESV2_ENDPOINT", Class: "SesV2",
		Client: func(c aws.Config) any { return sesv2.NewFromConfig(c) },
		unions: sesv2Unions,
	},
	{
		Name: "sfn", ID: "SFN", Variable: "STEP_FUNCTIONS_ENDPOINT", Class: "Sfn",
		Client: func(c aws.Config) any { return sfn.NewFromConfig(c) },
	},
	{
		Name: "sns", ID: "SNS", Variable: "SNS_ENDPOINT", Class: "Sns",
		Client: func(c aws.Config) any { return sns.NewFromConfig(c) },
	},
	{
		Name: "sqs", ID: "SQS", Variable: "SQS_ENDPOINT", Class: "Sqs",
		Client: func(c aws.Config) any { return sqs.NewFromConfig(c) },
		missing: func(member string) (code, message string) {
			return "MissingParameter", "The request must contain the parameter " + member + "."
		},
	},
	{
		Name: "ssm", ID: "SSM", Variable: "SSM_ENDPOINT", Class: "Ssm",
		Client: func(c aws.Config) any { return ssm.NewFromConfig(c) },
		unions: ssmUnions,
	},
	{
		Name: "sts", ID: "STS", Variable: "STS_ENDPOINT", Class: "Sts",
		Client: func(c aws.Config) any { return sts.NewFromConfig(c) },
	},
	{
		Name: "xray", ID: "XRay", Variable: "XRAY_ENDPOINT", Class: "XRay",
		Client: func(c aws.Config) any { return xray.NewFromConfig(c) },
		unions: xrayUnions,
	},
}
