package endpoint

import (
	"net/http"
	"strings"

	"stepback/internal/lazyregexp"
)

// targets maps target prefixes to the signing names of services that may not be served here. Services that are served
// have their own Target.
var targets = map[string]string{
	"DynamoDB_20120810": "dynamodb", "AmazonSQS": "sqs", "AWSEvents": "events", "AmazonSSM": "ssm",
	"secretsmanager": "secretsmanager", "TrentService": "kms",
}

// s3 is the signing name of S3.
const s3 = "s3"

// lambdaPath matches the start of Lambda's paths: the date of an API version and the next part. The date alone could
// also be an S3 bucket.
var lambdaPath = lazyregexp.New(
	`^/(?:_stepback/lambda/|\d{4}-\d{2}-\d{2}/(?:functions|tags|account-settings|event-source-mappings|layers|code-signing-configs|durable-executions)(?:/|$))`)

// jsonOfAWS is the prefix of the content type that complete requests with a target have.
const jsonOfAWS = "application/x-amz-json-"

// formOfAWS is the prefix of the content type of Query requests.
const formOfAWS = "application/x-www-form-urlencoded"

// rpcPath is the prefix of the paths of CBOR requests. The name that other protocols send as the target follows it.
const rpcPath = "/service/"

// find returns the service that a request is for: by its target, by the credential scope of its signature, or by its
// path. found is nil if that service is not served here; name is its signing name in either case.
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

// nameOf returns the signing name of the service that a request is for; prefix is the first part of the request's
// target.
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
	if service := signedFor(r); service != "" { // names the variable of its endpoint better than the target does
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
		return "states" // the service reports that there is no target
	case r.Method == http.MethodPost && r.URL.Path == "/" &&
		strings.HasPrefix(strings.ToLower(r.Header.Get("Content-Type")), formOfAWS):
		return "sts" // only AssumeRoleWithWebIdentity and AssumeRoleWithSAML are unsigned forms
	}
	return s3
}

// signedFor returns the service in the credential scope KEY/date/region/service/aws4_request, from the header or, for
// a presigned request, from the query. Signatures for several regions (AWS4-ECDSA-P256-SHA256) have a scope without a
// region.
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
