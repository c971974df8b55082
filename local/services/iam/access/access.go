// Package access determines which action on which resource a request needs, in the terms of IAM policies:
// sqs:SendMessage on arn:aws:sqs:us-east-1:000000000000:jobs. It follows the operations of the API models, and AWS's
// Service Authorization Reference where names differ.
//
// It is pure and makes no decisions. Requests that concern several resources, such as DynamoDB batches, have several
// needs.
package access

import (
	"net/url"
	"strings"

	"stepback/aws"
	"stepback/engine/durable"
	"stepback/internal/lazyregexp"
	"stepback/jsonvalue"
)

// Need is a permission that a request requires: an action on a resource.
type Need struct{ Action, Resource string }

// prefixes maps API model names to the service's action prefix where the two differ.
var prefixes = map[string]string{
	"sfn": "states", "cloudwatchlogs": "logs", "eventbridge": "events", "dynamodbstreams": "dynamodb",
	"apigatewayv2": "apigateway", "cloudcontrol": "cloudformation",
}

// actions maps MODEL/OPERATION to the name of the action where the two differ.
var actions = map[string]string{
	"lambda/Invoke": "InvokeFunction", "lambda/InvokeAsync": "InvokeFunction",
	"lambda/InvokeWithResponseStream": "InvokeFunction",
	"sqs/SendMessageBatch":            "SendMessage", "sqs/DeleteMessageBatch": "DeleteMessage",
	"sqs/ChangeMessageVisibilityBatch": "ChangeMessageVisibility", "sns/PublishBatch": "Publish",
	"dynamodb/TransactGetItems": "GetItem",
}

// arnMembers lists the request members that name the resource by ARN, in order of precedence.
var arnMembers = []string{"ResourceArn", "ResourceARN", "resourceArn", "TopicArn", "TargetArn", "stateMachineArn", "executionArn",
	"activityArn", "mapRunArn", "stateMachineVersionArn", "stateMachineAliasArn", "StreamArn", "SourceArn", "RoleArn"}

// Of returns the permissions that an operation of a service needs, given its request document.
func Of(model, operation string, input jsonvalue.Value, scope aws.Scope) []Need {
	prefix := prefixes[model]
	if prefix == "" {
		prefix = model
	}
	action := actions[model+"/"+operation]
	if action == "" {
		action = operation
	}
	in := request{input, scope, operation}
	var resources []string
	switch model {
	case "sqs":
		resources = in.queue()
	case "sns":
		resources = in.topic()
	case "dynamodb":
		if strings.HasPrefix(operation, "Transact") || strings.HasPrefix(operation, "Execute") || operation == "BatchExecuteStatement" {
			return in.several()
		}
		resources = in.tables()
	case "lambda":
		resources = in.function()
	case "cloudwatchlogs":
		resources = in.logGroup()
	case "eventbridge":
		resources = in.bus()
	case "kms":
		resources = in.named("kms", "KeyId", "key/")
	case "secretsmanager":
		resources = in.named("secretsmanager", "SecretId", "secret:")
		if resources == nil {
			resources = in.named("secretsmanager", "Name", "secret:")
		}
	case "ssm":
		resources = in.parameters()
	case "iam":
		resources = in.identity()
	case "sfn":
		resources = in.machine()
	case "cloudformation":
		if resources = in.named("cloudformation", "StackName", "stack/"); resources != nil && !strings.Contains(in.text("StackName"), ":") {
			resources[0] += "/*"
		}
	case "cloudcontrol":
		resources = []string{"*"}
	case "cloudwatch":
		resources = in.named("cloudwatch", "AlarmName", "alarm:")
	case "ecr":
		resources = in.named("ecr", "repositoryName", "repository/")
	case "scheduler":
		if name := in.text("Name"); name != "" && in.text("GroupName") != "" {
			resources = []string{scope.ARN("scheduler", "schedule/"+in.text("GroupName")+"/"+name)}
		} else if name != "" {
			resources = []string{scope.ARN("scheduler", "schedule/default/"+name)}
		}
	}
	if resources == nil {
		resources = in.arn()
	}
	passed := in.passed(model)
	needs := make([]Need, 0, len(resources)+len(passed))
	for _, r := range resources {
		needs = append(needs, Need{prefix + ":" + action, r})
	}
	if publish, ok := input.Get("publish"); ok && model == "sfn" && publish.Kind() == jsonvalue.Bool && publish.Bool() {
		needs = append(needs, Need{prefix + ":PublishStateMachineVersion", needs[0].Resource})
	}
	return append(needs, passed...)
}

