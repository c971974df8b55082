package asl

import (
	"strings"

	"stepback/jsonvalue"
)

// requiredParameters lists the parameters that a Task with one of these optimized integrations must have. The
// service was observed to require them when a machine is created. It checks other requirements only when the task
// runs.
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

// integrationParameters checks that a Task has the parameters that its integration requires.
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
		return // one expression provides all of them
	}
	d.enter(field)
	defer d.leave()
	action, _, _ := strings.Cut(integration, ".")
	for _, key := range requiredParameters[action] {
		d.requireKey(v, key, o.language)
	}
}
