package sam

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"stepback/local/services/cloudformation/template"
)

func allow(actions []any, resource any) any {
	return map[string]any{"Effect": "Allow", "Action": actions, "Resource": resource}
}

// role adds the role of a function or a state machine that has none.
func (x *item) role(of string, managedArns, statements []any) error {
	policies := []any{}
	for i, p := range policyList(x.p["Policies"]) {
		switch p := p.(type) {
		case string:
			if strings.HasPrefix(p, "arn:") {
				managedArns = append(managedArns, p)
			} else {
				managedArns = append(managedArns, managed(p))
			}
		case map[string]any:
			doc := any(p)
			if _, ok := p["Statement"]; !ok {
				if oneFunction(p) {
					managedArns = append(managedArns, p)
					continue
				}
				made, err := x.policyTemplate(p)
				if err != nil {
					return err
				}
				doc = map[string]any{"Version": "2012-10-17", "Statement": made}
			}
			policies = append(policies, map[string]any{"PolicyName": fmt.Sprintf("%sRolePolicy%d", x.id, i),
				"PolicyDocument": doc})
		}
	}
	if len(statements) > 0 {
		policies = append(policies, map[string]any{"PolicyName": x.id + "Policy",
			"PolicyDocument": map[string]any{"Version": "2012-10-17", "Statement": statements}})
	}
	role := copied(x.p, "PermissionsBoundary RolePath=Path AssumeRolePolicyDocument")
	if role["AssumeRolePolicyDocument"] == nil {
		role["AssumeRolePolicyDocument"] = map[string]any{"Version": "2012-10-17", "Statement": []any{map[string]any{
			"Effect": "Allow", "Action": []any{"sts:AssumeRole"}, "Principal": map[string]any{"Service": []any{service(of)}}}}}
	}
	if len(managedArns) > 0 {
		role["ManagedPolicyArns"] = unique(managedArns)
	}
	if len(policies) > 0 {
		role["Policies"] = policies
	}
	created := "lambda:createdBy"
	if of != "lambda" {
		created = "stateMachine:createdBy"
	}
	role["Tags"] = tags(x.p["Tags"], created, "SAM")
	x.add(x.id+"Role", "AWS::IAM::Role", role)
	return nil
}

func unique(l []any) []any {
	var out []any
	seen := map[string]bool{}
	for _, v := range l {
		if text := template.JSON(v); !seen[text] {
			seen[text] = true
			out = append(out, v)
		}
	}
	return out
}

func oneFunction(p map[string]any) bool {
	for k := range p {
		if len(p) == 1 && (k == "Ref" || strings.HasPrefix(k, "Fn::")) {
			return true
		}
	}
	return false
}

func policyList(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	return []any{v}
}

// policyTemplates holds the supported SAM policy templates: their actions, and the resources for the parameter.
var policyTemplates = map[string]struct {
	actions   string
	parameter string
	resources []string // with %s for the parameter
}{
	"SQSPollerPolicy": {"sqs:ChangeMessageVisibility sqs:ChangeMessageVisibilityBatch sqs:DeleteMessage sqs:DeleteMessageBatch sqs:GetQueueAttributes sqs:ReceiveMessage",
		"QueueName", []string{"arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:${queueName}"}},
	"SQSSendMessagePolicy": {"sqs:SendMessage*", "QueueName",
		[]string{"arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:${queueName}"}},
	"LambdaInvokePolicy": {"lambda:InvokeFunction", "FunctionName",
		[]string{"arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:${functionName}*"}},
	"SNSPublishMessagePolicy": {"sns:Publish", "TopicName",
		[]string{"arn:${AWS::Partition}:sns:${AWS::Region}:${AWS::AccountId}:${topicName}"}},
	"S3ReadPolicy": {"s3:GetObject s3:ListBucket s3:GetBucketLocation s3:GetObjectVersion s3:GetLifecycleConfiguration", "BucketName",
		[]string{"arn:${AWS::Partition}:s3:::${bucketName}", "arn:${AWS::Partition}:s3:::${bucketName}/*"}},
	"S3WritePolicy": {"s3:PutObject s3:PutObjectAcl s3:PutLifecycleConfiguration", "BucketName",
		[]string{"arn:${AWS::Partition}:s3:::${bucketName}", "arn:${AWS::Partition}:s3:::${bucketName}/*"}},
	"S3CrudPolicy": {"s3:GetObject s3:ListBucket s3:GetBucketLocation s3:GetObjectVersion s3:PutObject s3:PutObjectAcl s3:GetLifecycleConfiguration s3:PutLifecycleConfiguration s3:DeleteObject", "BucketName",
		[]string{"arn:${AWS::Partition}:s3:::${bucketName}", "arn:${AWS::Partition}:s3:::${bucketName}/*"}},
	"DynamoDBCrudPolicy": {"dynamodb:GetItem dynamodb:DeleteItem dynamodb:PutItem dynamodb:Scan dynamodb:Query dynamodb:UpdateItem dynamodb:BatchWriteItem dynamodb:BatchGetItem dynamodb:DescribeTable dynamodb:ConditionCheckItem", "TableName",
		[]string{"arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${tableName}", "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${tableName}/index/*"}},
	"DynamoDBReadPolicy": {"dynamodb:GetItem dynamodb:Scan dynamodb:Query dynamodb:BatchGetItem dynamodb:DescribeTable", "TableName",
		[]string{"arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${tableName}", "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${tableName}/index/*"}},
	"DynamoDBWritePolicy": {"dynamodb:PutItem dynamodb:UpdateItem dynamodb:BatchWriteItem", "TableName",
		[]string{"arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${tableName}", "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${tableName}/index/*"}},
	"StepFunctionsExecutionPolicy": {"states:StartExecution", "StateMachineName",
		[]string{"arn:${AWS::Partition}:states:${AWS::Region}:${AWS::AccountId}:stateMachine:${stateMachineName}"}},
	"EventBridgePutEventsPolicy": {"events:PutEvents", "EventBusName",
		[]string{"arn:${AWS::Partition}:events:${AWS::Region}:${AWS::AccountId}:event-bus/${eventBusName}"}},
	"SSMParameterReadPolicy": {"ssm:GetParameters ssm:GetParameter ssm:GetParametersByPath", "ParameterName",
		[]string{"arn:${AWS::Partition}:ssm:${AWS::Region}:${AWS::AccountId}:parameter/${parameterName}"}},
	"CloudWatchPutMetricPolicy": {"cloudwatch:PutMetricData", "", []string{"*"}},
}

// policyTemplate returns the statements of a policy template, {NAME: {PARAMETER: VALUE}}.
func (x *item) policyTemplate(p map[string]any) ([]any, error) {
	for name, v := range p {
		t, ok := policyTemplates[name]
		if !ok || len(p) != 1 {
			break
		}
		arguments, _ := v.(map[string]any)
		var resources []any
		for _, r := range t.resources {
			if t.parameter == "" {
				resources = append(resources, r)
				continue
			}
			variable := strings.ToLower(t.parameter[:1]) + t.parameter[1:]
			resources = append(resources, map[string]any{"Fn::Sub": []any{r, map[string]any{variable: arguments[t.parameter]}}})
		}
		names := strings.Fields(t.actions)
		actions := make([]any, 0, len(names))
		for _, a := range names {
			actions = append(actions, a)
		}
		return []any{allow(actions, resources)}, nil
	}
	return nil, x.invalid("The policy template %s is not supported here.", strings.Join(slices.Sorted(maps.Keys(p)), ", "))
}
