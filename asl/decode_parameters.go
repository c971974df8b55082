package asl

import (
	"strings"

	"stepback/jsonvalue"
)

// requiredParameters are the parameters without which the service has been seen to refuse a Task of these optimized
// integrations when a machine is created. What else they and others need is found out when the task runs.
var requiredParameters = map[string][]string{
	"dynamodb:getItem":      {"TableName", "Key"},
	"dynamodb:putItem":      {"TableName", "Item"},
	"ecs:runTask":           {"TaskDefinition"},
	"events:putEvents":      {"Entries"},
	"glue:startJobRun":      {"JobName"},
	"lambda:invoke":         {"FunctionName"},
	"sns:publish":           {"Message"},
	"sqs:sendMessage":       {"QueueUrl", "MessageBody"},
	"states:startExecution": {"StateMachineArn"},
}

// integrationParameters checks, at the place of a Task, that it says what its integration is called with.
func (d *decoder) integrationParameters(o object, resource string) {
	if !d.options.Resources || !isARN(resource) {
		return
	}
	parts := strings.SplitN(resource, ":", 6)
	integration := parts[5]
	if parts[2] != "states" || strings.HasPrefix(integration, "activity:") {
		return
	}
	if _, unknown := d.options.unknownResource(resource); unknown {
		return
	}
	field := o.locationField()
	v, ok := o.get(field)
	if !ok {
		d.fail("%s field is required for resource ARN: %s", field,
			resource).hint("an object with the parameters of the call; {} for none")
		return
	}
	if v.Kind() != jsonvalue.Object {
		return // one expression for all of them
	}
	d.enter(field)
	defer d.leave()
	action, _, _ := strings.Cut(integration, ".")
	for _, key := range requiredParameters[action] {
		d.requireKey(v, key, o.language)
	}
}
