package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awslambda "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/serve"
	"stepback/cmd/stepback/terminal"
)

// serving runs "stepback serve" on a data directory until stop is called.
func serving(t *testing.T, data string) (url string, stop func()) {
	t.Helper()
	return servingAs(t, &serve.Serve{Data: data})
}

// servingAs runs a serve command on a free port.
func servingAs(t *testing.T, c *serve.Serve) (url string, stop func()) {
	t.Helper()
	c.Listen, c.Account, c.Region = "127.0.0.1:0", "000000000000", "us-east-1"
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := c.Run(ctx, terminal.Streams{Out: io.Discard, Err: w})
		w.Close()
		done <- err
	}()
	lines := bufio.NewReader(r)
	first := ""
	for !strings.Contains(first, "serving on http://") { // warnings may come first
		var err error
		if first, err = lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, lines)
	}()
	return regexp.MustCompile(`http://\S+`).FindString(first), func() {
		t.Helper()
		cancel()
		<-drained
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

// clients are AWS SDK clients for one address.
type clients struct {
	states  *sfn.Client
	lambda  *awslambda.Client
	objects *awss3.Client
}

func clientsOf(url string) clients {
	c := aws.Config{Region: "us-east-1", BaseEndpoint: &url,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")}
	return clients{sfn.NewFromConfig(c), awslambda.NewFromConfig(c),
		awss3.NewFromConfig(c, func(o *awss3.Options) { o.UsePathStyle = true })}
}

func zipped(t *testing.T, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// deploy creates the function double from code in S3.
func (c clients) deploy(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	code := zipped(t, "app.py", "class Odd(Exception): pass\ndef handler(e, c):\n    n = int(e['n'])\n    if n % 2: raise Odd(str(n))\n    return 2 * n\n")
	c.upload(t, "code", "double.zip", code)
	_, err := c.lambda.CreateFunction(t.Context(), &awslambda.CreateFunctionInput{
		FunctionName: aws.String("double"), Role: aws.String("arn:aws:iam::000000000000:role/r"),
		Runtime: types.RuntimePython312,
		Handler: aws.String("app.handler"), Timeout: aws.Int32(20),
		Code: &types.FunctionCode{S3Bucket: aws.String("code"), S3Key: aws.String("double.zip")},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (c clients) upload(t *testing.T, bucket, key string, body []byte) {
	t.Helper()
	if _, err := c.objects.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: &bucket}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.objects.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: &bucket, Key: &key,
		Body: bytes.NewReader(body)}); err != nil {
		t.Fatal(err)
	}
}

// create creates a state machine and returns its ARN.
func (c clients) create(t *testing.T, definition string) *string {
	t.Helper()
	m, err := c.states.CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{
		Name: aws.String(regexp.MustCompile(`\W`).ReplaceAllString(t.Name(), "-")), Definition: &definition,
		RoleArn: aws.String("arn:aws:iam::000000000000:role/r"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return m.StateMachineArn
}

// run executes a state machine and returns the result of its execution.
func (c clients) run(t *testing.T, machine *string, input string) *sfn.DescribeExecutionOutput {
	t.Helper()
	e, err := c.states.StartExecution(t.Context(), &sfn.StartExecutionInput{StateMachineArn: machine, Input: &input})
	if err != nil {
		t.Fatal(err)
	}
	for {
		d, err := c.states.DescribeExecution(t.Context(), &sfn.DescribeExecutionInput{ExecutionArn: e.ExecutionArn})
		if err != nil {
			t.Fatal(err)
		}
		if d.Status != sfntypes.ExecutionStatusRunning {
			return d
		}
		wait(t)
	}
}

// wait pauses briefly before the server is polled again.
func wait(t *testing.T) {
	t.Helper()
	timer := time.NewTimer(5 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	}
}

func TestServeRunsFunctionsOverARestart(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	url, stop := serving(t, data)
	clientsOf(url).deploy(t)
	stop()
	url, stop = serving(t, data)
	defer stop()
	c := clientsOf(url)
	const definition = `{"StartAt":"D","States":{
		"D":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"double","Payload.$":"$"},"OutputPath":"$.Payload",
			"Catch":[{"ErrorEquals":["Odd"],"ResultPath":"$.e","Next":"E"}],"End":true},
		"E":{"Type":"Task","Resource":"arn:aws:lambda:us-east-1:000000000000:function:nobody","Retry":[{"ErrorEquals":["Never"]}],"End":true}}}`
	machine := c.create(t, definition)
	if d := c.run(t, machine, `{"n":21000000}`); aws.ToString(d.Output) != "42000000" {
		t.Errorf("%s %s %s", d.Status, aws.ToString(d.Output), aws.ToString(d.Cause))
	}
	d := c.run(t, machine, `{"n":1}`)
	if aws.ToString(d.Error) != "Lambda.ResourceNotFoundException" || !strings.HasPrefix(aws.ToString(d.Cause),
		"Function not found: arn:aws:lambda:us-east-1:000000000000:function:nobody:$LATEST (Service: AWSLambda; Status Code: 404;") {
		t.Errorf("%s %s %s", d.Status, aws.ToString(d.Error), aws.ToString(d.Cause))
	}
	stepback(t, "logs", "double", "--data", data).ends(t, exit.OK, "[ERROR] Odd: 1", "REPORT RequestId: ")
}

func TestServeReadsAndWritesObjects(t *testing.T) {
	t.Parallel()
	url, stop := serving(t, t.TempDir())
	defer stop()
	c := clientsOf(url)
	c.deploy(t)
	c.upload(t, "data", "rows.csv", []byte("n\n2\n4\n6\n"))
	const definition = `{"StartAt":"M","States":{"M":{"Type":"Map","End":true,
		"ItemReader":{"Resource":"arn:aws:states:::s3:getObject","ReaderConfig":{"InputType":"CSV","CSVHeaderLocation":"FIRST_ROW"},"Parameters":{"Bucket":"data","Key":"rows.csv"}},
		"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"EXPRESS"},"StartAt":"D","States":{
			"D":{"Type":"Task","Resource":"arn:aws:lambda:us-east-1:000000000000:function:double","End":true}}},
		"ResultWriter":{"Resource":"arn:aws:states:::s3:putObject","Parameters":{"Bucket":"data","Prefix":"out"}}}}}`
	if d := c.run(t, c.create(t, definition), `{}`); d.Status != sfntypes.ExecutionStatusSucceeded ||
		!strings.Contains(aws.ToString(d.Output), "manifest.json") {
		t.Errorf("%s %s %s", d.Status, aws.ToString(d.Output), aws.ToString(d.Cause))
	}
	list, err := c.objects.ListObjectsV2(t.Context(), &awss3.ListObjectsV2Input{Bucket: aws.String("data"),
		Prefix: aws.String("out/")})
	if err != nil || len(list.Contents) < 2 {
		t.Errorf("%+v, %v", list, err)
	}
}
