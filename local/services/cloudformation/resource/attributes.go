package resource

import (
	"slices"
	"strings"
)

// attributes lists the attributes that Fn::GetAtt returns besides the properties, as in the schemas of AWS's registry
// (readOnlyProperties). Those with a - are not served here. Types that are not listed have none.
var attributes = map[string]string{
	"AWS::ApiGateway::Account":                "Id-",
	"AWS::ApiGateway::Deployment":             "DeploymentId",
	"AWS::ApiGateway::Resource":               "ResourceId",
	"AWS::ApiGateway::RestApi":                "RestApiId RootResourceId",
	"AWS::ApiGatewayV2::Api":                  "ApiId ApiEndpoint",
	"AWS::ApiGatewayV2::Authorizer":           "AuthorizerId",
	"AWS::ApiGatewayV2::Deployment":           "DeploymentId",
	"AWS::ApiGatewayV2::Integration":          "IntegrationId",
	"AWS::ApiGatewayV2::Route":                "RouteId",
	"AWS::ApiGatewayV2::Stage":                "Id-",
	"AWS::CloudWatch::Alarm":                  "Arn",
	"AWS::CloudWatch::CompositeAlarm":         "Arn",
	"AWS::DynamoDB::GlobalTable":              "Arn StreamArn TableId",
	"AWS::DynamoDB::Table":                    "Arn StreamArn TableId",
	"AWS::ECR::Repository":                    "Arn RepositoryUri",
	"AWS::Events::ApiDestination":             "Arn ArnForPolicy",
	"AWS::Events::Archive":                    "Arn",
	"AWS::Events::Connection":                 "Arn ArnForPolicy SecretArn AuthParameters- InvocationConnectivityParameters-",
	"AWS::Events::EventBus":                   "Arn",
	"AWS::Events::Rule":                       "Arn",
	"AWS::IAM::AccessKey":                     "SecretAccessKey Id",
	"AWS::IAM::Group":                         "Arn",
	"AWS::IAM::InstanceProfile":               "Arn",
	"AWS::IAM::ManagedPolicy":                 managedPolicyAttributes,
	"AWS::IAM::OIDCProvider":                  "Arn",
	"AWS::IAM::Policy":                        "Id",
	"AWS::IAM::Role":                          "Arn RoleId",
	"AWS::IAM::User":                          "Arn",
	"AWS::IAM::UserToGroupAddition":           "Id-",
	"AWS::KMS::Key":                           "Arn KeyId",
	"AWS::Lambda::Alias":                      "AliasArn",
	"AWS::Lambda::EventSourceMapping":         "Id EventSourceMappingArn",
	"AWS::Lambda::Function":                   "Arn SnapStartResponse-",
	"AWS::Lambda::LayerVersion":               "LayerVersionArn",
	"AWS::Lambda::LayerVersionPermission":     "Id-",
	"AWS::Lambda::Permission":                 "Id",
	"AWS::Lambda::Url":                        "FunctionUrl FunctionArn",
	"AWS::Lambda::Version":                    "Version FunctionArn",
	"AWS::Logs::LogGroup":                     "Arn",
	"AWS::Logs::QueryDefinition":              "QueryDefinitionId",
	"AWS::S3::Bucket":                         "Arn DomainName DualStackDomainName RegionalDomainName WebsiteURL",
	"AWS::SNS::Subscription":                  "Arn",
	"AWS::SNS::Topic":                         "TopicArn",
	"AWS::SNS::TopicPolicy":                   "Id",
	"AWS::SQS::Queue":                         "Arn QueueUrl",
	"AWS::SQS::QueuePolicy":                   "Id",
	"AWS::Scheduler::Schedule":                "Arn",
	"AWS::Scheduler::ScheduleGroup":           "Arn CreationDate LastModificationDate State",
	"AWS::SecretsManager::ResourcePolicy":     "Id-",
	"AWS::SecretsManager::Secret":             "Id",
	"AWS::StepFunctions::Activity":            "Arn",
	"AWS::StepFunctions::StateMachine":        "Arn Name StateMachineRevisionId",
	"AWS::StepFunctions::StateMachineAlias":   "Arn",
	"AWS::StepFunctions::StateMachineVersion": "Arn",
	"AWS::XRay::SamplingRule":                 "RuleARN",
	// CloudFormation's own types, which package cloudformation implements
	"AWS::CloudFormation::Stack":               "Outputs",
	"AWS::CloudFormation::WaitCondition":       "Data",
	"AWS::CloudFormation::WaitConditionHandle": "Id-",
}

const managedPolicyAttributes = "PolicyArn AttachmentCount CreateDate DefaultVersionId IsAttachable " +
	"PermissionsBoundaryUsageCount PolicyId UpdateDate"

// Attribute reports whether Fn::GetAtt can return an attribute of the type's resources. Properties can be read as
// attributes, too, and members of both, such as Endpoint.Address. served is false if AWS has the attribute and this
// implementation does not.
func (t *Type) Attribute(name string) (known, served bool) {
	if t.Properties == nil { // custom resources return any attribute
		return true, true
	}
	head, _, _ := strings.Cut(name, ".")
	list := strings.Fields(attributes[t.Name])
	if slices.Contains(list, head) {
		return true, true
	}
	if slices.Contains(list, head+"-") {
		return true, false
	}
	_, known = t.Properties[head]
	return known, known
}
