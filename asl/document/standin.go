package document

import (
	"regexp"
	"strings"
)

// standInFunction is the ARN of the Lambda function that stands in for a Resource or a FunctionName that was not given;
// the placeholder's name follows.
const standInFunction = "arn:aws:lambda:us-east-1:123456789012:function:"

// standIn is what stands in for a string with open placeholders, where only an ARN will do.
func standIn(field, content string, values map[string]string) (string, bool) {
	isResource, isFunction := field == "Resource", field == "FunctionName"
	if len(openIn(content, values)) == 0 || !isResource && !isFunction && !strings.HasPrefix(content, "arn:") {
		return "", false
	}
	instead := placeholder.ReplaceAllStringFunc(content, func(whole string) string {
		name := whole[len("${") : len(whole)-len("}")]
		if value, given := values[name]; given {
			return value
		}
		return nameFrom(name)
	})
	m := placeholder.FindString(content)
	if isResource && m == content || isFunction && strings.HasPrefix(content, m) { // ${Name}:$LATEST, too
		return standInFunction + instead, true
	}
	return instead, true
}

var unfitForARNs = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// nameFrom makes a name out of that of a placeholder: MyFunction out of MyFunction.Arn.
func nameFrom(placeholder string) string {
	return unfitForARNs.ReplaceAllString(strings.TrimSuffix(strings.TrimSpace(placeholder), ".Arn"), "-")
}

// standInNumber stands in for what is no string. Diagnostics of this number are left out, and other fields
// fit it: a heartbeat is shorter than its timeout.
func standInNumber(field string) string {
	if field == "HeartbeatSeconds" {
		return "1"
	}
	return "99999998"
}
