package resource

import (
	"context"
	"maps"
	"strings"
)

const cloudwatchLogs = "cloudwatchlogs"

func logs() []*Type {
	return []*Type{{
		Name:       "AWS::Logs::LogGroup",
		Properties: properties("LogGroupName= RetentionInDays KmsKeyId LogGroupClass! DeletionProtectionEnabled Tags"),
		Create:     createLogGroup, Update: updateLogGroup, Read: readLogGroup,
		Delete: func(ctx context.Context, r *Request) error {
			return ignoreAbsent(r.Call(ctx, cloudwatchLogs, "DeleteLogGroup", map[string]any{"logGroupName": r.ID}, nil))
		},
	}, {
		Name: "AWS::Logs::LogStream", Properties: properties("LogGroupName*! LogStreamName="),
		Create: func(ctx context.Context, r *Request) (State, error) {
			name := r.named("LogStreamName", 512)
			_, err := r.create(ctx, cloudwatchLogs, "CreateLogStream", map[string]any{
				"logGroupName": r.text("LogGroupName"), "logStreamName": name}, nil)
			return created(State{ID: name}, err)
		},
		Delete: func(ctx context.Context, r *Request) error {
			return ignoreAbsent(r.Call(ctx, cloudwatchLogs, "DeleteLogStream", map[string]any{
				"logGroupName": r.text("LogGroupName"), "logStreamName": r.ID}, nil))
		},
	}, putType("AWS::Logs::SubscriptionFilter",
		"LogGroupName*! FilterName= FilterPattern* DestinationArn* RoleArn Distribution",
		"PutSubscriptionFilter", "DeleteSubscriptionFilter", nil),
		putType("AWS::Logs::MetricFilter", "LogGroupName*! FilterName= FilterPattern* MetricTransformations*",
			"PutMetricFilter", "DeleteMetricFilter", dimensionsByName),
		queryDefinition(), resourcePolicy()}
}

func createLogGroup(ctx context.Context, r *Request) (State, error) {
	name := r.named("LogGroupName", 512)
	in := pick(r.Properties, "KmsKeyId LogGroupClass")
	in["logGroupName"] = name
	if tags := r.tags(); len(tags) > 0 {
		in["tags"] = tags
	}
	if _, err := r.create(ctx, cloudwatchLogs, "CreateLogGroup", in, nil); err != nil {
		return State{}, err
	}
	if err := retention(ctx, r, name); err != nil {
		return logGroupState(r, name), err
	}
	return logGroupState(r, name), deletionProtection(ctx, r, name)
}

func deletionProtection(ctx context.Context, r *Request, name string) error {
	if !r.changed("DeletionProtectionEnabled") {
		return nil
	}
	return r.Call(ctx, cloudwatchLogs, "PutLogGroupDeletionProtection", map[string]any{"logGroupIdentifier": name,
		"deletionProtectionEnabled": r.text("DeletionProtectionEnabled") == "true"}, nil)
}

func logGroupState(r *Request, name string) State {
	return State{ID: name, Attributes: map[string]any{"Arn": r.Scope.ARN("logs", "log-group:"+name+":*")}}
}

func retention(ctx context.Context, r *Request, name string) error {
	if !r.changed("RetentionInDays") {
		return nil
	}
	if days := r.text("RetentionInDays"); days != "" {
		return r.Call(ctx, cloudwatchLogs, "PutRetentionPolicy", map[string]any{"logGroupName": name,
			"retentionInDays": days}, nil)
	}
	return r.Call(ctx, cloudwatchLogs, "DeleteRetentionPolicy", map[string]any{"logGroupName": name}, nil)
}

func updateLogGroup(ctx context.Context, r *Request) (State, error) {
	if err := retention(ctx, r, r.ID); err != nil {
		return State{}, err
	}
	if err := deletionProtection(ctx, r, r.ID); err != nil {
		return State{}, err
	}
	if r.changed("KmsKeyId") {
		operation, in := "AssociateKmsKey", pick(r.Properties, "KmsKeyId")
		if !r.has("KmsKeyId") {
			operation = "DisassociateKmsKey"
		}
		in["logGroupName"] = r.ID
		if err := r.Call(ctx, cloudwatchLogs, operation, in, nil); err != nil {
			return State{}, err
		}
	}
	return logGroupState(r, r.ID), r.retag(ctx, cloudwatchLogs, "TagResource", "UntagResource",
		map[string]any{"resourceArn": r.Scope.ARN("logs", "log-group:"+r.ID)}, "tags", "tagKeys", asMap)
}

