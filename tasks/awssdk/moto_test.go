package awssdk_test

import (
	"errors"
	"strings"
	"testing"

	"stepback/aws/model"
	"stepback/engine"
	"stepback/tasks/awssdk"
	"stepback/tasks/mototest"
)

// TestAgainstMoto calls many services over all protocols, and checks the names in results and of errors.
func TestAgainstMoto(t *testing.T) {
	t.Parallel()
	moto := mototest.Start(t)
	if moto == "" {
		t.Skip("moto_server is not installed")
	}
	c := &awssdk.Caller{Account: "123456789012", Region: "us-east-1", Endpoints: awssdk.Endpoints{
		Getenv: func(name string) string { return map[string]string{"AWS_ENDPOINT_URL": moto}[name] },
	}}
	called := map[model.Protocol]map[string]bool{}
	for _, step := range []struct {
		resource, params string
		want             string // contained in the result, or the name of the error
	}{
		{
			"rds:createDBInstance", `{"DbInstanceIdentifier":"d","Engine":"postgres","DbInstanceClass":"db.t3.micro","AllocatedStorage":20}`,
			`"DbInstanceIdentifier":"d"`,
		},
		{"rds:describeDBInstances", `{}`, `{"DbInstances":[{`},
		{"rds:describeDBInstances", `{"DbInstanceIdentifier":"none"}`, "Rds.DbInstanceNotFoundException"},
		{"rds:createDBSnapshot", `{"DbInstanceIdentifier":"d","DbSnapshotIdentifier":"s"}`,
			`"DbSnapshotIdentifier":"s"`},
		{"ec2:describeInstances", `{"Filters":[{"Name":"instance-state-name","Values":["running"]}]}`,
			`{"Reservations":[]}`},
		{"ec2:describeInstances", `{"InstanceIds":["i-00000000"]}`, "Ec2.Ec2Exception"},
		{"ec2:describeVpcs", `{}`, `"VpcId":"vpc-`},
		{"iam:getRole", `{"RoleName":"none"}`, "Iam.NoSuchEntityException"},
		{"ssm:putParameter", `{"Name":"p","Value":"v","Type":"String"}`, `"Version":1`},
		{"ssm:getParameter", `{"Name":"p"}`, `"Arn":"arn:aws:ssm:us-east-1:123456789012:parameter/p"`},
		{"ssm:getParameter", `{"Name":"none"}`, "Ssm.ParameterNotFoundException"},
		{"s3:createBucket", `{"Bucket":"bucket"}`, `{"Location":"/bucket"}`},
		{"s3:getObject", `{"Bucket":"bucket","Key":"none"}`, "S3.NoSuchKeyException"},
		{"s3:listObjectsV2", `{"Bucket":"none"}`, "S3.NoSuchBucketException"},
		{"s3:listObjectsV2", `{"Bucket":"bucket"}`, `"KeyCount":0`},
		{
			"dynamodb:createTable", `{"TableName":"t","KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST",` +
				`"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}]}`, `"TableDescription":{`,
		},
		{"dynamodb:putItem", `{"TableName":"t","Item":{"id":{"S":"1"}},"ConditionExpression":"attribute_exists(id)"}`,
			"DynamoDb.ConditionalCheckFailedException"},
		{"dynamodb:query", `{"TableName":"t","KeyConditionExpression":"id = :i","ExpressionAttributeValues":{":i":{"S":"1"}}}`, `"Items":[]`},
		{"dynamodb:describeTable", `{"TableName":"none"}`, "DynamoDb.ResourceNotFoundException"},
		{"sqs:getQueueUrl", `{"QueueName":"none"}`, "Sqs.QueueDoesNotExistException"},
		{"sns:publish", `{"TopicArn":"arn:aws:sns:us-east-1:123456789012:none","Message":"m"}`,
			"Sns.NotFoundException"},
		{"secretsmanager:getSecretValue", `{"SecretId":"none"}`, "SecretsManager.ResourceNotFoundException"},
		{"kms:describeKey", `{"KeyId":"00000000-0000-0000-0000-000000000000"}`, "Kms.NotFoundException"},
		{"lambda:getFunction", `{"FunctionName":"none"}`, "Lambda.ResourceNotFoundException"},
		{"glue:getDatabase", `{"Name":"none"}`, "Glue.EntityNotFoundException"},
		{"ecr:describeRepositories", `{"RepositoryNames":["none"]}`, "Ecr.RepositoryNotFoundException"},
		{"ecs:describeServices", `{"Cluster":"none","Services":["s"]}`, "Ecs.ClusterNotFoundException"},
		{"eks:describeCluster", `{"Name":"none"}`, "Eks.ResourceNotFoundException"},
		{"cognitoidentityprovider:createUserPool", `{"PoolName":"p"}`, `"Name":"p"`},
		{"cognitoidentityprovider:adminGetUser", `{"UserPoolId":"us-east-1_none","Username":"u"}`,
			"CognitoIdentityProvider.ResourceNotFoundException"},
		{"route53:listHostedZones", `{}`, `"HostedZones":[]`},
		{"route53:createHostedZone", `{"Name":"example.com","CallerReference":"r"}`, `"CallerReference":"r"`},
		{"route53:getHostedZone", `{"Id":"none"}`, "Route53.NoSuchHostedZoneException"},
		{"elasticache:describeCacheClusters", `{"CacheClusterId":"none"}`, "ElastiCache.CacheClusterNotFoundException"},
		{"elasticloadbalancingv2:describeLoadBalancers", `{"Names":["none"]}`,
			"ElasticLoadBalancingV2.LoadBalancerNotFoundException"},
		{"autoscaling:describeAutoScalingGroups", `{}`, `{"AutoScalingGroups":[]}`},
		{"redshift:describeClusters", `{"ClusterIdentifier":"none"}`, "Redshift.ClusterNotFoundException"},
		{"organizations:describeOrganization", `{}`, "Organizations.AwsOrganizationsNotInUseException"},
		{"cloudformation:describeStacks", `{"StackName":"none"}`, "CloudFormation.CloudFormationException"},
		{"sfn:describeExecution", `{"ExecutionArn":"arn:aws:states:us-east-1:123456789012:execution:m:none"}`,
			"Sfn.ExecutionDoesNotExistException"},
		{"acm:describeCertificate", `{"CertificateArn":"arn:aws:acm:us-east-1:123456789012:certificate/00000000-0000-0000-0000-000000000000"}`, "Acm.ResourceNotFoundException"},
		{"comprehend:detectSentiment", `{"Text":"fine","LanguageCode":"en"}`, `"Sentiment":"`},
		{"rekognition:detectLabels", `{"Image":{"S3Object":{"Bucket":"bucket","Name":"k"}}}`, `"Labels":[{`},
		{"transcribe:getTranscriptionJob", `{"TranscriptionJobName":"none"}`, "Transcribe.BadRequestException"},
		{"sagemaker:describeModel", `{"ModelName":"none"}`, "SageMaker.SageMakerException"},
		{"resourcegroupstaggingapi:getResources", `{}`, `"ResourceTagMappingList":[`},
		{"cloudwatch:describeAlarms", `{}`, `"MetricAlarms":[]`},
		{"eventbridge:describeRule", `{"Name":"none"}`, "EventBridge.ResourceNotFoundException"},
		{"cloudwatchlogs:getLogEvents", `{"LogGroupName":"none","LogStreamName":"s"}`,
			"CloudWatchLogs.ResourceNotFoundException"},
		{"kinesis:describeStream", `{"StreamName":"none"}`, "Kinesis.ResourceNotFoundException"},
		{"servicecatalog:describeProduct", `{"Id":"none"}`, "ServiceCatalog.ResourceNotFoundException"},
		{"databasemigration:describeReplicationTasks",
			`{"Filters":[{"Name":"replication-task-arn","Values":["none"]}]}`, `{"ReplicationTasks":[]}`},
	} {
		service, _, _ := strings.Cut(step.resource, ":")
		spoken := protocolOf(model.MustFind(service))
		if called[spoken] == nil {
			called[spoken] = map[string]bool{}
		}
		called[spoken][service] = true
		got, err := invoke(c, "aws-sdk:"+step.resource, step.params)
		var failed *engine.Failure
		if errors.As(err, &failed) {
			if failed.Name != step.want {
				t.Errorf("%s %s\ngot  %s: %s\nwant %s", step.resource, step.params, failed.Name, failed.Cause,
					step.want)
			}
			continue
		}
		if err != nil || !strings.Contains(got, step.want) {
			t.Errorf("%s %s\ngot  %s, %v\nwant %s", step.resource, step.params, got, err, step.want)
		}
	}
	services := 0
	for _, p := range []model.Protocol{model.JSON, model.Query, model.EC2, model.RESTJSON, model.RESTXML} {
		services += len(called[p])
		if len(called[p]) == 0 {
			t.Errorf("no service of the protocol %s was called", p)
		}
	}
	if services < 15 {
		t.Errorf("%d services were called", services)
	}
}

// protocolOf returns the protocol that tasks use for a service. CBOR, which moto does not support, is covered by the
// protocol cases.
func protocolOf(s *model.Service) model.Protocol {
	for _, p := range s.Protocols {
		if p != model.CBOR {
			return p
		}
	}
	return model.CBOR
}
