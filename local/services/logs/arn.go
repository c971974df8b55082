package logs

import (
	"strings"

	"stepback/aws"
)

// groupARN returns the ARN of a log group. In the ARN of the group's streams, :* follows.
func groupARN(s aws.Scope, name string) string {
	return s.ARN("logs", "log-group:"+name)
}

// nameOf returns the name of a log group given by name or ARN.
func nameOf(identifier string) string {
	a, _ := aws.ParseARN(identifier)
	if name, ok := strings.CutPrefix(a.Resource, "log-group:"); ok {
		return strings.TrimSuffix(name, ":*")
	}
	return identifier
}
