package logs

import (
	"strings"

	"stepback/aws"
)

// groupARN is the ARN of a log group; that of its streams has :* behind it.
func groupARN(s aws.Scope, name string) string {
	return s.ARN("logs", "log-group:"+name)
}

// nameOf is the name of a log group that is given by its name or its ARN.
func nameOf(identifier string) string {
	a, _ := aws.ParseARN(identifier)
	if name, ok := strings.CutPrefix(a.Resource, "log-group:"); ok {
		return strings.TrimSuffix(name, ":*")
	}
	return identifier
}
