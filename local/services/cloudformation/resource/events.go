package resource

import (
	"context"
	"strings"

	"stepback/aws"
)

const eventBridge = "eventbridge"

func events() []*Type {
	return []*Type{{
		Name:       "AWS::Events::Rule",
		Properties: properties(`Name= EventBusName! Description EventPattern ScheduleExpression State RoleArn Targets Tags`),
		Create:     putRule, Update: putRule, Delete: deleteRule, Read: readRule,
	}, {
		Name:       "AWS::Events::EventBus",
		Properties: properties("Name*= EventSourceName! Description DeadLetterConfig KmsKeyIdentifier Policy LogConfig Tags"),
		Create:     createBus, Update: updateBus,
		Delete: func(ctx context.Context, r *Request) error {
			return ignoreAbsent(r.Call(ctx, eventBridge, "DeleteEventBus", map[string]any{"Name": r.ID}, nil))
		},
	}, {
		Name: "AWS::Events::EventBusPolicy", Properties: properties("EventBusName! StatementId*! Statement Action Principal Condition"),
		Create: putBusPolicy, Update: putBusPolicy,
		Delete: func(ctx context.Context, r *Request) error {
			return ignoreAbsent(r.Call(ctx, eventBridge, "RemovePermission", pick(r.Properties, "EventBusName StatementId"), nil))
		},
	}, {
		Name: "AWS::Events::Archive", Properties: properties("ArchiveName= SourceArn*! Description EventPattern RetentionDays KmsKeyIdentifier"),
		Create: func(ctx context.Context, r *Request) (State, error) { return putArchive(ctx, r, "CreateArchive") },
		Update: func(ctx context.Context, r *Request) (State, error) { return putArchive(ctx, r, "UpdateArchive") },
		Delete: func(ctx context.Context, r *Request) error {
			return ignoreAbsent(r.Call(ctx, eventBridge, "DeleteArchive", map[string]any{"ArchiveName": r.ID}, nil))
		},
	}, {
		Name: "AWS::Events::Connection", Properties: properties("Name= AuthorizationType AuthParameters~ Description InvocationConnectivityParameters KmsKeyIdentifier"),
		Create: func(ctx context.Context, r *Request) (State, error) { return putConnection(ctx, r, "CreateConnection") },
		Update: func(ctx context.Context, r *Request) (State, error) { return putConnection(ctx, r, "UpdateConnection") },
		Delete: func(ctx context.Context, r *Request) error {
			return ignoreAbsent(r.Call(ctx, eventBridge, "DeleteConnection", map[string]any{"Name": r.ID}, nil))
		},
	}, {
		Name: "AWS::Events::ApiDestination", Properties: properties("Name= ConnectionArn* HttpMethod* InvocationEndpoint* InvocationRateLimitPerSecond Description"),
		Create: func(ctx context.Context, r *Request) (State, error) {
			return putDestination(ctx, r, "CreateApiDestination")
		},
		Update: func(ctx context.Context, r *Request) (State, error) {
			return putDestination(ctx, r, "UpdateApiDestination")
		},
		Delete: func(ctx context.Context, r *Request) error {
			return ignoreAbsent(r.Call(ctx, eventBridge, "DeleteApiDestination", map[string]any{"Name": r.ID}, nil))
		},
	}}
}

// Failures of individual entries, for which EventBridge responds with status 200.
type failedEntries struct {
	Count   int `json:"FailedEntryCount"`
	Entries []struct {
		ID      string `json:"TargetId"`
		Code    string `json:"ErrorCode"`
		Message string `json:"ErrorMessage"`
	} `json:"FailedEntries"`
}

func (f failedEntries) err() error {
	if f.Count == 0 || len(f.Entries) == 0 {
		return nil
	}
	return &aws.Error{Code: f.Entries[0].Code, Message: "target " + f.Entries[0].ID + ": " + f.Entries[0].Message}
}

func putRule(ctx context.Context, r *Request) (State, error) {
	name := ruleName(r)
	in := pick(r.Properties, "EventBusName Description ScheduleExpression State RoleArn")
	in["Name"] = name
	if r.has("EventPattern") {
		in["EventPattern"] = document(r.Properties["EventPattern"])
	}
	if r.Previous == nil {
		set(in, "Tags", r.tagList())
	}
	var out struct {
		ARN string `json:"RuleArn"`
	}
	if err := r.Call(ctx, eventBridge, "PutRule", in, &out); err != nil {
		return State{}, err
	}
	// A rule of another bus is not identified by its name alone.
	id := name
	if bus := busName(r); bus != "default" {
		id = bus + "|" + name
	}
	state := State{ID: id, Ref: id, Attributes: map[string]any{"Arn": out.ARN}}
	if err := putTargets(ctx, r, name); err != nil {
		return state, err
	}
	if r.Previous == nil {
		return state, nil
	}
	return state, r.retag(ctx, eventBridge, "TagResource", "UntagResource", map[string]any{"ResourceARN": out.ARN}, "Tags",
		"TagKeys", asKeyValue)
}