// OfGateway returns the permission that a request to API Gateway needs. Its actions are HTTP methods and its
// resources are paths.
func OfGateway(method, path string, scope aws.Scope) Need {
	scope.Account = ""
	return Need{"apigateway:" + method, scope.ARN("apigateway", strings.TrimPrefix(path, "/v2"))}
}

// Unqualified converts the ARN of a version or an alias to the ARN of its state machine, which policies use.
// qualifier is the version's number or the alias's name, which is the value of the condition key
// states:StateMachineQualifier. Other resources are returned unchanged.
func Unqualified(resource string) (machine, qualifier string) {
	arn, ok := aws.ParseARN(resource)
	name, isMachine := strings.CutPrefix(arn.Resource, "stateMachine:")
	if !ok || arn.Service != "states" || !isMachine {
		return resource, ""
	}
	if _, qualifier, ok = strings.Cut(name, ":"); !ok {
		return resource, ""
	}
	return strings.TrimSuffix(resource, ":"+qualifier), qualifier
}

// request is a request whose resources are being determined.
type request struct {
	input     jsonvalue.Value
	scope     aws.Scope
	operation string
}

func (r *request) text(member string) string {
	v, _ := r.input.Get(member)
	if v.Kind() != jsonvalue.String {
		return ""
	}
	return v.Text()
}

func (r *request) elements(member string) []jsonvalue.Value {
	v, _ := r.input.Get(member)
	return v.Elements()
}

// arn returns the ARN that the request names, or "*" if it names none.
func (r *request) arn() []string {
	for _, member := range arnMembers {
		if text := r.text(member); strings.HasPrefix(text, "arn:") {
			return []string{text}
		}
	}
	return []string{"*"}
}

// named returns the resource of a member that holds a name or an ARN, or nil if the member is missing.
func (r *request) named(service, member, kind string) []string {
	switch name := r.text(member); {
	case name == "":
		return nil
	case strings.HasPrefix(name, "arn:"):
		return []string{name}
	case strings.HasPrefix(name, "alias/"):
		return []string{r.scope.ARN(service, name)}
	default:
		return []string{r.scope.ARN(service, kind+name)}
	}
}

func (r *request) queue() []string {
	if u, err := url.Parse(r.text("QueueUrl")); err == nil && u.Path != "" {
		parts := strings.Split(strings.Trim(u.Path, "/"), "/")
		of := r.scope
		if len(parts) > 1 {
			of.Account = parts[len(parts)-2]
		}
		return []string{of.ARN("sqs", parts[len(parts)-1])}
	}
	return r.named("sqs", "QueueName", "")
}

func (r *request) topic() []string {
	if s := r.text("SubscriptionArn"); strings.HasPrefix(s, "arn:") { // a subscription's resource is its topic
		return []string{s[:strings.LastIndexByte(s, ':')]}
	}
	if r.operation == "CreateTopic" {
		return r.named("sns", "Name", "")
	}
	return nil
}

func (r *request) table(name string) string {
	if strings.HasPrefix(name, "arn:") {
		return name
	}
	return r.scope.ARN("dynamodb", "table/"+name)
}

func (r *request) tables() []string {
	if name := r.text("TableName"); name != "" {
		resource := r.table(name)
		if index := r.text("IndexName"); index != "" {
			resource += "/index/" + index
		}
		return []string{resource}
	}
	var all []string
	if items, ok := r.input.Get("RequestItems"); ok {
		for _, name := range items.Keys() {
			all = append(all, r.table(name))
		}
	}
	return all
}

// statementTable matches the table of a PartiQL statement.
var statementTable = lazyregexp.New(`(?i)^\s*(?:exists\s*\(\s*)?(select|insert|update|delete)\b(?:.*?\b(?:from|into)\b)?\s*"?([A-Za-z0-9_.-]+)"?`)

// several returns the needs of transactions and statements. Each part needs the action that it performs.
func (r *request) several() (needs []Need) {
	for _, e := range r.elements("TransactItems") {
		for i, kind := range e.Keys() {
			name, _ := e.At(i).Get("TableName")
			action := map[string]string{"ConditionCheck": "ConditionCheckItem", "Put": "PutItem", "Delete": "DeleteItem",
				"Update": "UpdateItem", "Get": "GetItem"}[kind]
			needs = append(needs, Need{"dynamodb:" + action, r.table(name.Text())})
		}
	}
	statements := append(r.elements("Statements"), r.elements("TransactStatements")...)
	if r.text("Statement") != "" {
		statements = append(statements, r.input)
	}
	for _, e := range statements {
		text, _ := e.Get("Statement")
		found := statementTable.FindStringSubmatch(text.Text())
		if found == nil {
			needs = append(needs, Need{"dynamodb:PartiQLSelect", "*"})
			continue
		}
		verb := strings.ToUpper(found[1][:1]) + strings.ToLower(found[1][1:])
		needs = append(needs, Need{"dynamodb:PartiQL" + verb, r.table(found[2])})
	}
	return needs
}

