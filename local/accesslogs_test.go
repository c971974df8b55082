package local_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
)

// TestAccessLogsOfAStack deploys buckets with access logs, one of which logs to itself. The logs are delivered when the
// platform closes, at the latest.
func TestAccessLogsOfAStack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := openPlatform(t, dir)
	s := stacksOf(t, p)
	s.call("CreateStack", map[string]any{"StackName": "logged", "TemplateBody": `Resources:
  Logs: {Type: AWS::S3::Bucket, Properties: {BucketName: logs-of-site}}
  Site:
    Type: AWS::S3::Bucket
    Properties:
      BucketName: site
      LoggingConfiguration:
        DestinationBucketName: !Ref Logs
        LogFilePrefix: site/
        TargetObjectKeyFormat: {PartitionedPrefix: {PartitionDateSource: DeliveryTime}}
  Own:
    Type: AWS::S3::Bucket
    Properties: {BucketName: own, LoggingConfiguration: {LogFilePrefix: log/}}
`})
	if status, reason := s.settled("logged"); status != "CREATE_COMPLETE" {
		t.Fatal(status, reason, s.events("logged"))
	}
	c := awss3.NewFromConfig(settings(p), func(o *awss3.Options) { o.UsePathStyle = true })
	for _, bucket := range []string{"site", "own"} {
		if _, err := c.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: &bucket, Key: aws.String("page"),
			Body: strings.NewReader("hello")}); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]string{
		"logs-of-site/site/000000000000/us-east-1/site/*/*/*/*": ` REST\.PUT\.OBJECT page "PUT /site/page\?x-id=PutObject HTTP/1\.1" 200 - - 5 `,
		"own/log/*": ` REST\.PUT\.OBJECT page "PUT /own/page\?x-id=PutObject HTTP/1\.1" 200 - - 5 `,
	} {
		files, err := filepath.Glob(filepath.Join(dir, "objects", filepath.FromSlash(pattern)))
		if err != nil || len(files) != 1 {
			t.Errorf("%s: %v, %v", pattern, files, err)
			continue
		}
		text, err := os.ReadFile(files[0])
		if err != nil || !regexp.MustCompile(want).Match(text) {
			t.Errorf("%s: %s, %v; want %s", pattern, text, err, want)
		}
	}
}
