package sam

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
)

// digest returns the short hash that AWS's transform appends to the IDs of versions and layers.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:10]
}

func (x *item) eachEvent(f func(name, typ string, p map[string]any) error) error {
	all, _ := x.p["Events"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		e, _ := all[name].(map[string]any)
		typ, _ := e["Type"].(string)
		p, _ := e["Properties"].(map[string]any)
		if p == nil {
			p = map[string]any{}
		}
		if err := f(name, typ, p); err != nil {
			return err
		}
	}
	return nil
}

const mappingCopied = `BatchSize Enabled MaximumBatchingWindowInSeconds FilterCriteria FunctionResponseTypes ScalingConfig
	StartingPosition ParallelizationFactor MaximumRetryAttempts BisectBatchOnFunctionError MaximumRecordAgeInSeconds
	DestinationConfig TumblingWindowInSeconds`

// events adds the resources that invoke a function, and returns the managed policies that its role needs for that.
func (x *item) events(target any) (managedArns []any, err error) {
	err = x.eachEvent(func(name, typ string, p map[string]any) error {
		id := x.id + name
		permit := func(principal string, source any) {
			x.add(id+"Permission", "AWS::Lambda::Permission", map[string]any{"Action": "lambda:InvokeFunction",
				"FunctionName": target, "Principal": principal, "SourceArn": source})
		}
		switch typ {
		case "SQS", "DynamoDB", "Kinesis":
			to := copied(p, mappingCopied+" Queue=EventSourceArn Stream=EventSourceArn")
			to["FunctionName"] = target
			x.add(id, "AWS::Lambda::EventSourceMapping", to)
			managedArns = append(managedArns, managed(map[string]string{"SQS": "service-role/AWSLambdaSQSQueueExecutionRole",
				"DynamoDB": "service-role/AWSLambdaDynamoDBExecutionRole", "Kinesis": "service-role/AWSLambdaKinesisExecutionRole"}[typ]))
		case "SNS":
			to := copied(p, "Topic=TopicArn FilterPolicy FilterPolicyScope Region RedrivePolicy")
			to["Protocol"], to["Endpoint"] = "lambda", target
			if _, ok := p["SqsSubscription"]; ok {
				return x.invalid("Event with id [%s] is invalid. SqsSubscription is not supported here.", name)
			}
			x.add(id, "AWS::SNS::Subscription", to)
			permit("sns.amazonaws.com", p["Topic"])
		case "EventBridgeRule", "CloudWatchEvent":
			x.rule(id, p, map[string]any{"Arn": target, "Id": x.id + "LambdaTarget"}, "Pattern=EventPattern EventBusName State RuleName=Name")
			permit("events.amazonaws.com", getAtt(id, "Arn"))
		case "Schedule":
			x.rule(id, p, map[string]any{"Arn": target, "Id": x.id + "LambdaTarget"}, "Schedule=ScheduleExpression Name Description State")
			permit("events.amazonaws.com", getAtt(id, "Arn"))
		case "ScheduleV2":
			x.schedule(id, p, target, "lambda:InvokeFunction")
		case "S3":
			return x.bucketEvent(name, p, target)
		default:
			return x.invalid("Event with id [%s] is invalid. The type %s is not supported here.", name, typ)
		}
		return nil
	})
	return managedArns, err
}

