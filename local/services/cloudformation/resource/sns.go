package resource

import (
	"context"
	"reflect"
)

func topics() []*Type {
	return []*Type{{
		Name: "AWS::SNS::Topic",
		Properties: properties(`TopicName= FifoTopic! ContentBasedDeduplication DisplayName KmsMasterKeyId Subscription
			Tags TracingConfig SignatureVersion ArchivePolicy FifoThroughputScope DataProtectionPolicy`),
		Create: createTopic, Update: updateTopic, Read: readTopic, List: listTopics,
		Delete: func(ctx context.Context, r *Request) error {
			return ignoreAbsent(r.Call(ctx, "sns", "DeleteTopic", map[string]any{"TopicArn": r.ID}, nil))
		},
	}, {
		Name: "AWS::SNS::Subscription",
		Properties: properties(`TopicArn*! Protocol*! Endpoint! Region! DeliveryPolicy FilterPolicy FilterPolicyScope
			RawMessageDelivery RedrivePolicy SubscriptionRoleArn ReplayPolicy`),
		Create: createSubscription, Update: updateSubscription, Read: readSubscription,
		Delete: func(ctx context.Context, r *Request) error {
			return ignoreAbsent(r.Call(ctx, "sns", "Unsubscribe", map[string]any{"SubscriptionArn": r.ID}, nil))
		},
	}, policyOf("AWS::SNS::TopicPolicy", "Topics", putTopicPolicy),
		policyOf("AWS::SNS::TopicInlinePolicy", "TopicArn!", putTopicPolicy)}
}

var topicAttributes = "FifoTopic ContentBasedDeduplication DisplayName KmsMasterKeyId TracingConfig SignatureVersion " +
	"ArchivePolicy FifoThroughputScope"

func topicState(arn string) State {
	return State{ID: arn, Attributes: map[string]any{"TopicArn": arn, "TopicName": after(arn, ":")}}
}

func createTopic(ctx context.Context, r *Request) (State, error) {
	name := r.text("TopicName")
	if name == "" {
		if name = r.Name(256); r.text("FifoTopic") == "true" {
			name = r.Name(256-len(".fifo")) + ".fifo"
		}
	}
	in := map[string]any{"Name": name}
	attributes := map[string]any{}
	for k, v := range pick(r.Properties, topicAttributes) {
		attributes[k] = document(v)
	}
	set(in, "Attributes", attributes)
	set(in, "Tags", r.tagList())
	set(in, "DataProtectionPolicy", document(r.Properties["DataProtectionPolicy"]))
	var out struct {
		ARN string `json:"TopicArn"`
	}
	if err := r.Call(ctx, "sns", "CreateTopic", in, &out); err != nil {
		return State{}, err
	}
	return topicState(out.ARN), subscribe(ctx, r, out.ARN)
}

func subscribe(ctx context.Context, r *Request, topic string) error {
	for _, e := range list(r.Properties, "Subscription") {
		s, _ := e.(map[string]any)
		in := pick(s, "Endpoint Protocol")
		in["TopicArn"], in["ReturnSubscriptionArn"] = topic, true
		if err := r.Call(ctx, "sns", "Subscribe", in, nil); err != nil {
			return err
		}
	}
	return nil
}

func updateTopic(ctx context.Context, r *Request) (State, error) {
	defaults := map[string]string{"ContentBasedDeduplication": "false", "TracingConfig": "PassThrough",
		"SignatureVersion": "1", "FifoThroughputScope": "Topic"}
	now, before := pick(r.Properties, topicAttributes), pick(r.Previous, topicAttributes)
	for k := range before {
		if _, ok := now[k]; !ok {
			now[k] = defaults[k]
		}
	}
	for _, k := range keysOf(now) {
		if k == "FifoTopic" || reflect.DeepEqual(now[k], before[k]) {
			continue
		}
		in := map[string]any{"TopicArn": r.ID, "AttributeName": k, "AttributeValue": document(now[k])}
		if err := r.Call(ctx, "sns", "SetTopicAttributes", in, nil); err != nil {
			return State{}, err
		}
	}
	if r.changed("DataProtectionPolicy") {
		if err := r.Call(ctx, "sns", "PutDataProtectionPolicy", map[string]any{"ResourceArn": r.ID,
			"DataProtectionPolicy": document(r.Properties["DataProtectionPolicy"])}, nil); err != nil {
			return State{}, err
		}
	}
	if r.changed("Subscription") {
		if err := subscribe(ctx, r, r.ID); err != nil {
			return State{}, err
		}
	}
	return topicState(r.ID), r.retag(ctx, "sns", "TagResource", "UntagResource", map[string]any{"ResourceArn": r.ID},
		"Tags", "TagKeys", asKeyValue)
}

