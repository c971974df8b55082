package endpoint

import (
	"net/http"
	"regexp"
	"strings"
)

// targets are the names in signatures of services that X-Amz-Target names and that may not be here. Those that are here
// say it themselves.
var targets = map[string]string{
	"DynamoDB_20120810": "dynamodb", "AmazonSQS": "sqs", "AWSEvents": "events", "AmazonSSM": "ssm",
	"secretsmanager": "secretsmanager", "TrentService": "kms",
}

// s3 is the name of S3 in signatures.
const s3 = "s3"

// lambdaPath is how the paths of Lambda begin: with the date of a version of its API. The dates could be buckets of S3,
// too, so that what follows counts as well.
var lambdaPath = regexp.MustCompile(
	`^/(?:_stepback/lambda/|\d{4}-\d{2}-\d{2}/(?:functions|tags|account-settings|event-source-mappings|layers|code-signing-configs|durable-executions)(?:/|$))`)

// jsonOfAWS begins the content type of requests that have a target, if they are whole.
const jsonOfAWS = "application/x-amz-json-"

// formOfAWS begins the content type of requests in Query.
const formOfAWS = "application/x-www-form-urlencoded"

// rpcPath is how the paths of requests in CBOR begin, before the name that is a target elsewhere.
const rpcPath = "/service/"

// find finds the service that a request is meant for: by its target, by the credential scope of its signature, or by
// its path. It is nil for a service that is not here; name is what signatures call it in either case.
func (h *Handler) find(r *http.Request) (found *Service, name string) {
	prefix, _, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if rest, ok := strings.CutPrefix(r.URL.Path, rpcPath); ok && r.Header.Get("Smithy-Protocol") != "" {
		prefix, _, _ = strings.Cut(rest, "/")
	}
	if prefix != "" {
		for i := range h.Services {
			if s := &h.Services[i]; s.Target == prefix {
				return s, s.Signing
			}
		}
	}
	if prefix == "" && signedFor(r) == "" {
		for i := range h.Services {
			if s := &h.Services[i]; s.Claims != nil && s.Claims(r) {
				return s, s.Signing
			}
		}
	}
	name = nameOf(r, prefix)
	for i := range h.Services {
		if s := &h.Services[i]; s.Signing == name {
			return s, name
		}
	}
	return nil, name
}

// nameOf is the name in signatures of the service that a request is meant for, whose target begins with prefix.
func nameOf(r *http.Request, prefix string) string {
	if strings.HasPrefix(r.URL.Path, "/_stepback/lambda/") && prefix == "" {
		return "lambda"
	}
	if strings.HasPrefix(r.URL.Path, "/_stepback/cloudformation/") {
		return "cloudformation"
	}
	if strings.HasPrefix(r.URL.Path, "/_aws/execute-api/") && prefix == "" { // also when signed for execute-api
		return "apigateway"
	}
	if service := signedFor(r); service != "" { // by which the variable of its endpoint is named rather than by its target
		return service
	}
	switch {
	case prefix != "":
		if service, ok := targets[prefix]; ok {
			return service
		}
		return strings.ToLower(prefix)
	case lambdaPath.MatchString(r.URL.Path):
		return "lambda"
	case r.Method == http.MethodPost && r.URL.Path == "/" &&
		strings.HasPrefix(strings.ToLower(r.Header.Get("Content-Type")), jsonOfAWS):
		return "states" // which says that there is no target
	case r.Method == http.MethodPost && r.URL.Path == "/" &&
		strings.HasPrefix(strings.ToLower(r.Header.Get("Content-Type")), formOfAWS):
		return "sts" // AssumeRoleWithWebIdentity and AssumeRoleWithSAML are the forms that nobody signs
	}
	return s3
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
