package local_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"stepback/local"
)

// TestDataDirectoryIsItsOwners writes to every store in a directory that an older version left open to other users,
// and expects no permissions for them anywhere.
func TestDataDirectoryIsItsOwners(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("permissions are not those of Unix")
	}
	dir := filepath.Join(t.TempDir(), "data")
	for _, name := range []string{"documents", "reports", "journal.damaged-20261127T023759.956981Z", "damaged-20261127T023759.956981Z"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"users.db", "users.db-wal"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := open(t, local.Config{Dir: dir})
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	for _, name := range []string{"reports", "journal.damaged-20261127T023759.956981Z", "damaged-20261127T023759.956981Z", "users.db", "users.db-wal"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil { // nothing in the directory depends on them
			t.Fatal(err)
		}
	}
	s := stacksOf(t, p)
	s.call("CreateStack", map[string]any{"StackName": "s", "TemplateBody": `{"Resources":{
 "Queue":{"Type":"AWS::SQS::Queue"},"Topic":{"Type":"AWS::SNS::Topic","Properties":{"TopicName":"t"}},"Bucket":{"Type":"AWS::S3::Bucket","Properties":{"BucketName":"bucket-b"}},
 "Log":{"Type":"AWS::Logs::LogGroup","Properties":{"LogGroupName":"g"}},"Secret":{"Type":"AWS::SecretsManager::Secret","Properties":{"SecretString":"x"}},
 "Table":{"Type":"AWS::DynamoDB::Table","Properties":{"BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"k","KeyType":"HASH"}],
  "AttributeDefinitions":[{"AttributeName":"k","AttributeType":"S"}]}}}}`})
	if status, reason := s.settled("s"); status != "CREATE_COMPLETE" {
		t.Fatal(status, reason, s.events("s"))
	}
	objects := s3.NewFromConfig(s.cfg, func(o *s3.Options) { o.UsePathStyle = true })
	if _, err := objects.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("bucket-b"), Key: aws.String("a/b"), Body: strings.NewReader("x")}); err != nil {
		t.Fatal(err)
	}
	if _, err := objects.CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{Bucket: aws.String("bucket-b"), Key: aws.String("c")}); err != nil {
		t.Fatal(err)
	}
	for operation, in := range map[string]map[string]any{
		"sns Publish":                    {"TopicArn": "arn:aws:sns:us-east-1:000000000000:t", "Message": "x"},
		"cloudwatchlogs CreateLogStream": {"logGroupName": "g", "logStreamName": "s"},
	} {
		service, operation, _ := strings.Cut(operation, " ")
		if _, err := s.try(service, operation, in); err != nil {
			t.Fatal(err)
		}
	}
	files := map[string]int{}
	if err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // a temporary file
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the permissions %o", path, info.Mode().Perm())
		}
		rest, _ := filepath.Rel(dir, path)
		store, _, _ := strings.Cut(filepath.ToSlash(rest), "/")
		files[store]++
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, store := range []string{"documents", "dynamodb", "journal", "kms", "lambda", "logs", "objects"} {
		if files[store] < 2 {
			t.Errorf("%s has no files: %v", store, files)
		}
	}
}

// TestDataDirectoryWithOtherFiles leaves a directory open that contains something else, but closes its stores.
func TestDataDirectoryWithOtherFiles(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("permissions are not those of Unix")
	}
	dir := filepath.Join(t.TempDir(), "project")
	if err := os.MkdirAll(filepath.Join(dir, "journal"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "template.yaml"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	open(t, local.Config{Dir: dir})
	for name, want := range map[string]fs.FileMode{".": 0o755, "template.yaml": 0o644, "journal": 0o700} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %o", name, info.Mode().Perm(), err, want)
		}
	}
}