func (r *request) function() []string {
	if arn := r.text("DurableExecutionArn"); arn != "" {
		return []string{arn}
	}
	if id := r.text("CallbackId"); id != "" {
		arn, _ := durable.ParseCallbackID(id)
		return []string{arn}
	}
	name := r.text("FunctionName")
	if name == "" {
		return nil
	}
	if !strings.HasPrefix(name, "arn:") {
		if at := strings.Index(name, ":function:"); at >= 0 { // ACCOUNT:function:NAME
			name = name[at+len(":function:"):]
		}
		name = r.scope.ARN("lambda", "function:"+name)
	}
	if q := r.text("Qualifier"); q != "" && !strings.HasSuffix(name, ":"+q) {
		name += ":" + q
	}
	return []string{name}
}

func (r *request) logGroup() []string {
	if groups, ok := r.input.Get("logGroupIdentifiers"); ok && r.operation == "StartLiveTail" {
		arns := make([]string, 0, groups.Len())
		for _, id := range groups.Elements() {
			arns = append(arns, strings.TrimSuffix(id.Text(), ":*"))
		}
		return arns
	}
	name := r.text("logGroupName")
	if name == "" {
		name = strings.TrimSuffix(r.text("logGroupIdentifier"), ":*")
	}
	switch stream := r.text("logStreamName"); {
	case name == "":
		return nil
	case strings.HasPrefix(name, "arn:"):
		return []string{name}
	case stream != "":
		return []string{r.scope.ARN("logs", "log-group:"+name+":log-stream:"+stream)}
	}
	return []string{r.scope.ARN("logs", "log-group:"+name)}
}

func (r *request) busARN(name string) string {
	if strings.HasPrefix(name, "arn:") {
		return name
	}
	if name == "" {
		name = "default"
	}
	return r.scope.ARN("events", "event-bus/"+name)
}

func (r *request) bus() []string {
	if r.operation == "PutEvents" {
		seen := map[string]bool{}
		var all []string
		for _, e := range r.elements("Entries") {
			name, _ := e.Get("EventBusName")
			arn := r.busARN(name.Text())
			if !seen[arn] {
				seen[arn] = true
				all = append(all, arn)
			}
		}
		return all
	}
	rule := r.text("Rule")
	if strings.HasSuffix(r.operation, "Rule") {
		rule = r.text("Name")
	}
	bus := r.text("EventBusName")
	switch {
	case rule != "" && (bus == "" || bus == "default"):
		return []string{r.scope.ARN("events", "rule/"+rule)}
	case rule != "":
		return []string{r.scope.ARN("events", "rule/"+bus[strings.LastIndexByte(bus, '/')+1:]+"/"+rule)}
	case strings.HasSuffix(r.operation, "EventBus"):
		return []string{r.busARN(r.text("Name"))}
	case bus != "" || strings.HasSuffix(r.operation, "Permission"):
		return []string{r.busARN(bus)}
	}
	return nil
}

func (r *request) parameters() []string {
	arn := func(name string) string {
		if strings.HasPrefix(name, "arn:") {
			return name
		}
		return r.scope.ARN("ssm", "parameter/"+strings.TrimPrefix(name, "/"))
	}
	var all []string
	for _, member := range []string{"Name", "Path"} {
		if name := r.text(member); name != "" {
			all = append(all, arn(name))
		}
	}
	for _, e := range r.elements("Names") {
		all = append(all, arn(e.Text()))
	}
	return all
}

func (r *request) identity() []string {
	// A request to add a user to a group, or a role to an instance profile, is one to the group or the profile.
	for _, named := range []struct{ member, kind string }{{"InstanceProfileName", "instance-profile/"}, {"GroupName", "group/"},
		{"RoleName", "role/"}, {"UserName", "user/"}} {
		if name := r.text(named.member); name != "" {
			return []string{r.scope.GlobalARN("iam", named.kind+name)}
		}
	}
	for _, member := range []string{"PolicyArn", "OpenIDConnectProviderArn"} {
		if arn := r.text(member); arn != "" {
			return []string{arn}
		}
	}
	return nil
}

func (r *request) machine() []string {
	switch r.operation {
	case "CreateStateMachine":
		return r.named("states", "name", "stateMachine:")
	case "CreateActivity":
		return r.named("states", "name", "activity:")
	}
	return nil
}
