package s3_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"stepback/local/services/s3"
)

// delivered delivers the access logs. It returns the keys of the objects in the bucket "logs", one a line, and their
// content, and deletes them.
func delivered(t *testing.T, server *s3.Server, c *awss3.Client) (keys, content string) {
	t.Helper()
	if err := server.DeliverLogs(); err != nil {
		t.Fatal(err)
	}
	list, err := c.ListObjectsV2(t.Context(), &awss3.ListObjectsV2Input{Bucket: aws.String("logs")})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list.Contents {
		w := send(server, http.MethodGet, "/logs/"+*o.Key, "")
		keys += *o.Key + "\n"
		content += w.Body.String()
		send(server, http.MethodDelete, "/logs/"+*o.Key, "")
	}
	return keys, content
}

func TestAccessLogs(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 12, 30, 5, 0, time.UTC)
	server, c := start(t, t.TempDir(), s3.Options{Now: func() time.Time { return at }})
	for _, name := range []string{"site", "logs"} {
		if _, err := c.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: &name}); err != nil {
			t.Fatal(err)
		}
	}
	send(server, http.MethodPut, "/site/a%20key", "hello")
	enable := func(format *types.TargetObjectKeyFormat) {
		t.Helper()
		_, err := c.PutBucketLogging(t.Context(), &awss3.PutBucketLoggingInput{Bucket: aws.String("site"),
			BucketLoggingStatus: &types.BucketLoggingStatus{LoggingEnabled: &types.LoggingEnabled{
				TargetBucket: aws.String("logs"), TargetPrefix: aws.String("access/"), TargetObjectKeyFormat: format}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	enable(nil)
	send(server, http.MethodGet, "/site/a%20key", "", "User-Agent", `say "hi"`)
	send(server, http.MethodGet, "/site/none?versionId=3sL4kqtJlcpXroDTDmJrmSpXd3dIbrHY", "")
	send(server, http.MethodPut, "/site/new", "four")
	send(server, http.MethodGet, "/site?acl", "", "Authorization", "")
	send(server, http.MethodGet, "/logs", "")
	keys, content := delivered(t, server, c)
	if want := `^access/2026-11-22-12-30-05-[0-9A-F]{16}\n$`; !regexp.MustCompile(want).MatchString(keys) {
		t.Errorf("keys %q, want %s", keys, want)
	}
	const owner = "fe7272ea58be830e56fe1663b10fafef"
	const begin = owner + " site [22/Nov/2026:12:30:05 +0000] 192.0.2.1 "
	const end = " - ID SigV4 - AuthHeader example.com - - -\n"
	want := begin + owner + ` ID REST.GET.OBJECT a%20key "GET /site/a%20key HTTP/1.1" 200 - 5 5 MS "-" "say %22hi%22"` + end +
		begin + owner + ` ID REST.GET.OBJECT none "GET /site/none?versionId=3sL4kqtJlcpXroDTDmJrmSpXd3dIbrHY HTTP/1.1" 404 NoSuchVersion SENT - MS "-" "-" 3sL4kqtJlcpXroDTDmJrmSpXd3dIbrHY ID SigV4 - ` +
		"AuthHeader example.com - - -\n" +
		begin + owner + ` ID REST.PUT.OBJECT new "PUT /site/new HTTP/1.1" 200 - - 4 MS "-" "-"` + end +
		begin + `- ID REST.GET.ACL - "GET /site?acl HTTP/1.1" 403 AccessDenied SENT - MS "-" "-" - ID - - - example.com - - -` + "\n"
	if got := masked(content); got != want {
		t.Errorf("records\n%s\nwant\n%s", got, want)
	}
	if keys, content := delivered(t, server, c); keys != "" {
		t.Errorf("delivered again: %s %s", keys, content)
	}
	enable(&types.TargetObjectKeyFormat{PartitionedPrefix: &types.PartitionedPrefix{
		PartitionDateSource: types.PartitionDateSourceEventTime}})
	delivered(t, server, c)
	send(server, http.MethodHead, "/site/new", "")
	at = at.Add(24 * time.Hour)
	send(server, http.MethodDelete, "/site/new", "")
	keys, content = delivered(t, server, c)
	if want := `^access/000000000000/us-east-1/site/2026/11/22/2026-11-22-00-00-00-[0-9A-F]{16}\n` +
		`access/000000000000/us-east-1/site/2026/11/23/2026-11-23-00-00-00-[0-9A-F]{16}\n$`; !regexp.MustCompile(want).MatchString(keys) {
		t.Errorf("keys %q, want %s", keys, want)
	}
	if !strings.Contains(content, " REST.HEAD.OBJECT new ") || !strings.Contains(content, " REST.DELETE.OBJECT new ") {
		t.Errorf("records of two days: %s", content)
	}
	if _, err := c.PutBucketLogging(t.Context(), &awss3.PutBucketLoggingInput{Bucket: aws.String("site"),
		BucketLoggingStatus: &types.BucketLoggingStatus{}}); err != nil {
		t.Fatal(err)
	}
	send(server, http.MethodGet, "/site/new", "")
	if keys, content := delivered(t, server, c); keys != "" {
		t.Errorf("logging had ended: %s %s", keys, content)
	}
}

// TestAccessLogsNeedAPermission: if policies are enforced, the target bucket decides about S3's service as on AWS.
func TestAccessLogsNeedAPermission(t *testing.T) {
	t.Parallel()
	server, c := start(t, t.TempDir(), s3.Options{Enforces: func() bool { return true }})
	for _, in := range []*awss3.CreateBucketInput{{Bucket: aws.String("site")}, {Bucket: aws.String("logs"),
		ObjectOwnership: types.ObjectOwnershipObjectWriter}} {
		if _, err := c.CreateBucket(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.PutBucketLogging(t.Context(), &awss3.PutBucketLoggingInput{Bucket: aws.String("site"),
		BucketLoggingStatus: &types.BucketLoggingStatus{LoggingEnabled: &types.LoggingEnabled{
			TargetBucket: aws.String("logs"), TargetPrefix: aws.String("access/")}}}); err != nil {
		t.Fatal(err)
	}
	statement := func(effect, source string) string {
		return `{"Effect":"` + effect + `","Principal":{"Service":"logging.s3.amazonaws.com"},"Action":"s3:PutObject",` +
			`"Resource":"arn:aws:s3:::logs/access/*","Condition":{"ArnLike":{"aws:SourceArn":"arn:aws:s3:::` + source + `"},` +
			`"StringEquals":{"aws:SourceAccount":"000000000000"}}}`
	}
	const none = "neither the policy nor the ACL of the bucket logs allows logging.s3.amazonaws.com to write objects"
	for _, step := range []struct{ policy, acl, want string }{
		{"", "", none},
		{statement("Allow", "another"), "", none},
		{statement("Allow", "si*"), "", ""},
		{statement("Allow", "site") + "," + statement("Deny", "*"), "log-delivery-write",
			"the policy of the bucket logs denies S3's log delivery s3:PutObject"},
		{statement("Deny", "another"), "log-delivery-write", ""},
	} {
		if step.policy != "" {
			if _, err := c.PutBucketPolicy(t.Context(), &awss3.PutBucketPolicyInput{Bucket: aws.String("logs"),
				Policy: aws.String(`{"Version":"2012-10-17","Statement":[` + step.policy + `]}`)}); err != nil {
				t.Fatal(err)
			}
		}
		if step.acl != "" {
			if _, err := c.PutBucketAcl(t.Context(), &awss3.PutBucketAclInput{Bucket: aws.String("logs"),
				ACL: types.BucketCannedACL(step.acl)}); err != nil {
				t.Fatal(err)
			}
		}
		send(server, http.MethodGet, "/site/key", "")
		if err := server.DeliverLogs(); step.want == "" && err != nil || step.want != "" &&
			(err == nil || err.Error() != "the access log of the bucket site: "+step.want) {
			t.Errorf("got %v, want %q", err, step.want)
		}
	}
	list, err := c.ListObjectsV2(t.Context(), &awss3.ListObjectsV2Input{Bucket: aws.String("logs")})
	if err != nil || len(list.Contents) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
}

// masked replaces the varying parts of log records, and the sizes of error messages.
func masked(records string) string {
	records = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`).ReplaceAllString(records, "ID")
	records = regexp.MustCompile(` \d+ \d+ "-" "`).ReplaceAllString(records, ` MS "-" "`)
	return regexp.MustCompile(`(NoSuchVersion|AccessDenied) \d+ `).ReplaceAllString(records, "$1 SENT ")
}

func TestTargetsOfAccessLogs(t *testing.T) {
	t.Parallel()
	server, c := start(t, t.TempDir(), s3.Options{})
	for _, in := range []*awss3.CreateBucketInput{
		{Bucket: aws.String("logs")},
		{Bucket: aws.String("ireland"), CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: "eu-west-1"}},
	} {
		if _, err := c.CreateBucket(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	w := send(server, http.MethodPut, "/foreign", "", "Authorization",
		"AWS4-HMAC-SHA256 Credential=222222222222/20261127/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0")
	if w.Code != http.StatusOK {
		t.Fatal(w.Code, w.Body)
	}
	const simple, partitioned = "<SimplePrefix/>", "<PartitionedPrefix><PartitionDateSource>DeliveryTime</PartitionDateSource></PartitionedPrefix>"
	for name, e := range map[string]struct{ target, more, want string }{
		"the bucket itself": {"incoming", "", ""},
		"none":              {"missing", "", "<Code>InvalidTargetBucketForLogging</Code><Message>The target bucket for logging does not exist</Message>"},
		"another account": {"foreign", "", "<Code>InvalidTargetBucketForLogging</Code><Message>The owner for the bucket to be logged and the " +
			"target bucket must be the same.</Message>"},
		"another region": {"ireland", "", "<Code>CrossLocationLoggingProhibited</Code>"},
		"grants":         {"logs", "<TargetGrants/>", "<Code>NotImplemented</Code><Message>TargetGrants are not supported.</Message>"},
		"one format":     {"logs", "<TargetObjectKeyFormat>" + partitioned + "</TargetObjectKeyFormat>", ""},
		"two formats":    {"logs", "<TargetObjectKeyFormat>" + simple + partitioned + "</TargetObjectKeyFormat>", "<Code>MalformedXML</Code>"},
		"no format":      {"logs", "<TargetObjectKeyFormat/>", "<Code>MalformedXML</Code>"},
		"another date": {"logs", "<TargetObjectKeyFormat>" + strings.Replace(partitioned, "DeliveryTime", "Today", 1) +
			"</TargetObjectKeyFormat>", "<Code>MalformedXML</Code>"},
	} {
		w := send(server, http.MethodPut, "/incoming?logging", "<BucketLoggingStatus><LoggingEnabled><TargetBucket>"+e.target+
			"</TargetBucket><TargetPrefix/>"+e.more+"</LoggingEnabled></BucketLoggingStatus>")
		if (w.Code == http.StatusOK) != (e.want == "") || !strings.Contains(w.Body.String(), e.want) {
			t.Errorf("%s: %d %s, want %s", name, w.Code, w.Body, e.want)
		}
	}
}
