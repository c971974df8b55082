package resource

import (
	"context"
	"strings"
)

// queueDefaults are the attributes of a queue that a template does not set.
var queueDefaults = map[string]string{"DelaySeconds": "0", "MaximumMessageSize": "1048576",
	"MessageRetentionPeriod": "345600", "ReceiveMessageWaitTimeSeconds": "0", "VisibilityTimeout": "30",
	"RedrivePolicy": "", "RedriveAllowPolicy": "", "KmsMasterKeyId": "", "KmsDataKeyReusePeriodSeconds": "300",
	"SqsManagedSseEnabled": "true", "ContentBasedDeduplication": "false", "DeduplicationScope": "queue",
	"FifoThroughputLimit": "perQueue"}

func queues() []*Type {
	return []*Type{{
		Name: "AWS::SQS::Queue",
		Properties: properties(`QueueName= FifoQueue! ContentBasedDeduplication DeduplicationScope DelaySeconds
			FifoThroughputLimit KmsDataKeyReusePeriodSeconds KmsMasterKeyId MaximumMessageSize MessageRetentionPeriod
			ReceiveMessageWaitTimeSeconds RedriveAllowPolicy RedrivePolicy SqsManagedSseEnabled Tags VisibilityTimeout`),
		Create: createQueue, Update: updateQueue, Read: readQueue, List: listQueues,
		Delete: func(ctx context.Context, r *Request) error {
			return ignoreAbsent(r.Call(ctx, "sqs", "DeleteQueue", map[string]any{"QueueUrl": r.ID}, nil))
		},
	}, policyOf("AWS::SQS::QueuePolicy", "Queues", putQueuePolicy),
		policyOf("AWS::SQS::QueueInlinePolicy", "Queue!", putQueuePolicy)}
}

func queueAttributes(p map[string]any) map[string]any {
	attributes := map[string]any{}
	for name, v := range p {
		if name == "QueueName" || name == "Tags" {
			continue
		}
		attributes[name] = document(v)
	}
	return attributes
}

func createQueue(ctx context.Context, r *Request) (State, error) {
	name := r.text("QueueName")
	if name == "" {
		if name = r.Name(80); r.text("FifoQueue") == "true" {
			name = r.Name(80-len(".fifo")) + ".fifo"
		}
	}
	in := map[string]any{"QueueName": name}
	set(in, "Attributes", queueAttributes(r.Properties))
	if tags := r.tags(); len(tags) > 0 {
		in["tags"] = tags
	}
	var out struct {
		URL string `json:"QueueUrl"`
	}
	if err := r.Call(ctx, "sqs", "CreateQueue", in, &out); err != nil {
		return State{}, err
	}
	return queueState(r, out.URL), nil
}

func queueState(r *Request, url string) State {
	name := after(url, "/")
	return State{ID: url, Attributes: map[string]any{"Arn": r.Scope.ARN("sqs", name), "QueueName": name,
		"QueueUrl": url}}
}

func updateQueue(ctx context.Context, r *Request) (State, error) {
	attributes := map[string]any{}
	now := queueAttributes(r.Properties)
	for name, v := range now {
		if name != "FifoQueue" && r.changed(name) {
			attributes[name] = v
		}
	}
	for name := range queueAttributes(r.Previous) {
		if _, ok := now[name]; !ok {
			attributes[name] = queueDefaults[name]
		}
	}
	if len(attributes) > 0 {
		in := map[string]any{"QueueUrl": r.ID, "Attributes": attributes}
		if err := r.Call(ctx, "sqs", "SetQueueAttributes", in, nil); err != nil {
			return State{}, err
		}
	}
	return queueState(r, r.ID), r.retag(ctx, "sqs", "TagQueue", "UntagQueue", map[string]any{"QueueUrl": r.ID}, "Tags",
		"TagKeys", asMap)
}

func readQueue(ctx context.Context, r *Request) (map[string]any, error) {
	var out struct{ Attributes map[string]string }
	if err := r.Call(ctx, "sqs", "GetQueueAttributes", map[string]any{"QueueUrl": r.ID, "AttributeNames": []string{"All"}},
		&out); err != nil {
		return nil, goneIfAbsent(err)
	}
	p := map[string]any{"QueueName": after(r.ID, "/"), "RedrivePolicy": "", "RedriveAllowPolicy": "", "KmsMasterKeyId": ""}
	for name, v := range out.Attributes {
		if _, ok := queueDefaults[name]; ok || name == "FifoQueue" {
			p[name] = v
			if strings.HasSuffix(name, "Policy") {
				p[name] = parsed(v)
			}
		}
	}
	return p, nil
}

func listQueues(ctx context.Context, r *Request) ([]string, error) {
	var out struct {
		URLs []string `json:"QueueUrls"`
	}
	err := r.Call(ctx, "sqs", "ListQueues", nil, &out)
	return out.URLs, err
}

func putQueuePolicy(ctx context.Context, r *Request, queue, policy string) error {
	return r.Call(ctx, "sqs", "SetQueueAttributes", map[string]any{"QueueUrl": queue,
		"Attributes": map[string]any{"Policy": policy}}, nil)
}

// policyOf returns a type that sets a policy on the targets in a property, which is a text or a list. marked is the
// property's name, which may be followed by marks as in properties.
func policyOf(name, marked string, put func(ctx context.Context, r *Request, target, policy string) error) *Type {
	property := strings.TrimRight(marked, "!")
	targets := func(p map[string]any) []string {
		if s, ok := p[property].(string); ok {
			return []string{s}
		}
		return texts(p, property)
	}
	apply := func(ctx context.Context, r *Request) (State, error) {
		now := targets(r.Properties)
		for _, t := range now {
			if err := put(ctx, r, t, document(r.Properties["PolicyDocument"])); err != nil {
				return State{}, err
			}
		}
		for _, t := range targets(r.Previous) {
			if !has(now, t) {
				if err := ignoreAbsent(put(ctx, r, t, "")); err != nil {
					return State{}, err
				}
			}
		}
		id := nonempty(r.ID, r.Name(maxID))
		return State{ID: id, Attributes: map[string]any{"Id": id}}, nil
	}
	return &Type{
		Name: name, Properties: properties("PolicyDocument* " + marked + "*"), Create: apply, Update: apply,
		Delete: func(ctx context.Context, r *Request) error {
			for _, t := range targets(r.Properties) {
				if err := ignoreAbsent(put(ctx, r, t, "")); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func has(l []string, s string) bool {
	for _, e := range l {
		if e == s {
			return true
		}
	}
	return false
}
