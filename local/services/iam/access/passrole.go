package access

import (
	"slices"
	"strings"

	"stepback/jsonvalue"
)

// PassRole is the action of handing a role to a service that will act in it.
const PassRole = "iam:PassRole"

// services are what roles are passed to, by the model, as the condition key iam:PassedToService names them.
var services = map[string]string{
	"lambda": "lambda.amazonaws.com", "sfn": "states.amazonaws.com", "eventbridge": "events.amazonaws.com",
	"scheduler": "scheduler.amazonaws.com", "cloudformation": "cloudformation.amazonaws.com",
	"cloudwatchlogs": "logs.amazonaws.com",
}

// PassedTo is the service that an operation of a model passes roles to; empty for none.
func PassedTo(model string) string { return services[model] }

// passed are the needs to pass the roles that a request names.
func (r *request) passed(model string) (needs []Need) {
	if services[model] == "" {
		return nil
	}
	add := func(role string) {
		need := Need{PassRole, role}
		if strings.HasPrefix(role, "arn:") && strings.Contains(role, ":role/") && !slices.Contains(needs, need) {
			needs = append(needs, need)
		}
	}
	for _, member := range []string{"Role", "roleArn", "RoleArn", "RoleARN"} {
		add(r.text(member))
	}
	of := func(v jsonvalue.Value) string {
		role, _ := v.Get("RoleArn")
		if role.Kind() != jsonvalue.String {
			return ""
		}
		return role.Text()
	}
	if target, ok := r.input.Get("Target"); ok && target.Kind() == jsonvalue.Object {
		add(of(target))
	}
	if r.operation == "PutTargets" {
		for _, target := range r.elements("Targets") {
			if target.Kind() == jsonvalue.Object {
				add(of(target))
			}
		}
	}
	return needs
}
