package endpoint

import (
	"net/http"
	"regexp"
	"strings"
)

// targets are the services that X-Amz-Target names.
var targets = map[string]string{
	"AWSStepFunctions": "states", "DynamoDB_20120810": "dynamodb", "AmazonSQS": "sqs", "AWSEvents": "events",
	"Logs_20140328": "logs", "AmazonSSM": "ssm", "secretsmanager": "secrets-manager", "TrentService": "kms",
}

// lambdaPath is how the paths of Lambda begin: with the date of a version of its API. The dates could be buckets of S3,
// too, so that what follows counts as well.
var lambdaPath = regexp.MustCompile(
	`^/(?:_stepback/lambda/|\d{4}-\d{2}-\d{2}/(?:functions|tags|account-settings|event-source-mappings|layers|code-signing-configs|durable-executions)(?:/|$))`)

// jsonOfAWS begins the content type of requests that have a target, if they are whole.
const jsonOfAWS = "application/x-amz-json-"

// serviceOf finds the service that a request is meant for: by its target, by the credential scope of its signature, or
// by its path.
func serviceOf(r *http.Request) string {
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		prefix, _, _ := strings.Cut(target, ".")
		if service, ok := targets[prefix]; ok {
			return service
		}
		if service := signedFor(r); service != "" { // by which the variable of its endpoint is named rather than by its target
			return service
		}
		return strings.ToLower(prefix)
	}
	if strings.HasPrefix(r.URL.Path, "/_stepback/lambda/") {
		return "lambda"
	}
	if service := signedFor(r); service != "" {
		return service
	}
	if lambdaPath.MatchString(r.URL.Path) {
		return "lambda"
	}
	if r.Method == http.MethodPost && r.URL.Path == "/" &&
		strings.HasPrefix(strings.ToLower(r.Header.Get("Content-Type")), jsonOfAWS) {
		return "states" // which says that there is no target
	}
	return "s3"
}

// signedFor reads the service from the credential scope KEY/date/region/service/aws4_request, in the header or, of a
// presigned request, in the query. Signatures for several regions (AWS4-ECDSA-P256-SHA256) have a scope without one.
func signedFor(r *http.Request) string {
	_, credential, ok := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	if !ok {
		credential = r.URL.Query().Get("X-Amz-Credential")
	}
	credential, _, _ = strings.Cut(credential, ",")
	parts := strings.Split(strings.TrimSpace(credential), "/")
	const ofRegions, ofRegion = 4, 5
	if len(parts) != ofRegions && len(parts) != ofRegion {
		return ""
	}
	return parts[len(parts)-2]
}
