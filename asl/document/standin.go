package document

import (
	"strings"

	"stepback/internal/lazyregexp"
)

// standInFunction is the ARN prefix of the Lambda function that replaces a missing Resource or FunctionName; the
// placeholder's name follows.
const standInFunction = "arn:aws:lambda:us-east-1:123456789012:function:"

// standIn returns the replacement for a string with open placeholders that must be an ARN.
func standIn(field, content string) (string, bool) {
	isResource, isFunction := field == "Resource", field == "FunctionName"
	m := placeholder.FindString(content)
	if m == "" || !isResource && !isFunction && !strings.HasPrefix(content, "arn:") {
		return "", false
	}
	instead := placeholder.ReplaceAllStringFunc(content, func(whole string) string {
		return nameFrom(whole[len("${") : len(whole)-len("}")])
	})
	if isResource && m == content || isFunction && strings.HasPrefix(content, m) { // also ${Name}:$LATEST
		return standInFunction + instead, true
	}
	return instead, true
}

var unfitForARNs = lazyregexp.New(`[^A-Za-z0-9_-]+`)

// nameFrom derives a function name from a placeholder's name: MyFunction from MyFunction.Arn.
func nameFrom(placeholder string) string {
	return unfitForARNs.ReplaceAllString(strings.TrimSuffix(strings.TrimSpace(placeholder), ".Arn"), "-")
}

// standInNumber returns the replacement for a value that is not a string. Diagnostics about this number are omitted,
// and it is consistent with other fields: a heartbeat is shorter than its timeout.
func standInNumber(field string) string {
	if field == "HeartbeatSeconds" {
		return "1"
	}
	return "99999998"
}
