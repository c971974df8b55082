package handlers

import (
	"strings"

	"stepback/asl/source"
	"stepback/retry"
	"stepback/retrypatterns/review"
)

// deepest is the maximum number of calls and definitions that are followed from one to the next.
const deepest = 40

// defaultAttempts returns the attempts that an AWS SDK makes of a call.
func defaultAttempts(service string) int {
	if service == "dynamodb" {
		return retry.SDK2026DynamoDB().MaxAttempts
	}
	return retry.SDK2026().MaxAttempts
}

func jitterName(j retry.Jitter) string {
	if j == retry.JitterPartial {
		return "HALF"
	}
	return string(j)
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// preset returns the strategy of a preset or a helper without arguments.
func preset(name string, at source.Span) strategy {
	d, _ := retry.DurablePreset(name)
	return ofPolicy(d, at)
}

// repeatsWork is review.RepeatsWork, with the start of an execution of Step Functions without a name.
func repeatsWork(service, action string, has func(string) bool, text func(string) (string, bool)) (bool, string) {
	if service == "sfn" && action == "startExecution" && !has("name") {
		return true, "give the execution a name from the input"
	}
	return review.RepeatsWork(service, action, has, text)
}

func serviceOf(module string) string {
	name := strings.TrimPrefix(module, "client-")
	if to, ok := services[name]; ok {
		return to
	}
	return name
}

// ofPolicy returns the strategy of a policy.
func ofPolicy(d retry.Durable, at source.Span) strategy {
	return strategy{at: at, attempts: d.MaxAttempts, jitter: jitterName(d.Jitter), wait: d.LongestWait()}
}

// services maps names of SDK clients to those of Step Functions' integrations.
var services = map[string]string{"eventbridge": "events", "emr": "elasticmapreduce", "lib-dynamodb": "dynamodb", "document": "dynamodb"}
