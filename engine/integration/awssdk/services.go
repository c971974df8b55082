package awssdk

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	cloudwatchlogstypes "github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/firehose"
	"github.com/aws/aws-sdk-go-v2/service/kinesis"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/aws-sdk-go-v2/service/xray"
	xraytypes "github.com/aws/aws-sdk-go-v2/service/xray/types"
)

// services are the services that tasks can call. Another one is another row, and a module in go.mod.
var services = []Service{
	{
		Name: "cloudwatch", ID: "CloudWatch", Variable: "CLOUDWATCH_ENDPOINT", Class: "CloudWatch",
		Client: func(c aws.Config) any { return cloudwatch.NewFromConfig(c) },
	},
	{
		Name: "cloudwatchlogs", ID: "CloudWatch Logs", Variable: "CLOUDWATCHLOGS_ENDPOINT", Class: "CloudWatchLogs",
		Client: func(c aws.Config) any { return cloudwatchlogs.NewFromConfig(c) },
		unions: []any{
			cloudwatchlogstypes.IntegrationDetailsMemberOpenSearchIntegrationDetails{},
			cloudwatchlogstypes.ResourceConfigMemberOpenSearchResourceConfig{},
		},
	},
	{
		Name: "dynamodb", ID: "DynamoDB", Variable: "DYNAMODB_ENDPOINT", Class: "DynamoDb",
		Client: func(c aws.Config) any { return dynamodb.NewFromConfig(c) },
		unions: []any{
			dynamodbtypes.AttributeValueMemberB{}, dynamodbtypes.AttributeValueMemberBOOL{}, dynamodbtypes.AttributeValueMemberBS{},
			dynamodbtypes.AttributeValueMemberL{}, dynamodbtypes.AttributeValueMemberM{}, dynamodbtypes.AttributeValueMemberN{},
			dynamodbtypes.AttributeValueMemberNS{}, dynamodbtypes.AttributeValueMemberNULL{}, dynamodbtypes.AttributeValueMemberS{},
			dynamodbtypes.AttributeValueMemberSS{},
		},
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
		Name: "s3", ID: "S3", Variable: "S3_ENDPOINT", Class: "S3",
		Client: func(c aws.Config) any {
			return s3.NewFromConfig(c, func(o *s3.Options) { o.UsePathStyle = true })
		},
		unions: []any{
			s3types.AnalyticsFilterMemberAnd{}, s3types.AnalyticsFilterMemberPrefix{}, s3types.AnalyticsFilterMemberTag{},
			s3types.MetricsFilterMemberAccessPointArn{}, s3types.MetricsFilterMemberAnd{}, s3types.MetricsFilterMemberPrefix{},
			s3types.MetricsFilterMemberTag{}, s3types.ObjectEncryptionMemberSSEKMS{},
		},
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
		unions: []any{
			ssmtypes.CloudConnectorConfigurationMemberAzureConfiguration{}, ssmtypes.ConfigurationTargetsMemberSubscriptions{},
			ssmtypes.ExecutionInputsMemberAutomation{}, ssmtypes.ExecutionPreviewMemberAutomation{}, ssmtypes.NodeTypeMemberInstance{},
		},
	},
	{
		Name: "sts", ID: "STS", Variable: "STS_ENDPOINT", Class: "Sts",
		Client: func(c aws.Config) any { return sts.NewFromConfig(c) },
	},
	{
		Name: "xray", ID: "XRay", Variable: "XRAY_ENDPOINT", Class: "XRay",
		Client: func(c aws.Config) any { return xray.NewFromConfig(c) },
		unions: []any{
			xraytypes.AnnotationValueMemberBooleanValue{}, xraytypes.AnnotationValueMemberNumberValue{},
			xraytypes.AnnotationValueMemberStringValue{}, xraytypes.IndexingRuleValueMemberProbabilistic{},
			xraytypes.IndexingRuleValueUpdateMemberProbabilistic{},
		},
	},
}