// busName returns the name of the rule's bus, which a template may give as an ARN.
func busName(r *Request) string {
	bus := nonempty(r.text("EventBusName"), "default")
	return after(bus, "/")
}

func ruleName(r *Request) string {
	if name := r.text("Name"); name != "" {
		return name
	}
	if r.ID != "" {
		return after(r.ID, "|")
	}
	return r.Name(64)
}

// mostTargets is the maximum number of targets in one call.
const mostTargets = 10

func putTargets(ctx context.Context, r *Request, name string) error {
	of := pick(r.Properties, "EventBusName")
	now := map[string]bool{}
	targets := list(r.Properties, "Targets")
	for _, e := range targets {
		t, _ := e.(map[string]any)
		now[textOf(t, "Id")] = true
	}
	var drop []string
	for _, e := range list(r.Previous, "Targets") {
		t, _ := e.(map[string]any)
		if id := textOf(t, "Id"); !now[id] {
			drop = append(drop, id)
		}
	}
	if len(drop) > 0 {
		in := map[string]any{"Rule": name, "Ids": drop}
		set(in, "EventBusName", of["EventBusName"])
		var failed failedEntries
		if err := r.Call(ctx, eventBridge, "RemoveTargets", in, &failed); err != nil {
			return err
		}
		if err := failed.err(); err != nil {
			return err
		}
	}
	for len(targets) > 0 {
		n := min(len(targets), mostTargets)
		in := map[string]any{"Rule": name, "Targets": targets[:n]}
		set(in, "EventBusName", of["EventBusName"])
		var failed failedEntries
		if err := r.Call(ctx, eventBridge, "PutTargets", in, &failed); err != nil {
			return err
		}
		if err := failed.err(); err != nil {
			return err
		}
		targets = targets[n:]
	}
	return nil
}

func deleteRule(ctx context.Context, r *Request) error {
	name := ruleName(r)
	targets := list(r.Properties, "Targets")
	ids := make([]string, 0, len(targets))
	for _, e := range targets {
		t, _ := e.(map[string]any)
		ids = append(ids, textOf(t, "Id"))
	}
	if len(ids) > 0 {
		in := pick(r.Properties, "EventBusName")
		in["Rule"], in["Ids"] = name, ids
		if err := r.Call(ctx, eventBridge, "RemoveTargets", in, nil); ignoreAbsent(err) != nil {
			return err
		}
	}
	in := pick(r.Properties, "EventBusName")
	in["Name"] = name
	return ignoreAbsent(r.Call(ctx, eventBridge, "DeleteRule", in, nil))
}

func readRule(ctx context.Context, r *Request) (map[string]any, error) {
	in := pick(r.Properties, "EventBusName")
	in["Name"] = ruleName(r)
	var out struct{ Name, Description, EventPattern, ScheduleExpression, State, RoleArn string }
	if err := r.Call(ctx, eventBridge, "DescribeRule", in, &out); err != nil {
		return nil, goneIfAbsent(err)
	}
	p := map[string]any{"Name": out.Name, "State": out.State}
	set(p, "Description", out.Description)
	set(p, "ScheduleExpression", out.ScheduleExpression)
	set(p, "RoleArn", out.RoleArn)
	if out.EventPattern != "" {
		p["EventPattern"] = parsed(out.EventPattern)
	}
	return p, nil
}

func busState(r *Request) State {
	name := r.text("Name")
	return State{ID: name, Attributes: map[string]any{"Name": name, "Arn": r.Scope.ARN("events", "event-bus/"+name),
		"Policy": document(r.Properties["Policy"])}}
}

func createBus(ctx context.Context, r *Request) (State, error) {
	in := pick(r.Properties, "Name EventSourceName Description DeadLetterConfig KmsKeyIdentifier LogConfig")
	set(in, "Tags", r.tagList())
	if _, err := r.create(ctx, eventBridge, "CreateEventBus", in, nil); err != nil {
		return State{}, err
	}
	if r.has("Policy") {
		return busState(r), r.Call(ctx, eventBridge, "PutPermission", map[string]any{"EventBusName": r.text("Name"),
			"Policy": document(r.Properties["Policy"])}, nil)
	}
	return busState(r), nil
}

