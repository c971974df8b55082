package logs

import (
	"strings"

	"stepback/aws/partition"
	"stepback/aws/server/awsjson"
)

// groupARN is the ARN of a log group; that of its streams has :* behind it.
func groupARN(s awsjson.Scope, name string) string {
	return "arn:" + partition.Of(s.Region) + ":logs:" + s.Region + ":" + s.Account + ":log-group:" + name
}

// nameOf is the name of a log group that is given by its name or its ARN.
func nameOf(identifier string) string {
	const fixed = 7
	parts := strings.SplitN(identifier, ":", fixed)
	if len(parts) == fixed && parts[0] == "arn" && parts[5] == "log-group" {
		return strings.TrimSuffix(parts[6], ":*")
	}
	return identifier
}
