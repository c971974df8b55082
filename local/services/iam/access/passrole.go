package access

import (
	"slices"
	"strings"

	"stepback/jsonvalue"
)

// PassRole is the action of passing a role to a service that will assume it.
const PassRole = "iam:PassRole"

// services maps API models to the service that roles are passed to, as in the condition key iam:PassedToService.
var services = map[string]string{
	"lambda": "lambda.amazonaws.com", "sfn": "states.amazonaws.com", "eventbridge": "events.amazonaws.com",
	"scheduler": "scheduler.amazonaws.com", "cloudformation": "cloudformation.amazonaws.com",
	"cloudwatchlogs": "logs.amazonaws.com", "cloudcontrol": "cloudformation.amazonaws.com",
	"apigatewayv2": "apigateway.amazonaws.com", "iam": "ec2.amazonaws.com", // a role in an instance profile
}

// PassedTo returns the service that operations of a model pass roles to, or "" if there is none.
func PassedTo(model string) string { return services[model] }

// passed returns the iam:PassRole needs for the roles that a request names.
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
	for _, member := range []string{"Role", "roleArn", "RoleArn", "RoleARN", "CredentialsArn"} {
		add(r.text(member))
	}
	if r.operation == "AddRoleToInstanceProfile" {
		add(r.scope.GlobalARN("iam", "role/"+r.text("RoleName")))
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
