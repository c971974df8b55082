package iam

import (
	"fmt"
	"strings"
)

// managedDocument returns the document of an AWS managed policy, or "" if it is not known here. The documents for
// services serve the policy's purpose with AWS's actions, but are not always AWS's text word for word.
func managedDocument(arn string) string {
	_, name, _ := strings.Cut(arn, ":policy/")
	if actions, ok := awsPolicies[name]; ok {
		return fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["%s"],"Resource":"*"}]}`,
			strings.ReplaceAll(actions, " ", `","`))
	}
	if name == "PowerUserAccess" {
		return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","NotAction":["iam:*","organizations:*","account:*"],` +
			`"Resource":"*"},{"Effect":"Allow","Action":["iam:CreateServiceLinkedRole","iam:DeleteServiceLinkedRole",` +
			`"iam:ListRoles","organizations:DescribeOrganization","account:ListRegions"],"Resource":"*"}]}`
	}
	return ""
}

// loggingActions lists the actions of functions that write logs.
const loggingActions = "logs:CreateLogGroup logs:CreateLogStream logs:PutLogEvents"

// awsPolicies maps the path and name of AWS managed policies to their actions.
var awsPolicies = map[string]string{
	"AdministratorAccess":                         "*",
	"service-role/AWSLambdaBasicExecutionRole":    loggingActions,
	"service-role/AWSLambdaSQSQueueExecutionRole": loggingActions + " sqs:ReceiveMessage sqs:DeleteMessage sqs:GetQueueAttributes",
	"service-role/AWSLambdaDynamoDBExecutionRole": loggingActions +
		" dynamodb:DescribeStream dynamodb:GetRecords dynamodb:GetShardIterator dynamodb:ListStreams",
	"service-role/AWSLambdaVPCAccessExecutionRole": loggingActions + " ec2:CreateNetworkInterface ec2:DescribeNetworkInterfaces " +
		"ec2:DescribeSubnets ec2:DeleteNetworkInterface ec2:AssignPrivateIpAddresses ec2:UnassignPrivateIpAddresses",
	"service-role/AWSLambdaRole": "lambda:InvokeFunction",
	"service-role/AWSLambdaBasicDurableExecutionRolePolicy": loggingActions +
		" lambda:CheckpointDurableExecution lambda:GetDurableExecutionState",
	"AWSXRayDaemonWriteAccess":                    "xray:PutTraceSegments xray:PutTelemetryRecords xray:GetSamplingRules xray:GetSamplingTargets xray:GetSamplingStatisticSummaries",
	"AWSXrayWriteOnlyAccess":                      "xray:PutTraceSegments xray:PutTelemetryRecords xray:GetSamplingRules xray:GetSamplingTargets xray:GetSamplingStatisticSummaries",
	"CloudWatchLambdaInsightsExecutionRolePolicy": loggingActions,
	"AmazonS3FullAccess":                          "s3:* s3-object-lambda:*",
	"AmazonS3ReadOnlyAccess":                      "s3:Get* s3:List* s3:Describe* s3-object-lambda:Get* s3-object-lambda:List*",
	"AmazonSQSFullAccess":                         "sqs:*",
	"AmazonSQSReadOnlyAccess":                     "sqs:GetQueueAttributes sqs:GetQueueUrl sqs:ListDeadLetterSourceQueues sqs:ListQueues sqs:ListMessageMoveTasks sqs:ListQueueTags",
	"AmazonSNSFullAccess":                         "sns:*",
	"AmazonSNSReadOnlyAccess":                     "sns:GetTopicAttributes sns:List* sns:CheckIfPhoneNumberIsOptedOut sns:GetEndpointAttributes sns:GetDataProtectionPolicy sns:GetPlatformApplicationAttributes sns:GetSMSAttributes sns:GetSMSSandboxAccountStatus sns:GetSubscriptionAttributes",
	"AmazonDynamoDBFullAccess":                    "dynamodb:* dax:* cloudwatch:DeleteAlarms cloudwatch:DescribeAlarms cloudwatch:PutMetricAlarm cloudwatch:GetMetricData sns:CreateTopic sns:ListTopics sns:Subscribe lambda:ListFunctions lambda:CreateEventSourceMapping kms:DescribeKey",
	"AmazonEventBridgeFullAccess":                 "events:* schemas:* scheduler:* pipes:*",
	"AWSStepFunctionsFullAccess":                  "states:*",
	"AWSLambda_FullAccess":                        "lambda:* cloudformation:DescribeStacks cloudformation:ListStackResources cloudwatch:ListMetrics cloudwatch:GetMetricData kms:ListAliases iam:GetPolicy iam:GetRole iam:ListRoles iam:PassRole logs:DescribeLogGroups states:DescribeStateMachine states:ListStateMachines xray:GetTraceSummaries xray:BatchGetTraces",
	"CloudWatchFullAccess":                        "autoscaling:Describe* cloudwatch:* logs:* sns:* iam:GetPolicy iam:GetPolicyVersion iam:GetRole oam:ListSinks",
	"CloudWatchLogsFullAccess":                    "logs:* cloudwatch:GenerateQuery",
	"SecretsManagerReadWrite":                     "secretsmanager:* cloudformation:* kms:DescribeKey kms:ListAliases kms:ListKeys lambda:ListFunctions tag:GetResources",
	"AmazonSSMReadOnlyAccess":                     "ssm:Describe* ssm:Get* ssm:List*",
	"AmazonSSMFullAccess":                         "ssm:* cloudwatch:PutMetricData ds:CreateComputer ds:DescribeDirectories ec2:DescribeInstanceStatus logs:*",
	"IAMFullAccess":                               "iam:* organizations:DescribeAccount organizations:DescribeOrganization",
	"AWSCloudFormationFullAccess":                 "cloudformation:*",
	"AWSCloudFormationReadOnlyAccess":             cloudFormationReading,
	"AWSLambda_ReadOnlyAccess":                    "lambda:Get* lambda:List* cloudformation:DescribeStacks cloudformation:ListStackResources cloudwatch:GetMetricData cloudwatch:ListMetrics kms:ListAliases iam:GetPolicy iam:GetRole iam:ListRoles logs:DescribeLogGroups states:DescribeStateMachine states:ListStateMachines xray:GetTraceSummaries xray:BatchGetTraces",
	"AWSStepFunctionsReadOnlyAccess":              "states:List* states:Describe* states:GetExecutionHistory",
	"AmazonDynamoDBReadOnlyAccess":                dynamoDBReading + " cloudwatch:DescribeAlarms cloudwatch:GetMetricData cloudwatch:ListMetrics iam:GetRole iam:ListRoles kms:DescribeKey kms:ListAliases sns:ListTopics lambda:ListFunctions",
	"AmazonEventBridgeReadOnlyAccess":             "events:Describe* events:List* events:TestEventPattern scheduler:Get* scheduler:List*",
	"CloudWatchReadOnlyAccess":                    "cloudwatch:Describe* cloudwatch:Get* cloudwatch:List* " + logsReading + " sns:Get* sns:List*",
	"CloudWatchLogsReadOnlyAccess":                logsReading,
	"IAMReadOnlyAccess":                           iamReading,
	"ReadOnlyAccess": "apigateway:GET " + cloudFormationReading + " cloudwatch:Describe* cloudwatch:Get* cloudwatch:List* " + dynamoDBReading +
		" ecr:BatchCheck* ecr:BatchGet* ecr:Describe* ecr:Get* ecr:List* events:Describe* events:List* events:TestEventPattern " + iamReading +
		" kms:Describe* kms:Get* kms:List* lambda:Get* lambda:List* " + logsReading + " s3:Get* s3:List* s3:Describe* scheduler:Get* scheduler:List*" +
		" secretsmanager:Describe* secretsmanager:GetResourcePolicy secretsmanager:List* sns:Check* sns:Get* sns:List* sqs:Get* sqs:List* sqs:Receive*" +
		" ssm:Describe* ssm:Get* ssm:List* states:Describe* states:GetExecutionHistory states:List* sts:GetAccessKeyInfo sts:GetCallerIdentity" +
		" sts:GetSessionToken tag:Get* xray:BatchGet* xray:Get* xray:List*",
}

// The actions that several read-only policies share, by service.
const (
	cloudFormationReading = "cloudformation:Describe* cloudformation:Detect* cloudformation:EstimateTemplateCost cloudformation:Get* cloudformation:List* cloudformation:ValidateTemplate"
	dynamoDBReading       = "dynamodb:BatchGet* dynamodb:Describe* dynamodb:Get* dynamodb:List* dynamodb:PartiQLSelect dynamodb:Query dynamodb:Scan"
	iamReading            = "iam:Generate* iam:Get* iam:List* iam:Simulate*"
	logsReading           = "logs:Describe* logs:Get* logs:List* logs:FilterLogEvents logs:StartLiveTail logs:StartQuery logs:StopLiveTail logs:StopQuery logs:TestMetricFilter"
)