func readTopic(ctx context.Context, r *Request) (map[string]any, error) {
	var out struct{ Attributes map[string]string }
	if err := r.Call(ctx, "sns", "GetTopicAttributes", map[string]any{"TopicArn": r.ID}, &out); err != nil {
		return nil, goneIfAbsent(err)
	}
	p := map[string]any{"TopicName": after(r.ID, ":")}
	for _, name := range []string{"DisplayName", "FifoTopic", "ContentBasedDeduplication", "KmsMasterKeyId",
		"TracingConfig", "SignatureVersion"} {
		if v, ok := out.Attributes[name]; ok {
			p[name] = v
		}
	}
	return p, nil
}

func listTopics(ctx context.Context, r *Request) ([]string, error) {
	var out struct {
		Topics []struct {
			ARN string `json:"TopicArn"`
		}
	}
	err := r.Call(ctx, "sns", "ListTopics", nil, &out)
	ids := make([]string, len(out.Topics))
	for i, t := range out.Topics {
		ids[i] = t.ARN
	}
	return ids, err
}

var subscriptionAttributes = "DeliveryPolicy FilterPolicy FilterPolicyScope RawMessageDelivery RedrivePolicy " +
	"SubscriptionRoleArn ReplayPolicy"

func createSubscription(ctx context.Context, r *Request) (State, error) {
	in := pick(r.Properties, "TopicArn Protocol Endpoint")
	in["ReturnSubscriptionArn"] = true
	attributes := map[string]any{}
	for k, v := range pick(r.Properties, subscriptionAttributes) {
		attributes[k] = document(v)
	}
	set(in, "Attributes", attributes)
	var out struct {
		ARN string `json:"SubscriptionArn"`
	}
	err := r.Call(ctx, "sns", "Subscribe", in, &out)
	return created(State{ID: out.ARN, Attributes: map[string]any{"Arn": out.ARN}}, err)
}

func updateSubscription(ctx context.Context, r *Request) (State, error) {
	defaults := map[string]string{"RawMessageDelivery": "false", "FilterPolicyScope": "MessageAttributes",
		"FilterPolicy": "{}"}
	now, before := pick(r.Properties, subscriptionAttributes), pick(r.Previous, subscriptionAttributes)
	for k := range before {
		if _, ok := now[k]; !ok {
			now[k] = defaults[k]
		}
	}
	for _, k := range keysOf(now) {
		if reflect.DeepEqual(now[k], before[k]) {
			continue
		}
		in := map[string]any{"SubscriptionArn": r.ID, "AttributeName": k, "AttributeValue": document(now[k])}
		if err := r.Call(ctx, "sns", "SetSubscriptionAttributes", in, nil); err != nil {
			return State{}, err
		}
	}
	return State{ID: r.ID, Attributes: map[string]any{"Arn": r.ID}}, nil
}

func readSubscription(ctx context.Context, r *Request) (map[string]any, error) {
	var out struct{ Attributes map[string]string }
	if err := r.Call(ctx, "sns", "GetSubscriptionAttributes", map[string]any{"SubscriptionArn": r.ID}, &out); err != nil {
		return nil, goneIfAbsent(err)
	}
	p := map[string]any{}
	for _, name := range []string{"TopicArn", "Protocol", "Endpoint", "RawMessageDelivery", "FilterPolicyScope"} {
		if v, ok := out.Attributes[name]; ok {
			p[name] = v
		}
	}
	for _, name := range []string{"FilterPolicy", "RedrivePolicy"} {
		if v, ok := out.Attributes[name]; ok {
			p[name] = parsed(v)
		}
	}
	return p, nil
}

func putTopicPolicy(ctx context.Context, r *Request, topic, policy string) error {
	if policy == "" { // SNS has no topic without a policy, so the default policy is restored
		policy = document(map[string]any{"Version": "2008-10-17", "Id": "__default_policy_ID", "Statement": []any{
			map[string]any{"Sid": "__default_statement_ID", "Effect": "Allow", "Principal": map[string]any{"AWS": "*"},
				"Action": []string{"SNS:GetTopicAttributes", "SNS:SetTopicAttributes", "SNS:AddPermission",
					"SNS:RemovePermission", "SNS:DeleteTopic", "SNS:Subscribe", "SNS:ListSubscriptionsByTopic",
					"SNS:Publish"},
				"Resource":  topic,
				"Condition": map[string]any{"StringEquals": map[string]any{"AWS:SourceOwner": r.Scope.Account}}}}})
	}
	return r.Call(ctx, "sns", "SetTopicAttributes", map[string]any{"TopicArn": topic, "AttributeName": "Policy",
		"AttributeValue": policy}, nil)
}
