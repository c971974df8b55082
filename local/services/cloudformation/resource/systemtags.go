package resource

import "maps"

// systemTagged are the types whose resources CloudFormation tags with their origin, according to their schemas in its
// registry (cloudFormationSystemTags).
var systemTagged = map[string]bool{
	"AWS::ApiGateway::RestApi": true, "AWS::ApiGateway::Stage": true, "AWS::ApiGatewayV2::Api": true,
	"AWS::CloudWatch::Alarm": true, "AWS::CloudWatch::CompositeAlarm": true,
	"AWS::ECR::Repository": true, "AWS::Events::EventBus": true, "AWS::Events::Rule": true,
	"AWS::Lambda::EventSourceMapping": true, "AWS::Lambda::Function": true, "AWS::Logs::LogGroup": true,
	"AWS::S3::Bucket": true, "AWS::SNS::Topic": true, "AWS::SSM::Parameter": true, "AWS::Scheduler::ScheduleGroup": true,
	"AWS::SecretsManager::Secret": true, "AWS::StepFunctions::Activity": true, "AWS::StepFunctions::StateMachine": true,
}

// WithSystemTags adds the tags that CloudFormation itself gives to a resource of a type:
// aws:cloudformation:stack-name, stack-id and logical-id. For types without such tags it returns tags unchanged.
func WithSystemTags(tags map[string]string, typ, stack, stackID, logicalID string) map[string]string {
	if !systemTagged[typ] {
		return tags
	}
	all := map[string]string{"aws:cloudformation:stack-name": stack, "aws:cloudformation:stack-id": stackID,
		"aws:cloudformation:logical-id": logicalID}
	maps.Copy(all, tags)
	return all
}