func readLogGroup(ctx context.Context, r *Request) (map[string]any, error) {
	var out struct {
		Groups []struct {
			Name      string `json:"logGroupName"`
			Retention *int   `json:"retentionInDays"`
			Key       string `json:"kmsKeyId"`
		} `json:"logGroups"`
	}
	if err := r.Call(ctx, cloudwatchLogs, "DescribeLogGroups", map[string]any{"logGroupNamePrefix": r.ID}, &out); err != nil {
		return nil, err
	}
	for _, g := range out.Groups {
		if g.Name == r.ID {
			p := map[string]any{"LogGroupName": g.Name}
			if g.Retention != nil {
				p["RetentionInDays"] = *g.Retention
			}
			if g.Key != "" {
				p["KmsKeyId"] = g.Key
			}
			return p, nil
		}
	}
	return nil, ErrGone
}

// putType returns the type of a log group's filter, which a single operation creates and changes.
//
// adapt changes the request if the API's form differs from the properties; nil if it does not.
func putType(name, known, put, remove string, adapt func(in map[string]any)) *Type {
	apply := func(ctx context.Context, r *Request) (State, error) {
		filter := r.named("FilterName", 512)
		in := pick(r.Properties, strings.NewReplacer("*", "", "!", "", "=", "").Replace(known))
		in["FilterName"] = filter
		if adapt != nil {
			adapt(in)
		}
		return created(State{ID: filter}, r.Call(ctx, cloudwatchLogs, put, in, nil))
	}
	return &Type{
		Name: name, Properties: properties(known), Create: apply, Update: apply,
		Delete: func(ctx context.Context, r *Request) error {
			return ignoreAbsent(r.Call(ctx, cloudwatchLogs, remove, map[string]any{"logGroupName": r.text("LogGroupName"),
				"filterName": r.ID}, nil))
		},
	}
}

// dimensionsByName converts the dimensions of metric transformations from a template's list of keys and values to the
// map that PutMetricFilter expects.
func dimensionsByName(in map[string]any) {
	var adapted []any
	for _, e := range list(in, "MetricTransformations") {
		transformation, ok := e.(map[string]any)
		if !ok {
			adapted = append(adapted, e) // the API rejects it
			continue
		}
		transformation = maps.Clone(transformation)
		if dimensions, ok := transformation["Dimensions"].([]any); ok {
			byName := map[string]any{}
			for _, d := range dimensions {
				dimension, _ := d.(map[string]any)
				byName[textOf(dimension, "Key")] = dimension["Value"]
			}
			transformation["Dimensions"] = byName
		}
		adapted = append(adapted, transformation)
	}
	if adapted != nil {
		in["MetricTransformations"] = adapted
	}
}

func queryDefinition() *Type {
	apply := func(ctx context.Context, r *Request) (State, error) {
		in := pick(r.Properties, "Name QueryString LogGroupNames QueryLanguage Parameters")
		set(in, "queryDefinitionId", r.ID)
		var out struct {
			ID string `json:"queryDefinitionId"`
		}
		err := r.Call(ctx, cloudwatchLogs, "PutQueryDefinition", in, &out)
		id := nonempty(out.ID, r.ID)
		return created(State{ID: id, Attributes: map[string]any{"QueryDefinitionId": id}}, err)
	}
	return &Type{
		Name: "AWS::Logs::QueryDefinition", Properties: properties("Name* QueryString* LogGroupNames QueryLanguage Parameters"),
		Create: apply, Update: apply,
		Delete: func(ctx context.Context, r *Request) error {
			return ignoreAbsent(r.Call(ctx, cloudwatchLogs, "DeleteQueryDefinition", map[string]any{"queryDefinitionId": r.ID}, nil))
		},
	}
}

func resourcePolicy() *Type {
	apply := func(ctx context.Context, r *Request) (State, error) {
		return created(State{ID: r.text("PolicyName")}, r.Call(ctx, cloudwatchLogs, "PutResourcePolicy", map[string]any{
			"policyName": r.text("PolicyName"), "policyDocument": document(r.Properties["PolicyDocument"])}, nil))
	}
	return &Type{
		Name: "AWS::Logs::ResourcePolicy", Properties: properties("PolicyName*= PolicyDocument*"), Create: apply, Update: apply,
		Delete: func(ctx context.Context, r *Request) error {
			return ignoreAbsent(r.Call(ctx, cloudwatchLogs, "DeleteResourcePolicy", map[string]any{"policyName": r.ID}, nil))
		},
	}
}
