package lambda_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awslambda "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/smithy-go"

	"stepback/aws"
	"stepback/local/services/lambda"
	"stepback/local/services/lambda/functions"
)

const role = "arn:aws:iam::000000000000:role/r"

// serve serves the API over a new set of functions and returns an AWS client for it.
func serve(t *testing.T) (*awslambda.Client, string) {
	t.Helper()
	return serveWith(t, functions.Options{})
}

func serveWith(t *testing.T, opts functions.Options) (*awslambda.Client, string) {
	t.Helper()
	f, err := functions.Open(t.Context(), t.TempDir(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := f.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	server := httptest.NewServer(lambda.New(lambda.Config{Functions: f, Scope: aws.Scope{Account: "000000000000", Region: "us-east-1"},
		Log: slog.New(slog.DiscardHandler)}))
	t.Cleanup(server.Close)
	return clientOf(server.URL, "local"), server.URL
}

func clientOf(url, accessKey string) *awslambda.Client {
	return awslambda.New(awslambda.Options{
		BaseEndpoint: sdk.String(url), Region: "us-east-1", Retryer: sdk.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider(accessKey, "secret", ""),
	})
}

// script returns a deployment package whose bootstrap is a shell script. It responds to events with the output of
// says, a shell command that reads the event from $EVENT.
func script(t *testing.T, says string) []byte {
	t.Helper()
	text := `#!/bin/sh
api="http://$AWS_LAMBDA_RUNTIME_API/2018-06-01/runtime"
while :; do
  headers=$(mktemp)
  EVENT=$(curl -sS -D "$headers" "$api/invocation/next")
  id=$(grep -i '^lambda-runtime-aws-request-id:' "$headers" | tr -d '[:space:]' | cut -d: -f2)
  rm "$headers"
  answer=$(` + says + `)
  curl -sS -o /dev/null -X POST "$api/invocation/$id/${KIND:-response}" -d "$answer"
done
`
	return packed(t, text)
}

// packed returns a deployment package with a bootstrap.
func packed(t *testing.T, text string) []byte {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl, which the bootstrap of the test uses, is not installed")
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	h := &zip.FileHeader{Name: "bootstrap", Method: zip.Deflate}
	h.SetMode(0o755)
	f, err := w.CreateHeader(h)
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

// relaying returns a deployment package whose bootstrap streams what it reads from the URL in the event's body, or in
// the event, as a response with a Content-Type.
func relaying(t *testing.T, contentType string) []byte {
	t.Helper()
	return packed(t, `#!/bin/sh
api="http://$AWS_LAMBDA_RUNTIME_API/2018-06-01/runtime"
while :; do
  headers=$(mktemp)
  url=$(curl -sS -D "$headers" "$api/invocation/next" | grep -o 'http://127[^"]*' | head -1)
  id=$(grep -i '^lambda-runtime-aws-request-id:' "$headers" | tr -d '[:space:]' | cut -d: -f2)
  rm "$headers"
  curl -sSN "$url" | curl -sSN -o /dev/null -X POST -T - -H 'Content-Type: `+contentType+`' \
    -H 'Lambda-Runtime-Function-Response-Mode: streaming' "$api/invocation/$id/response"
done
`)
}

func create(t *testing.T, c *awslambda.Client, name, says string) *awslambda.CreateFunctionOutput {
	t.Helper()
	out, err := c.CreateFunction(t.Context(), &awslambda.CreateFunctionInput{
		FunctionName: &name, Role: sdk.String(role), Runtime: types.RuntimeProvidedal2023,
		Handler: sdk.String("bootstrap"),
		Code:    &types.FunctionCode{ZipFile: script(t, says)}, Timeout: sdk.Int32(10),
		Environment: &types.Environment{Variables: map[string]string{"WHO": "me"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTheLifeOfAFunction(t *testing.T) {
	t.Parallel()
	c, _ := serve(t)
	made := create(t, c, "F", `echo "{\"who\":\"$WHO\",\"event\":$EVENT}"; echo talking >&2`)
	if sdk.ToString(made.FunctionArn) != "arn:aws:lambda:us-east-1:000000000000:function:F" ||
		made.State != types.StatePending || made.MemorySize == nil || *made.MemorySize != 128 {
		t.Errorf("%+v", made)
	}
	out, err := c.Invoke(t.Context(), &awslambda.InvokeInput{FunctionName: made.FunctionArn, Payload: []byte(`{"a":1}`),
		LogType: types.LogTypeTail})
	if err != nil || string(out.Payload) != `{"who":"me","event":{"a":1}}` ||
		sdk.ToString(out.ExecutedVersion) != "$LATEST" || out.StatusCode != http.StatusOK {
		t.Fatalf("%+v, %v", out, err)
	}
	tail, err := base64.StdEncoding.DecodeString(sdk.ToString(out.LogResult))
	if err != nil || !strings.Contains(string(tail), "REPORT RequestId: ") || !strings.Contains(string(tail),
		"Init Duration: ") {
		t.Errorf("%s, %v", tail, err)
	}
	if _, err := c.UpdateFunctionConfiguration(t.Context(), &awslambda.UpdateFunctionConfigurationInput{
		FunctionName: sdk.String("F"), MemorySize: sdk.Int32(512),
		Environment: &types.Environment{Variables: map[string]string{"WHO": "you"}},
	}); err != nil {
		t.Fatal(err)
	}
	got, err := c.GetFunctionConfiguration(t.Context(),
		&awslambda.GetFunctionConfigurationInput{FunctionName: sdk.String("F")})
	if err != nil || *got.MemorySize != 512 || *got.Timeout != 10 || *got.RevisionId == *made.RevisionId {
		t.Errorf("%+v, %v", got, err)
	}
	if out := invoke(t, c, "F", `0`); string(out.Payload) != `{"who":"you","event":0}` {
		t.Errorf("%s", out.Payload)
	}
	if _, err := c.UpdateFunctionCode(t.Context(), &awslambda.UpdateFunctionCodeInput{FunctionName: sdk.String("F"),
		ZipFile: script(t, "echo 2")}); err != nil {
		t.Fatal(err)
	}
	if out := invoke(t, c, "F", ``); string(out.Payload) != `2` {
		t.Errorf("%s", out.Payload)
	}
	if _, err := c.DeleteFunction(t.Context(),
		&awslambda.DeleteFunctionInput{FunctionName: sdk.String("F")}); err != nil {
		t.Fatal(err)
	}
	_, err = c.GetFunction(t.Context(), &awslambda.GetFunctionInput{FunctionName: sdk.String("F")})
	var missing *types.ResourceNotFoundException
	if !errors.As(err, &missing) || sdk.ToString(missing.Message) != "Function not found: arn:aws:lambda:us-east-1:000000000000:function:F" {
		t.Errorf("%v", err)
	}
}

func invoke(t *testing.T, c *awslambda.Client, name, payload string) *awslambda.InvokeOutput {
	t.Helper()
	out, err := c.Invoke(t.Context(), &awslambda.InvokeInput{FunctionName: &name, Payload: []byte(payload)})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestInvocationTypes(t *testing.T) {
	t.Parallel()
	c, _ := serve(t)
	create(t, c, "F", `echo 1`)
	for kind, status := range map[types.InvocationType]int32{types.InvocationTypeRequestResponse: 200,
		types.InvocationTypeEvent: 202, types.InvocationTypeDryRun: 204} {
		out, err := c.Invoke(t.Context(), &awslambda.InvokeInput{FunctionName: sdk.String("F"), InvocationType: kind})
		if err != nil || out.StatusCode != status {
			t.Errorf("%s: %+v, %v", kind, out, err)
		}
		_, err = c.Invoke(t.Context(), &awslambda.InvokeInput{FunctionName: sdk.String("G"), InvocationType: kind})
		if err == nil || !strings.Contains(err.Error(),
			"Function not found: arn:aws:lambda:us-east-1:000000000000:function:G:$LATEST") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestFunctionErrors(t *testing.T) {
	t.Parallel()
	c, _ := serve(t)
	create(t, c, "exits", `kill $$`)
	out := invoke(t, c, "exits", `{}`)
	if sdk.ToString(out.FunctionError) != "Unhandled" || !strings.Contains(string(out.Payload),
		`"errorType":"Runtime.ExitError"`) || !strings.Contains(string(out.Payload),
		"Runtime exited with error: signal: terminated") {
		t.Errorf("%s", out.Payload)
	}
}

func TestTagsAndConcurrency(t *testing.T) {
	t.Parallel()
	c, _ := serve(t)
	arn := create(t, c, "F", `echo 1`).FunctionArn
	if _, err := c.TagResource(t.Context(), &awslambda.TagResourceInput{Resource: arn, Tags: map[string]string{"a": "1",
		"b": "2"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.UntagResource(t.Context(), &awslambda.UntagResourceInput{Resource: arn,
		TagKeys: []string{"a", "c"}}); err != nil {
		t.Fatal(err)
	}
	if out, err := c.ListTags(t.Context(), &awslambda.ListTagsInput{Resource: arn}); err != nil || len(out.Tags) != 1 ||
		out.Tags["b"] != "2" {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := c.PutFunctionConcurrency(t.Context(), &awslambda.PutFunctionConcurrencyInput{FunctionName: arn,
		ReservedConcurrentExecutions: sdk.Int32(0)}); err != nil {
		t.Fatal(err)
	}
	_, err := c.Invoke(t.Context(), &awslambda.InvokeInput{FunctionName: arn})
	var throttled *types.TooManyRequestsException
	if !errors.As(err, &throttled) || throttled.Reason != types.ThrottleReasonReservedFunctionConcurrentInvocationLimitExceeded || sdk.ToString(throttled.Message) != "Rate Exceeded." {
		t.Errorf("%v", err)
	}
	if out, err := c.GetFunction(t.Context(), &awslambda.GetFunctionInput{FunctionName: arn}); err != nil ||
		sdk.ToInt32(out.Concurrency.ReservedConcurrentExecutions) != 0 || out.Tags["b"] != "2" {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := c.DeleteFunctionConcurrency(t.Context(),
		&awslambda.DeleteFunctionConcurrencyInput{FunctionName: arn}); err != nil {
		t.Fatal(err)
	}
	if out, err := c.GetFunctionConcurrency(t.Context(),
		&awslambda.GetFunctionConcurrencyInput{FunctionName: arn}); err != nil ||
		out.ReservedConcurrentExecutions != nil {
		t.Errorf("%+v, %v", out, err)
	}
	if out, err := c.GetAccountSettings(t.Context(), &awslambda.GetAccountSettingsInput{}); err != nil ||
		out.AccountUsage.FunctionCount != 1 || out.AccountLimit.ConcurrentExecutions != 1000 {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestVersionsAndAliases(t *testing.T) {
	t.Parallel()
	c, _ := serve(t)
	create(t, c, "F", `echo "\"$AWS_LAMBDA_FUNCTION_VERSION\""`)
	name := sdk.String("F")
	v, err := c.PublishVersion(t.Context(), &awslambda.PublishVersionInput{FunctionName: name,
		Description: sdk.String("first")})
	if err != nil || sdk.ToString(v.Version) != "1" ||
		sdk.ToString(v.FunctionArn) != "arn:aws:lambda:us-east-1:000000000000:function:F:1" {
		t.Fatalf("%+v, %v", v, err)
	}
	a, err := c.CreateAlias(t.Context(), &awslambda.CreateAliasInput{FunctionName: name, Name: sdk.String("live"),
		FunctionVersion: sdk.String("1")})
	if err != nil || sdk.ToString(a.AliasArn) != "arn:aws:lambda:us-east-1:000000000000:function:F:live" {
		t.Fatalf("%+v, %v", a, err)
	}
	out, err := c.Invoke(t.Context(), &awslambda.InvokeInput{FunctionName: name, Qualifier: sdk.String("live")})
	if err != nil || string(out.Payload) != `"1"` || sdk.ToString(out.ExecutedVersion) != "1" {
		t.Errorf("%+v, %v", out, err)
	}
	if l, err := c.ListVersionsByFunction(t.Context(),
		&awslambda.ListVersionsByFunctionInput{FunctionName: name}); err != nil || len(l.Versions) != 2 ||
		*l.Versions[0].Version != "$LATEST" || *l.Versions[1].Version != "1" {
		t.Errorf("%+v, %v", l, err)
	}
	if l, err := c.ListAliases(t.Context(), &awslambda.ListAliasesInput{FunctionName: name,
		FunctionVersion: sdk.String("1")}); err != nil || len(l.Aliases) != 1 {
		t.Errorf("%+v, %v", l, err)
	}
	if _, err := c.UpdateAlias(t.Context(), &awslambda.UpdateAliasInput{FunctionName: name, Name: sdk.String("live"),
		FunctionVersion: sdk.String("$LATEST")}); err != nil {
		t.Error(err)
	}
	if got, err := c.GetAlias(t.Context(), &awslambda.GetAliasInput{FunctionName: name,
		Name: sdk.String("live")}); err != nil || *got.FunctionVersion != "$LATEST" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := c.DeleteAlias(t.Context(), &awslambda.DeleteAliasInput{FunctionName: name,
		Name: sdk.String("live")}); err != nil {
		t.Error(err)
	}
	if _, err := c.DeleteFunction(t.Context(), &awslambda.DeleteFunctionInput{FunctionName: name,
		Qualifier: sdk.String("1")}); err != nil {
		t.Error(err)
	}
}

func TestListFunctionsInPages(t *testing.T) {
	t.Parallel()
	c, _ := serve(t)
	for _, name := range []string{"b", "a-b", "A", "a", "c"} {
		create(t, c, name, `echo 1`)
	}
	var names []string
	pages := awslambda.NewListFunctionsPaginator(c, &awslambda.ListFunctionsInput{MaxItems: sdk.Int32(2)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range page.Functions {
			names = append(names, *f.FunctionName)
		}
	}
	if got := fmt.Sprint(names); got != "[A a a-b b c]" {
		t.Error(got)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	c, url := serve(t)
	zipped := script(t, "echo 1")
	for name, in := range map[string]*awslambda.CreateFunctionInput{
		"ValidationException: 1 validation error detected: Value 'r' at 'role' failed to satisfy constraint: Member must satisfy regular expression pattern: arn:(aws[a-zA-Z-]*)?:iam::\\d{12}:role/?[a-zA-Z_0-9+=,.@\\-_/]+": {
			FunctionName: sdk.String("F"), Role: sdk.String("r"), Code: &types.FunctionCode{ZipFile: zipped}},
		"ValidationException: 2 validation errors detected: Value '901' at 'timeout' failed to satisfy constraint: Member must have value less than or equal to 900; Value '64' at 'memorySize' failed to satisfy constraint: Member must have value greater than or equal to 128": {
			FunctionName: sdk.String("F"), Role: sdk.String(role), Code: &types.FunctionCode{ZipFile: zipped},
			Timeout: sdk.Int32(901), MemorySize: sdk.Int32(64)},
		"ValidationException: 1 validation error detected: Value '" + strings.Repeat("a", 65) + "' at 'functionName' failed to satisfy constraint: Member must have length less than or equal to 64": {
			FunctionName: sdk.String(strings.Repeat("a", 65)), Role: sdk.String(role), Code: &types.FunctionCode{ZipFile: zipped},
			Runtime: types.RuntimeProvidedal2023, Handler: sdk.String("h")},
		"InvalidParameterValueException: Runtime and Handler are mandatory parameters for functions created with deployment packages.": {
			FunctionName: sdk.String("F"), Role: sdk.String(role), Code: &types.FunctionCode{ZipFile: zipped}},
	} {
		_, err := c.CreateFunction(t.Context(), in)
		var api smithy.APIError
		if !errors.As(err, &api) || api.ErrorCode()+": "+api.ErrorMessage() != name {
			t.Errorf("%v\nwant %s", err, name)
		}
	}
	for path, want := range map[string]struct {
		status int
		body   string
	}{
		"POST /2015-03-31/functions {":  {400, "Could not parse request body into json"},
		"POST /2015-03-31/functions []": {400, "Could not parse request body into json"},
		"POST /2015-03-31/functions {}": {400,
			"3 validation errors detected: Value null at 'functionName'"},
		"POST /2015-03-31/functions/f/invocations {": {404, "Function not found"},
		"POST /2015-03-31/functions/a%20b/invocations {": {400,
			"Value 'a b' at 'functionName' failed to satisfy constraint"},
		`POST /2015-03-31/functions {"FunctionName":"f:1","Role":"` + role + `","Code":{}}`: {400,
			"This operation is permitted on Lambda functions only."},
		`POST /2015-03-31/functions/f/aliases {"Name":"a","FunctionVersion":"1","RoutingConfig":{"AdditionalVersionWeights":{"a":1}}}`: {400,
			"Value '{a=1}' at 'routingConfig.additionalVersionWeights' failed to satisfy constraint: Map keys must satisfy constraint"},
		"PUT /2015-03-31/functions/f:1/configuration {}": {400, "This operation is permitted on Lambda functions only."},
		"PUT /2015-03-31/functions/f:1/code {}":          {400, "This operation is permitted on Lambda functions only."},
		"POST /2015-03-31/functions/f:1/versions {}":     {400, "This operation is permitted on Lambda functions only."},
		"DELETE /2017-10-31/functions/f:1/concurrency -": {400, "This operation is permitted on Lambda functions only."},
		"PUT /2017-10-31/functions/f:1/concurrency {\"ReservedConcurrentExecutions\":1}": {400,
			"This operation is permitted on Lambda functions only."},
		"GET /2017-03-31/tags/arn:aws:lambda:us-east-1:000000000000:function:f:1 -": {400,
			"Tags on function aliases and versions are not supported."},
		"POST /2017-03-31/tags/arn:aws:lambda:us-east-1:000000000000:function:f:1 {\"Tags\":{\"a\":\"b\"}}": {400,
			"Tags on function aliases and versions are not supported."},
		"DELETE /2017-03-31/tags/arn:aws:lambda:us-east-1:000000000000:function:f:1?tagKeys=a -": {400,
			"Tags on function aliases and versions are not supported."},
		"GET /2020-04-22/code-signing-configs -": {501, "The operation ListCodeSigningConfigs of Lambda is not served here. Those that are: stepback services lambda, docs/services.md."},
		"PATCH /2015-03-31/functions -":          {404, "is no operation"},
		"GET /2015-03-31/functions?MaxItems=0 -": {400, "Value '0' at 'maxItems' failed"},
		"GET /2015-03-31/functions?Marker=* -":   {400, "Invalid Marker"},
	} {
		parts := strings.SplitN(path, " ", 3)
		r, err := http.NewRequestWithContext(t.Context(), parts[0], url+parts[1],
			strings.NewReader(strings.TrimPrefix(parts[2], "-")))
		if err != nil {
			t.Fatal(err)
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(a.Body)
		a.Body.Close()
		if a.StatusCode != want.status || !strings.Contains(string(body), want.body) {
			t.Errorf("%s: %d %s", path, a.StatusCode, body)
		}
	}
}

func TestAccountsAreTakenFromTheAccessKey(t *testing.T) {
	t.Parallel()
	c, url := serve(t)
	create(t, c, "F", `echo 1`)
	other := clientOf(url, "111111111111")
	if l, err := other.ListFunctions(t.Context(), &awslambda.ListFunctionsInput{}); err != nil ||
		len(l.Functions) != 0 {
		t.Errorf("%+v, %v", l, err)
	}
	made := create(t, other, "F", `echo "\"$AWS_ACCESS_KEY_ID\""`)
	if sdk.ToString(made.FunctionArn) != "arn:aws:lambda:us-east-1:111111111111:function:F" {
		t.Error(*made.FunctionArn)
	}
	if out := invoke(t, other, "F", ""); string(out.Payload) != `"111111111111"` {
		t.Errorf("%s", out.Payload)
	}
}

func TestTheCodeCanBeReadBack(t *testing.T) {
	t.Parallel()
	c, _ := serve(t)
	create(t, c, "F", `echo 1`)
	out, err := c.GetFunction(t.Context(), &awslambda.GetFunctionInput{FunctionName: sdk.String("F")})
	if err != nil {
		t.Fatal(err)
	}
	for location, status := range map[string]int{*out.Code.Location: 200, strings.Replace(*out.Code.Location, "/F/",
		"/G/", 1): 404} {
		a, err := http.Get(location)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(a.Body)
		a.Body.Close()
		if a.StatusCode != status || status == 200 && int64(len(body)) != out.Configuration.CodeSize {
			t.Errorf("%s: %d, %d bytes", location, a.StatusCode, len(body))
		}
	}
}

// The answers to a creation and an update say that they are under way; the function is ready at once.
func TestStatesInAnswers(t *testing.T) {
	t.Parallel()
	c, _ := serve(t)
	ctx := t.Context()
	made, err := c.CreateFunction(ctx, &awslambda.CreateFunctionInput{FunctionName: sdk.String("F"), Role: sdk.String(role),
		Runtime: types.RuntimeProvidedal2023, Handler: sdk.String("bootstrap"), Code: &types.FunctionCode{ZipFile: script(t, "echo 1")},
		Environment: &types.Environment{Variables: map[string]string{}}})
	if err != nil {
		t.Fatal(err)
	}
	if made.State != "Pending" || *made.StateReason != "The function is being created." || made.StateReasonCode != "Creating" ||
		made.LastUpdateStatus != "" || made.Environment == nil {
		t.Errorf("%+v", made)
	}
	if arn := *made.RuntimeVersionConfig.RuntimeVersionArn; !regexp.MustCompile(
		`^arn:aws:lambda:us-east-1::runtime:[0-9a-f]{64}$`).MatchString(arn) {
		t.Errorf("runtime %s", arn)
	}
	updated, err := c.UpdateFunctionConfiguration(ctx, &awslambda.UpdateFunctionConfigurationInput{FunctionName: sdk.String("F"),
		Timeout: sdk.Int32(5)})
	if err != nil || updated.State != "Active" || updated.LastUpdateStatus != "InProgress" ||
		*updated.LastUpdateStatusReason != "The function is being created." || updated.LastUpdateStatusReasonCode != "Creating" {
		t.Errorf("%+v, %v", updated, err)
	}
	got, err := c.GetFunctionConfiguration(ctx, &awslambda.GetFunctionConfigurationInput{FunctionName: sdk.String("F")})
	if err != nil || got.State != "Active" || got.LastUpdateStatus != "Successful" || got.LastUpdateStatusReason != nil {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = c.GetFunction(ctx, &awslambda.GetFunctionInput{FunctionName: sdk.String("arn:aws:lambda:eu-west-1:000000000000:function:F")})
	if got := refused(t, err); got != "ResourceNotFoundException: Functions from 'eu-west-1' are not reachable in this region ('us-east-1')" {
		t.Error(got)
	}
}
