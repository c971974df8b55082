package main

import (
	"encoding/json"
	"io"
	"os/exec"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awslambda "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"stepback/cmd/stepback/serve"
	"stepback/internal/objectevent"
)

// keeps is a function that stores the event it receives.
const keeps = `import json, os, urllib.request
def handler(e, c):
    body = json.dumps(e).encode()
    urllib.request.urlopen(urllib.request.Request(os.environ["AWS_ENDPOINT_URL"] + "/seen/event.json", data=body, method="PUT"))
`

// opens lets everybody put objects into a bucket, as the function does, which does not sign its request.
func (c clients) opens(t *testing.T, bucket string) {
	t.Helper()
	if _, err := c.objects.DeletePublicAccessBlock(t.Context(),
		&awss3.DeletePublicAccessBlockInput{Bucket: &bucket}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.objects.PutBucketPolicy(t.Context(), &awss3.PutBucketPolicyInput{
		Bucket: &bucket,
		Policy: aws.String(
			`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:PutObject",
			"Resource":"arn:aws:s3:::` + bucket + `/*"}]}`,
		),
	}); err != nil {
		t.Fatal(err)
	}
}

func TestServeAnnouncesObjects(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	url, stop := servingAs(t, &serve.Serve{Data: t.TempDir(), ObjectCreated: map[string]string{"uploads": "keeps",
		"quiet": "nobody"}})
	defer stop()
	c := clientsOf(url)
	_, err := c.lambda.CreateFunction(t.Context(), &awslambda.CreateFunctionInput{
		FunctionName: aws.String("keeps"), Role: aws.String("arn:aws:iam::000000000000:role/r"),
		Runtime: types.RuntimePython312,
		Handler: aws.String("app.handler"), Timeout: aws.Int32(20),
		Code: &types.FunctionCode{ZipFile: zipped(t, "app.py", keeps)},
	})
	if err != nil {
		t.Fatal(err)
	}
	c.upload(t, "seen", "other.csv", []byte("not announced"))
	c.opens(t, "seen")
	c.upload(t, "quiet", "lost.csv", []byte("announced to a function that is not there"))
	c.upload(t, "uploads", "2026/a b.csv", []byte("user_id\n"))
	for {
		kept, err := c.objects.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: aws.String("seen"),
			Key: aws.String("event.json")})
		if err != nil {
			wait(t)
			continue
		}
		defer kept.Body.Close()
		text, err := io.ReadAll(kept.Body)
		if err != nil {
			t.Fatal(err)
		}
		var e objectevent.Event
		if err := json.Unmarshal(text, &e); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if e.Source != objectevent.Source || e.Detail.Bucket.Name != "uploads" ||
			e.Detail.Object.Key != "2026/a b.csv" ||
			len(e.Detail.Object.ETag) != 32 || e.Account != "000000000000" {
			t.Errorf("the event is %s", text)
		}
		return
	}
}
