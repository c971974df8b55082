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

// keyActions are what an action on an encrypted resource needs at the resource's key as well, as AWS documents it for
// SQS, SNS, S3 and Secrets Manager.
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

// viaService is the condition key of the service that uses a key for somebody, keyCaller that of the account of who
// asks.
const (
	viaService = "kms:ViaService"
	keyCaller  = "kms:CallerAccount"
)

// keyNeeds are the needs at the customer's keys under which the resources of needs are encrypted. Keys of AWS itself
// let everyone of the account use them through their service. Keys that are not there are left to the service. r tells
// the key that an object is to be encrypted under, and may be nil.
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

// keyOf names the key under which a resource is encrypted; empty for none.
func (g *guard) keyOf(ctx context.Context, r *http.Request, scope aws.Scope, need access.Need) string {
	arn, ok := aws.ParseARN(need.Resource)
	if !ok {
		return ""
	}
	of := aws.Scope{Account: cmp.Or(arn.Account, scope.Account), Region: cmp.Or(arn.Region, scope.Region)}
	call := g.answers(ctx, of)
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

// keyUse adds the condition keys of the use of a key by a service, or takes them away for other needs.
func keyUse(c policy.Context, model, action string, scope aws.Scope, account string) {
	delete(c, viaService)
	delete(c, keyCaller)
	if strings.HasPrefix(action, "kms:") && model != "kms" {
		c[viaService] = []string{model + "." + scope.Region + ".amazonaws.com"}
		c[keyCaller] = []string{account}
	}
}

// policyModel is the API model of the service whose resource a need is about: that of the request, or KMS.
func policyModel(model string, need access.Need) string {
	if strings.HasPrefix(need.Action, "kms:") {
		return "kms"
	}
	return model
}