// bucketEvent adds a notification to a bucket of the same template.
func (x *item) bucketEvent(name string, p map[string]any, target any) error {
	source, _ := p["Bucket"].(map[string]any)
	bucket, _ := source["Ref"].(string)
	r, _ := x.resources[bucket].(map[string]any)
	if r == nil || r["Type"] != "AWS::S3::Bucket" {
		return x.invalid("Event with id [%s] is invalid. S3 events must reference an S3 bucket in the same template.", name)
	}
	x.add(x.id+name+"Permission", "AWS::Lambda::Permission", map[string]any{"Action": "lambda:InvokeFunction",
		"FunctionName": target, "Principal": "s3.amazonaws.com", "SourceAccount": ref("AWS::AccountId")})
	props, _ := r["Properties"].(map[string]any)
	if props == nil {
		props = map[string]any{}
		r["Properties"] = props
	}
	n, _ := props["NotificationConfiguration"].(map[string]any)
	if n == nil {
		n = map[string]any{}
		props["NotificationConfiguration"] = n
	}
	events, ok := p["Events"].([]any)
	if !ok {
		events = []any{p["Events"]}
	}
	list, _ := n["LambdaConfigurations"].([]any)
	for _, e := range events {
		one := map[string]any{"Event": e, "Function": target}
		if f, ok := p["Filter"]; ok {
			one["Filter"] = f
		}
		list = append(list, one)
	}
	n["LambdaConfigurations"] = list
	depends, _ := r["DependsOn"].([]any)
	if one, ok := r["DependsOn"].(string); ok {
		depends = []any{one}
	}
	r["DependsOn"] = append(depends, x.id+name+"Permission")
	return nil
}

// rule adds an EventBridge rule with one target.
func (x *item) rule(id string, p, target map[string]any, names string) {
	to := copied(p, names)
	if p["Enabled"] == false {
		to["State"] = "DISABLED"
	}
	for k, v := range copied(p, "Input InputPath InputTransformer RetryPolicy") {
		target[k] = v
	}
	if q, ok := p["DeadLetterConfig"].(map[string]any); ok {
		target["DeadLetterConfig"] = copied(q, "Arn")
	}
	to["Targets"] = []any{target}
	x.add(id, "AWS::Events::Rule", to)
}

// startRole adds the role with which a service starts a target.
func (x *item) startRole(id, of, action string, target any) any {
	role := id + "Role"
	x.add(role, "AWS::IAM::Role", map[string]any{
		"AssumeRolePolicyDocument": map[string]any{"Version": "2012-10-17", "Statement": []any{map[string]any{
			"Effect": "Allow", "Action": []any{"sts:AssumeRole"}, "Principal": map[string]any{"Service": []any{service(of)}}}}},
		"Policies": []any{map[string]any{"PolicyName": role + "Policy", "PolicyDocument": map[string]any{
			"Version": "2012-10-17", "Statement": []any{allow([]any{action}, target)}}}},
	})
	return getAtt(role, "Arn")
}

func (x *item) schedule(id string, p map[string]any, target any, action string) {
	to := copied(p, "Name GroupName Description State StartDate EndDate ScheduleExpression ScheduleExpressionTimezone FlexibleTimeWindow")
	if to["FlexibleTimeWindow"] == nil {
		to["FlexibleTimeWindow"] = map[string]any{"Mode": "OFF"}
	}
	if to["Name"] == nil {
		to["Name"] = id
	}
	t := copied(p, "Input RetryPolicy RoleArn")
	t["Arn"] = target
	if t["RoleArn"] == nil {
		t["RoleArn"] = x.startRole(id, "scheduler", action, target)
	}
	to["Target"] = t
	x.add(id, "AWS::Scheduler::Schedule", to)
}

// machineEvents adds the resources that start a state machine.
func (x *item) machineEvents() error {
	return x.eachEvent(func(name, typ string, p map[string]any) error {
		id := x.id + name
		target := map[string]any{"Arn": ref(x.id), "Id": id + "StepFunctionsTarget"}
		switch typ {
		case "EventBridgeRule", "CloudWatchEvent":
			target["RoleArn"] = x.startRole(id, "events", "states:StartExecution", ref(x.id))
			x.rule(id, p, target, "Pattern=EventPattern EventBusName State RuleName=Name")
		case "Schedule":
			target["RoleArn"] = x.startRole(id, "events", "states:StartExecution", ref(x.id))
			x.rule(id, p, target, "Schedule=ScheduleExpression Name Description State")
		case "ScheduleV2":
			x.schedule(id, p, ref(x.id), "states:StartExecution")
		default:
			return x.invalid("Event with id [%s] is invalid. The type %s is not supported here.", name, typ)
		}
		return nil
	})
}
