package configuration

import (
	"strings"

	"stepback/aws"
)

// ParseLogGroup parses the ARN of a log group, arn:aws:logs:REGION:ACCOUNT:log-group:NAME:*.
func ParseLogGroup(arn string) (scope aws.Scope, name string, ok bool) {
	a, _ := aws.ParseARN(arn)
	name, ok = strings.CutPrefix(a.Resource, "log-group:")
	if !ok || a.Service != "logs" {
		return scope, "", false
	}
	name, ok = strings.CutSuffix(name, ":*")
	return a.Scope(), name, ok && name != ""
}
