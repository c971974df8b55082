package local

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"stepback/aws"
	"stepback/local/services/iam/access"
	"stepback/local/services/iam/policy"
)

// keyActions maps an action on an encrypted resource to the actions that it also needs on the resource's key, as AWS
// documents for SQS, SNS, S3 and Secrets Manager.
var keyActions = map[string][]string{
	"sqs:SendMessage":               {"kms:GenerateDataKey", "kms:Decrypt"},
	"sqs:ReceiveMessage":            {"kms:Decrypt"},
	"sns:Publish":                   {"kms:GenerateDataKey", "kms:Decrypt"},
	"s3:PutObject":                  {"kms:GenerateDataKey"},
	"s3:GetObject":                  {"kms:Decrypt"},
	"s3:GetObjectVersion":           {"kms:Decrypt"},
	"secretsmanager:GetSecretValue": {"kms:Decrypt"},
	"secretsmanager:PutSecretValue": {"kms:GenerateDataKey", "kms:Decrypt"},
}

// viaService is the condition key for the service that uses a key on behalf of a caller. keyCaller is the condition
// key for the account of the caller.
const (
	viaService = "kms:ViaService"
	keyCaller  = "kms:CallerAccount"
)

// keyNeeds returns the needs on the customer managed keys that encrypt the resources of needs. AWS managed keys may
// be used by everyone in the account through their service. Missing keys are left to the service to report. r, which
// may be nil, names the key that an object is to be encrypted with.
func (g *guard) keyNeeds(ctx context.Context, r *http.Request, scope aws.Scope, needs []access.Need) []access.Need {
	var more []access.Need
	for _, need := range needs {
		actions := keyActions[need.Action]
		if actions == nil {
			continue
		}
		key := g.keyOf(ctx, r, scope, need)
		if key == "" || strings.Contains(key, "alias/aws/") {
			continue
		}
		out := map[string]any{}
		if (platformAPI{p: g.p, scope: scope}).Call(ctx, "kms", "DescribeKey", map[string]any{"KeyId": key}, &out) != nil ||
			member(out, "KeyMetadata", "KeyManager") != "CUSTOMER" {
			continue
		}
		for _, action := range actions {
			more = append(more, access.Need{Action: action, Resource: member(out, "KeyMetadata", "Arn")})
		}
	}
	return more
}

// keyOf returns the key that encrypts a resource; empty for none.
func (g *guard) keyOf(ctx context.Context, r *http.Request, scope aws.Scope, need access.Need) string {
	arn, ok := aws.ParseARN(need.Resource)
	if !ok {
		return ""
	}
	of := aws.Scope{Account: cmp.Or(arn.Account, scope.Account), Region: cmp.Or(arn.Region, scope.Region)}
	call := g.callAsPlatform(ctx, of)
	switch arn.Service {
	case "sqs":
		return member(call("sqs", "GetQueueAttributes", map[string]any{"QueueUrl": g.p.Endpoint + "/" + of.Account + "/" +
			arn.Resource, "AttributeNames": []string{"KmsMasterKeyId"}}), "Attributes", "KmsMasterKeyId")
	case "sns":
		return member(call("sns", "GetTopicAttributes", map[string]any{"TopicArn": need.Resource}), "Attributes",
			"KmsMasterKeyId")
	case "secretsmanager":
		return member(call("secretsmanager", "DescribeSecret", map[string]any{"SecretId": need.Resource}), "KmsKeyId")
	case "s3":
		if r != nil && need.Action == "s3:PutObject" {
			if key := r.Header.Get("X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id"); key != "" {
				return key
			}
		}
		bucket, _, _ := strings.Cut(arn.Resource, "/")
		out := call("s3", "GetBucketEncryption", map[string]any{"Bucket": bucket})
		configuration, _ := out["ServerSideEncryptionConfiguration"].(map[string]any)
		rules, _ := configuration["Rules"].([]any)
		for _, rule := range rules {
			of, _ := rule.(map[string]any)
			if key := member(of, "ApplyServerSideEncryptionByDefault", "KMSMasterKeyID"); key != "" {
				return key
			}
		}
	}
	return ""
}

// keyUse adds the condition keys for the use of a key by a service, or removes them for other needs.
func keyUse(c policy.Context, model, action string, scope aws.Scope, account string) {
	delete(c, viaService)
	delete(c, keyCaller)
	if strings.HasPrefix(action, "kms:") && model != "kms" {
		c[viaService] = []string{model + "." + scope.Region + ".amazonaws.com"}
		c[keyCaller] = []string{account}
	}
}

// policyModel returns the API model of the service whose resource a need concerns: that of the request, or KMS.
func policyModel(model string, need access.Need) string {
	if strings.HasPrefix(need.Action, "kms:") {
		return "kms"
	}
	return model
}