func updateBus(ctx context.Context, r *Request) (State, error) {
	if r.changed("Description", "DeadLetterConfig", "KmsKeyIdentifier", "LogConfig") {
		in := pick(r.Properties, "Name Description DeadLetterConfig KmsKeyIdentifier LogConfig")
		if err := r.Call(ctx, eventBridge, "UpdateEventBus", in, nil); err != nil {
			return State{}, err
		}
	}
	if r.changed("Policy") {
		operation, in := "PutPermission", map[string]any{"EventBusName": r.ID, "Policy": document(r.Properties["Policy"])}
		if !r.has("Policy") {
			operation, in = "RemovePermission", map[string]any{"EventBusName": r.ID, "RemoveAllPermissions": true}
		}
		if err := r.Call(ctx, eventBridge, operation, in, nil); err != nil {
			return State{}, err
		}
	}
	s := busState(r)
	return s, r.retag(ctx, eventBridge, "TagResource", "UntagResource", map[string]any{
		"ResourceARN": s.Attributes["Arn"]}, "Tags", "TagKeys", asKeyValue)
}

func putBusPolicy(ctx context.Context, r *Request) (State, error) {
	in := pick(r.Properties, "EventBusName Action Principal Condition")
	if r.has("Statement") {
		statement := map[string]any{}
		for k, v := range object(r.Properties, "Statement") {
			statement[k] = v
		}
		statement["Sid"] = r.text("StatementId")
		in["Policy"] = document(map[string]any{"Version": "2012-10-17", "Statement": []any{statement}})
	} else {
		in["StatementId"] = r.text("StatementId")
	}
	return created(State{ID: r.text("StatementId")}, r.Call(ctx, eventBridge, "PutPermission", in, nil))
}

func putArchive(ctx context.Context, r *Request, operation string) (State, error) {
	name := r.named("ArchiveName", 48)
	in := pick(r.Properties, "Description RetentionDays KmsKeyIdentifier")
	if operation == "CreateArchive" {
		in["EventSourceArn"] = r.text("SourceArn")
	}
	in["ArchiveName"] = name
	if r.has("EventPattern") {
		in["EventPattern"] = document(r.Properties["EventPattern"])
	}
	_, err := r.create(ctx, eventBridge, operation, in, nil)
	return created(State{ID: name, Attributes: map[string]any{"Arn": r.Scope.ARN("events", "archive/"+name)}}, err)
}

func putConnection(ctx context.Context, r *Request, operation string) (State, error) {
	name := r.named("Name", 64)
	in := pick(r.Properties, "AuthorizationType AuthParameters Description InvocationConnectivityParameters KmsKeyIdentifier")
	in["Name"] = name
	made, err := r.create(ctx, eventBridge, operation, in, nil)
	if err == nil && !made {
		err = r.Call(ctx, eventBridge, "UpdateConnection", in, nil)
	}
	if err != nil {
		return State{}, err
	}
	var out struct {
		ARN    string `json:"ConnectionArn"`
		Secret string `json:"SecretArn"`
	}
	err = r.Call(ctx, eventBridge, "DescribeConnection", map[string]any{"Name": name}, &out)
	return created(State{ID: name, Attributes: map[string]any{"Arn": out.ARN, "SecretArn": out.Secret,
		"ArnForPolicy": arnForPolicy(out.ARN)}}, err)
}

func putDestination(ctx context.Context, r *Request, operation string) (State, error) {
	name := r.named("Name", 64)
	in := pick(r.Properties, "ConnectionArn HttpMethod InvocationEndpoint InvocationRateLimitPerSecond Description")
	in["Name"] = name
	var out struct {
		ARN string `json:"ApiDestinationArn"`
	}
	made, err := r.create(ctx, eventBridge, operation, in, &out)
	if err == nil && !made {
		err = r.Call(ctx, eventBridge, "UpdateApiDestination", in, &out)
	}
	return created(State{ID: name, Attributes: map[string]any{"Arn": out.ARN, "ArnForPolicy": arnForPolicy(out.ARN)}}, err)
}

// arnForPolicy returns an ARN without the ID at its end, the form in which policies name a connection or an API
// destination.
func arnForPolicy(arn string) string { return arn[:max(strings.LastIndexByte(arn, '/'), 0)] }
