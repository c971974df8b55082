package local_test

import (
	"strings"
	"testing"

	"stepback/local"
)

// users is a template as CDK's constructs for IAM and X-Ray generate it.
const users = `{"Resources":{
 "Group":{"Type":"AWS::IAM::Group","Properties":{"ManagedPolicyArns":["arn:aws:iam::aws:policy/ReadOnlyAccess"]}},
 "User":{"Type":"AWS::IAM::User","Properties":{"UserName":"robot","Groups":[{"Ref":"Group"}],"Policies":[{"PolicyName":"p",
  "PolicyDocument":{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sqs:*","Resource":"*"}]}}]}},
 "Own":{"Type":"AWS::IAM::UserPolicy","Properties":{"PolicyName":"own","UserName":{"Ref":"User"},
  "PolicyDocument":{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"}]}}},
 "Key":{"Type":"AWS::IAM::AccessKey","Properties":{"UserName":{"Ref":"User"}}},
 "Role":{"Type":"AWS::IAM::Role","Properties":{"AssumeRolePolicyDocument":{"Version":"2012-10-17","Statement":[{"Effect":"Allow",
  "Action":"sts:AssumeRole","Principal":{"Service":"ec2.amazonaws.com"}}]}}},
 "Profile":{"Type":"AWS::IAM::InstanceProfile","Properties":{"Roles":[{"Ref":"Role"}]}},
 "Rule":{"Type":"AWS::XRay::SamplingRule","Properties":{"SamplingRule":{"RuleName":"all","ResourceARN":"*","Priority":1,"FixedRate":0.5,
  "ReservoirSize":1,"ServiceName":"*","ServiceType":"*","Host":"*","HTTPMethod":"*","URLPath":"*","Version":1}}}},
 "Outputs":{"User":{"Value":{"Fn::GetAtt":["User","Arn"]}},"Secret":{"Value":{"Fn::GetAtt":["Key","SecretAccessKey"]}},
  "Rule":{"Value":{"Ref":"Rule"}}}}`

func TestAStackHasUsersAndGroups(t *testing.T) {
	t.Parallel()
	s := stacksOf(t, open(t, local.Config{}))
	in := map[string]any{"StackName": "people", "TemplateBody": users, "Capabilities": []string{"CAPABILITY_NAMED_IAM"}}
	s.call("CreateStack", in)
	if status, reason := s.settled("people"); status != "CREATE_COMPLETE" {
		t.Fatal(status, reason, s.events("people"))
	}
	if out := s.outputs("people"); out["User"] != "arn:aws:iam::000000000000:user/robot" || out["Secret"] == "" ||
		out["Rule"] != "arn:aws:xray:us-east-1:000000000000:sampling-rule/all" {
		t.Errorf("outputs %v", out)
	}
	in["TemplateBody"] = strings.Replace(strings.Replace(users, `"FixedRate":0.5`, `"FixedRate":0.25`, 1), `"Groups":[{"Ref":"Group"}],`, "", 1)
	s.call("UpdateStack", in)
	if status, reason := s.settled("people"); status != "UPDATE_COMPLETE" {
		t.Fatal(status, reason, s.events("people"))
	}
	groups, err := s.try("iam", "ListGroupsForUser", map[string]any{"UserName": "robot"})
	if list, _ := groups["Groups"].([]any); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", groups, err)
	}
	s.call("DeleteStack", map[string]any{"StackName": "people"})
	if status, reason := s.settled("people"); status != "GONE" {
		t.Fatal(status, reason, s.events("people"))
	}
	if _, err := s.try("iam", "GetUser", map[string]any{"UserName": "robot"}); err == nil {
		t.Error("the user is still there")
	}
}

// The CDK command line sends the mode of deployment with each request that changes a stack.
func TestDeploymentModes(t *testing.T) {
	t.Parallel()
	s := stacksOf(t, open(t, local.Config{}))
	mode := func(name string) map[string]any { return map[string]any{"Mode": name} }
	const topic = `{"Resources":{"T":{"Type":"AWS::SNS::Topic"}}}`
	for operation, in := range map[string]map[string]any{
		"CreateStack":     {"StackName": "s", "TemplateBody": topic},
		"UpdateStack":     {"StackName": "s", "TemplateBody": topic},
		"CreateChangeSet": {"StackName": "s", "ChangeSetName": "c", "ChangeSetType": "CREATE", "TemplateBody": topic},
		"RollbackStack":   {"StackName": "s"},
		"DeleteStack":     {"StackName": "s"},
	} {
		in["DeploymentConfig"] = mode("EXPRESS")
		if _, err := s.try("cloudformation", operation, in); err == nil || !strings.Contains(err.Error(), "DeploymentConfig.Mode EXPRESS") {
			t.Errorf("%s: %v", operation, err)
		}
	}
	s.call("CreateStack", map[string]any{"StackName": "s", "TemplateBody": topic, "DeploymentConfig": mode("STANDARD"), "DisableValidation": true})
	if status, reason := s.settled("s"); status != "CREATE_COMPLETE" {
		t.Fatal(status, reason)
	}
	s.call("DeleteStack", map[string]any{"StackName": "s", "DeploymentConfig": mode("STANDARD")})
	if status, reason := s.settled("s"); status != "GONE" {
		t.Fatal(status, reason)
	}
}
