package local_test

import (
	"strings"
	"testing"
)

// keyPolicy returns a key policy that lets the account's own policies grant use of the key and, unless service is
// empty, lets that service use it.
func keyPolicy(service string) string {
	account := `{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::000000000000:root"},"Action":"kms:*","Resource":"*"}`
	if service != "" {
		account += `,{"Effect":"Allow","Principal":{"Service":"` + service + `"},"Action":["kms:GenerateDataKey*",` +
			`"kms:Decrypt"],"Resource":"*"}`
	}
	return `{"Version":"2012-10-17","Statement":[` + account + `]}`
}

// TestTopicsNeedTheKeyOfTheQueue delivers to a queue encrypted with a key whose policy does not allow the topic's
// service, the usual reason why nothing arrives on AWS.
func TestTopicsNeedTheKeyOfTheQueue(t *testing.T) {
	t.Parallel()
	e := enforce(t)
	key := member(e.must("kms", "CreateKey", map[string]any{"Policy": keyPolicy("")}), "KeyMetadata", "Arn")
	url := e.queue("orders")
	const topic = "arn:aws:sns:us-east-1:000000000000:placed"
	e.must("sns", "CreateTopic", map[string]any{"Name": "placed"})
	e.lets(url, "sns.amazonaws.com", topic)
	e.must("sqs", "SetQueueAttributes", map[string]any{"QueueUrl": url, "Attributes": map[string]any{"KmsMasterKeyId": key}})
	e.must("sns", "Subscribe", map[string]any{"TopicArn": topic, "Protocol": "sqs",
		"Endpoint": "arn:aws:sqs:us-east-1:000000000000:orders", "Attributes": map[string]any{"RawMessageDelivery": "true"}})
	e.must("sns", "Publish", map[string]any{"TopicArn": topic, "Message": "no key"})
	e.must("kms", "PutKeyPolicy", map[string]any{"KeyId": key, "PolicyName": "default", "Policy": keyPolicy("sns.amazonaws.com")})
	e.must("sns", "Publish", map[string]any{"TopicArn": topic, "Message": "with the key"})
	if got := e.received(url, true); len(got) != 1 || got[0] != "with the key" {
		t.Errorf("received %q", got)
	}
}

// A state machine's role needs permission for the key to send to an encrypted queue.
func TestRolesNeedTheKeyOfWhatTheyUse(t *testing.T) {
	t.Parallel()
	e := enforce(t)
	key := member(e.must("kms", "CreateKey", map[string]any{"Policy": keyPolicy("")}), "KeyMetadata", "Arn")
	url := e.queue("orders")
	e.must("sqs", "SetQueueAttributes", map[string]any{"QueueUrl": url, "Attributes": map[string]any{"KmsMasterKeyId": key}})
	role := e.role("machine", "states.amazonaws.com")
	e.must("sfn", "CreateStateMachine", map[string]any{"name": "m", "type": "EXPRESS", "roleArn": role,
		"definition": `{"StartAt":"S","States":{"S":{"Type":"Task","Resource":"arn:aws:states:::sqs:sendMessage","End":true,` +
			`"Parameters":{"QueueUrl":"` + url + `","MessageBody":"hello"}}}}`})
	for _, c := range []struct{ actions, cause string }{
		{`sqs:SendMessage`, "is not authorized to perform: kms:GenerateDataKey on resource: " + key},
		{`sqs:SendMessage","kms:GenerateDataKey`, "is not authorized to perform: kms:Decrypt on resource: " + key},
		{`sqs:SendMessage","kms:GenerateDataKey","kms:Decrypt`, ""},
	} {
		e.must("iam", "PutRolePolicy", map[string]any{"RoleName": "machine", "PolicyName": "p", "PolicyDocument": `{"Version":` +
			`"2012-10-17","Statement":[{"Effect":"Allow","Action":["` + c.actions + `"],"Resource":"*"}]}`})
		out := e.must("sfn", "StartSyncExecution", map[string]any{
			"stateMachineArn": "arn:aws:states:us-east-1:000000000000:stateMachine:m"})
		cause, _ := out["cause"].(string)
		if c.cause == "" && out["status"] != "SUCCEEDED" || !strings.Contains(cause, c.cause) {
			t.Errorf("with %s: %v", c.actions, out)
		}
	}
	if got := e.received(url, true); len(got) != 1 {
		t.Errorf("received %q", got)
	}
}

// TestBucketsKeyIsNeeded reads and writes in a bucket whose default encryption uses a key, with a condition on the
// service that uses the key.
func TestBucketsKeyIsNeeded(t *testing.T) {
	t.Parallel()
	e := enforce(t)
	key := member(e.must("kms", "CreateKey", map[string]any{"Policy": keyPolicy("")}), "KeyMetadata", "Arn")
	e.must("s3", "CreateBucket", map[string]any{"Bucket": "files"})
	e.must("s3", "PutBucketEncryption", map[string]any{"Bucket": "files", "ServerSideEncryptionConfiguration": map[string]any{
		"Rules": []any{map[string]any{"ApplyServerSideEncryptionByDefault": map[string]any{"SSEAlgorithm": "aws:kms",
			"KMSMasterKeyID": key}}}}})
	e.must("sfn", "CreateStateMachine", map[string]any{"name": "m", "type": "EXPRESS", "roleArn": e.role("machine",
		"states.amazonaws.com"), "definition": `{"StartAt":"S","States":{"S":{"Type":"Task","End":true,` +
		`"Resource":"arn:aws:states:::aws-sdk:s3:putObject","Parameters":{"Bucket":"files","Key":"a","Body":"b"}}}}`})
	for _, c := range []struct{ via, status string }{{"sqs.us-east-1.amazonaws.com", "FAILED"},
		{"s3.us-east-1.amazonaws.com", "SUCCEEDED"}} {
		e.must("iam", "PutRolePolicy", map[string]any{"RoleName": "machine", "PolicyName": "p", "PolicyDocument": `{"Version":` +
			`"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:PutObject","Resource":"*"},{"Effect":"Allow","Action":` +
			`"kms:GenerateDataKey","Resource":"` + key + `","Condition":{"StringEquals":{"kms:ViaService":"` + c.via + `"}}}]}`})
		out := e.must("sfn", "StartSyncExecution", map[string]any{
			"stateMachineArn": "arn:aws:states:us-east-1:000000000000:stateMachine:m"})
		if out["status"] != c.status {
			t.Errorf("via %s: %v", c.via, out)
		}
	}
}

// member returns a string within a response.
func member(out map[string]any, path ...string) string {
	for _, name := range path[:len(path)-1] {
		out, _ = out[name].(map[string]any)
	}
	text, _ := out[path[len(path)-1]].(string)
	return text
}
