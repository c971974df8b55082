package resource

import (
	"strings"

	"stepback/local/services/cloudformation/template"
)

// primary maps types to the name of the primary identifier of their resources, as in AWS's schemas. For types that
// are not listed, it is Id.
var primary = map[string]string{
	"AWS::ApiGateway::RestApi": "RestApiId", "AWS::ApiGatewayV2::Api": "ApiId", "AWS::CloudWatch::Alarm": "AlarmName", "AWS::CloudWatch::CompositeAlarm": "AlarmName",
	"AWS::CloudWatch::Dashboard": "DashboardName", "AWS::DynamoDB::GlobalTable": "TableName", "AWS::DynamoDB::Table": "TableName",
	"AWS::ECR::Repository": "RepositoryName", "AWS::Events::ApiDestination": "Name", "AWS::Events::Archive": "ArchiveName",
	"AWS::Events::Connection": "Name", "AWS::Events::EventBus": "Name", "AWS::Events::Rule": "Arn",
	"AWS::IAM::Group": "GroupName", "AWS::IAM::InstanceProfile": "InstanceProfileName", "AWS::IAM::OIDCProvider": "Arn",
	"AWS::IAM::User": "UserName", "AWS::XRay::SamplingRule": "RuleARN",
	"AWS::IAM::ManagedPolicy": "PolicyArn", "AWS::IAM::Role": "RoleName", "AWS::KMS::Alias": "AliasName", "AWS::KMS::Key": "KeyId",
	"AWS::Lambda::Alias": "AliasArn", "AWS::Lambda::Function": "FunctionName", "AWS::Lambda::LayerVersion": "LayerVersionArn",
	"AWS::Lambda::Url": "FunctionArn", "AWS::Lambda::Version": "FunctionArn", "AWS::Logs::LogGroup": "LogGroupName",
	"AWS::Logs::QueryDefinition": "QueryDefinitionId", "AWS::Logs::ResourcePolicy": "PolicyName", "AWS::S3::Bucket": "BucketName",
	"AWS::S3::BucketPolicy": "Bucket", "AWS::SNS::Subscription": "Arn", "AWS::SNS::Topic": "TopicArn", "AWS::SQS::Queue": "QueueUrl",
	"AWS::SSM::Parameter": "Name", "AWS::Scheduler::Schedule": "Name", "AWS::Scheduler::ScheduleGroup": "Name",
	"AWS::StepFunctions::Activity": "Arn", "AWS::StepFunctions::StateMachine": "Arn",
	"AWS::StepFunctions::StateMachineAlias": "Arn", "AWS::StepFunctions::StateMachineVersion": "Arn",
}

// IdentifiedBy returns the names of the properties and attributes that identify a resource of the type.
func (t *Type) IdentifiedBy() []string {
	if len(t.Identifier) > 0 {
		return t.Identifier
	}
	if name := primary[t.Name]; name != "" {
		return []string{name}
	}
	return []string{"Id"}
}

// Identify returns the identifier of a resource in Cloud Control; its parts, if there are several, are joined by |.
func (t *Type) Identify(s State, properties map[string]any) string {
	names := t.IdentifiedBy()
	parts := make([]string, len(names))
	for i, name := range names {
		switch p, known := t.Properties[name]; {
		case t.Name == "AWS::Events::Rule":
			parts[i], _ = template.TextOf(s.Attributes[name])
		case known && !p.Name && len(names) > 1:
			parts[i] = textOf(properties, name)
		default:
			parts[i] = s.ID
		}
	}
	return strings.Join(parts, "|")
}

// Locate returns the physical ID of the resource with an identifier, and the properties that the identifier contains.
// ok is false if the identifier lacks required parts.
func (t *Type) Locate(identifier string) (id string, properties map[string]any, ok bool) {
	names := t.IdentifiedBy()
	parts := strings.Split(identifier, "|")
	if len(names) == 1 {
		parts = []string{identifier}
	}
	if len(parts) != len(names) {
		return "", nil, false
	}
	properties = map[string]any{}
	for i, name := range names {
		p, known := t.Properties[name]
		if known {
			properties[name] = parts[i]
		}
		if !known || p.Name || len(names) == 1 {
			id = parts[i]
		}
	}
	if t.Name == "AWS::Events::Rule" { // arn:…:rule/BUS/NAME, or rule/NAME for the default bus
		bus, name, named := strings.Cut(after(id, ":rule/"), "/")
		if !strings.Contains(id, ":rule/") {
			return "", nil, false
		}
		if id = bus; named {
			id, properties["EventBusName"] = bus+"|"+name, bus
		}
	}
	return id, properties, id != ""
}
