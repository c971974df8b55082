package lambda_test

import (
	"archive/zip"
	"bytes"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	awslambda "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
)

// zipOf returns a zip file; names that begin with bin/ are executable.
func zipOf(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range files {
		h := &zip.FileHeader{Name: name}
		h.SetMode(0o644)
		if strings.HasPrefix(name, "bin/") {
			h.SetMode(0o755)
		}
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func publish(t *testing.T, c *awslambda.Client, name string, files map[string]string) *awslambda.PublishLayerVersionOutput {
	t.Helper()
	out, err := c.PublishLayerVersion(t.Context(), &awslambda.PublishLayerVersionInput{LayerName: &name,
		Content: &types.LayerVersionContentInput{ZipFile: zipOf(t, files)}, Description: sdk.String("d"),
		CompatibleRuntimes: []types.Runtime{types.RuntimeProvidedal2023}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A function can start a program of a layer by its path on AWS, as the function behind CDK's BucketDeployment starts
// /opt/awscli/aws.
func TestProgramsOfLayersAreFoundBelowOpt(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3")
	}
	c, _ := serve(t)
	layer := publish(t, c, "cli", map[string]string{
		"awscli/aws":      "#!/var/lang/bin/python3\nimport sys, words\nprint(words.said, sys.argv[1])\n",
		"awscli/words.py": "said = 'copies'\n"})
	const code = "import subprocess\ndef handler(event, context):\n" +
		"    return subprocess.check_output(['/opt/awscli/aws', event['what']]).decode().strip()\n"
	if _, err := c.CreateFunction(t.Context(), &awslambda.CreateFunctionInput{FunctionName: sdk.String("P"), Handler: sdk.String("index.handler"),
		Runtime: types.RuntimePython312, Role: sdk.String("arn:aws:iam::000000000000:role/r"), Layers: []string{*layer.LayerVersionArn},
		Timeout: sdk.Int32(20), Code: &types.FunctionCode{ZipFile: zipOf(t, map[string]string{"index.py": code})}}); err != nil {
		t.Fatal(err)
	}
	if out := invoke(t, c, "P", `{"what":"files"}`); string(out.Payload) != `"copies files"` {
		t.Errorf("%s", out.Payload)
	}
}

func TestLayersAreInTheEnvironmentOfFunctions(t *testing.T) {
	t.Parallel()
	c, _ := serve(t)
	one := publish(t, c, "one", map[string]string{"data.txt": "first", "deep/a": "a", "bin/greet": "#!/bin/sh\necho hello"})
	two := publish(t, c, "two", map[string]string{"data.txt": "second", "deep/b": "b"})
	create(t, c, "F", `echo "\"$(greet) $(cat $STEPBACK_LAMBDA_OPT/data.txt $STEPBACK_LAMBDA_OPT/deep/*)\""`)
	set, err := c.UpdateFunctionConfiguration(t.Context(), &awslambda.UpdateFunctionConfigurationInput{
		FunctionName: sdk.String("F"), Layers: []string{*one.LayerVersionArn, *two.LayerVersionArn}})
	if err != nil || len(set.Layers) != 2 || *set.Layers[1].Arn != *two.LayerVersionArn ||
		set.Layers[0].CodeSize != one.Content.CodeSize {
		t.Fatalf("%+v, %v", set, err)
	}
	if _, err := c.DeleteLayerVersion(t.Context(), &awslambda.DeleteLayerVersionInput{LayerName: sdk.String("one"),
		VersionNumber: sdk.Int64(1)}); err != nil { // functions that use it keep it
		t.Fatal(err)
	}
	if out := invoke(t, c, "F", ""); string(out.Payload) != `"hello secondab"` {
		t.Errorf("%s", out.Payload)
	}
	none, err := c.UpdateFunctionConfiguration(t.Context(), &awslambda.UpdateFunctionConfigurationInput{
		FunctionName: sdk.String("F"), Layers: []string{}})
	if err != nil || len(none.Layers) != 0 {
		t.Errorf("%+v, %v", none, err)
	}
}

func TestLayersArePublishedAndDeleted(t *testing.T) {
	t.Parallel()
	c, _ := serve(t)
	first := publish(t, c, "tools", map[string]string{"a": "a"})
	second := publish(t, c, "tools", map[string]string{"a": "b"})
	const arn = "arn:aws:lambda:us-east-1:000000000000:layer:tools"
	if *first.LayerArn != arn || *second.LayerVersionArn != arn+":2" || second.Version != 2 ||
		*first.Content.CodeSha256 == *second.Content.CodeSha256 {
		t.Errorf("%+v, %+v", first, second)
	}
	a, err := http.Get(*first.Content.Location)
	if err != nil {
		t.Fatal(err)
	}
	content, _ := io.ReadAll(a.Body)
	a.Body.Close()
	if a.StatusCode != http.StatusOK || int64(len(content)) != first.Content.CodeSize {
		t.Errorf("%d, %d bytes", a.StatusCode, len(content))
	}
	list, err := c.ListLayerVersions(t.Context(), &awslambda.ListLayerVersionsInput{LayerName: sdk.String(arn)})
	if err != nil || len(list.LayerVersions) != 2 || list.LayerVersions[0].Version != 2 {
		t.Errorf("%+v, %v", list, err)
	}
	all, err := c.ListLayers(t.Context(), &awslambda.ListLayersInput{CompatibleRuntime: types.RuntimeProvidedal2023})
	if err != nil || len(all.Layers) != 1 || *all.Layers[0].LayerName != "tools" ||
		all.Layers[0].LatestMatchingVersion.Version != 2 {
		t.Errorf("%+v, %v", all, err)
	}
	added, err := c.AddLayerVersionPermission(t.Context(), &awslambda.AddLayerVersionPermissionInput{
		LayerName: sdk.String("tools"), VersionNumber: sdk.Int64(2), StatementId: sdk.String("all"),
		Action: sdk.String("lambda:GetLayerVersion"), Principal: sdk.String("*")})
	if err != nil {
		t.Fatal(err)
	}
	policy, err := c.GetLayerVersionPolicy(t.Context(), &awslambda.GetLayerVersionPolicyInput{
		LayerName: sdk.String("tools"), VersionNumber: sdk.Int64(2)})
	want := `{"Version":"2012-10-17","Id":"default","Statement":[{"Sid":"all","Effect":"Allow","Principal":"*","Action":"lambda:GetLayerVersion","Resource":"` + arn + `:2"}]}`
	if err != nil || *policy.Policy != want || *policy.RevisionId != *added.RevisionId {
		t.Errorf("%+v, %v", policy, err)
	}
	if _, err := c.RemoveLayerVersionPermission(t.Context(), &awslambda.RemoveLayerVersionPermissionInput{
		LayerName: sdk.String("tools"), VersionNumber: sdk.Int64(2), StatementId: sdk.String("all")}); err != nil {
		t.Error(err)
	}
	if _, err := c.DeleteLayerVersion(t.Context(), &awslambda.DeleteLayerVersionInput{LayerName: sdk.String("tools"),
		VersionNumber: sdk.Int64(2)}); err != nil {
		t.Error(err)
	}
	_, err = c.GetLayerVersionByArn(t.Context(), &awslambda.GetLayerVersionByArnInput{Arn: sdk.String(arn + ":2")})
	if got := refused(t, err); got != "ResourceNotFoundException: The resource you requested does not exist." {
		t.Error(got)
	}
	if third := publish(t, c, "tools", map[string]string{"a": "c"}); third.Version != 3 {
		t.Errorf("a number is used twice: %d", third.Version)
	}
	got, err := c.GetLayerVersion(t.Context(), &awslambda.GetLayerVersionInput{LayerName: sdk.String("tools"),
		VersionNumber: sdk.Int64(3)})
	if err != nil || *got.Description != "d" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestLayersAreRefused(t *testing.T) {
	t.Parallel()
	c, _ := serve(t)
	create(t, c, "F", `echo 1`)
	one, two := publish(t, c, "one", map[string]string{"a": "a"}), publish(t, c, "one", map[string]string{"a": "b"})
	const bad = "InvalidParameterValueException: "
	missing := *one.LayerArn + ":9"
	for want, layers := range map[string][]string{
		bad + "Layer version " + missing + " does not exist.": {missing},
		bad + "Two different versions of the same layer are not allowed to be referenced in the same function. " +
			*one.LayerVersionArn + " and " + *two.LayerVersionArn + " are versions of the same layer.": {
			*one.LayerVersionArn, *two.LayerVersionArn},
	} {
		_, err := c.UpdateFunctionConfiguration(t.Context(), &awslambda.UpdateFunctionConfigurationInput{
			FunctionName: sdk.String("F"), Layers: layers})
		if got := refused(t, err); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

func TestProvisionedConcurrency(t *testing.T) {
	t.Parallel()
	c, _ := serve(t)
	create(t, c, "F", `echo 1`)
	name, one := sdk.String("F"), sdk.String("1")
	if _, err := c.PublishVersion(t.Context(), &awslambda.PublishVersionInput{FunctionName: name}); err != nil {
		t.Fatal(err)
	}
	put, err := c.PutProvisionedConcurrencyConfig(t.Context(), &awslambda.PutProvisionedConcurrencyConfigInput{
		FunctionName: name, Qualifier: one, ProvisionedConcurrentExecutions: sdk.Int32(5)})
	if err != nil || put.Status != types.ProvisionedConcurrencyStatusEnumInProgress {
		t.Fatalf("%+v, %v", put, err)
	}
	got, err := c.GetProvisionedConcurrencyConfig(t.Context(), &awslambda.GetProvisionedConcurrencyConfigInput{
		FunctionName: name, Qualifier: one})
	if err != nil || got.Status != types.ProvisionedConcurrencyStatusEnumReady ||
		*got.AllocatedProvisionedConcurrentExecutions != 5 {
		t.Errorf("%+v, %v", got, err)
	}
	list, err := c.ListProvisionedConcurrencyConfigs(t.Context(), &awslambda.ListProvisionedConcurrencyConfigsInput{
		FunctionName: name})
	if err != nil || len(list.ProvisionedConcurrencyConfigs) != 1 ||
		*list.ProvisionedConcurrencyConfigs[0].FunctionArn != here+"F:1" {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := c.PutFunctionConcurrency(t.Context(), &awslambda.PutFunctionConcurrencyInput{FunctionName: name,
		ReservedConcurrentExecutions: sdk.Int32(6)}); err != nil {
		t.Error(err)
	}
	_, err = c.PutProvisionedConcurrencyConfig(t.Context(), &awslambda.PutProvisionedConcurrencyConfigInput{
		FunctionName: name, Qualifier: one, ProvisionedConcurrentExecutions: sdk.Int32(7)})
	if text := refused(t, err); text != "InvalidParameterValueException: Requested Provisioned Concurrency should not be greater than the reservedConcurrentExecution for function" {
		t.Error(text)
	}
	if _, err := c.DeleteProvisionedConcurrencyConfig(t.Context(), &awslambda.DeleteProvisionedConcurrencyConfigInput{
		FunctionName: name, Qualifier: one}); err != nil {
		t.Error(err)
	}
	_, err = c.GetProvisionedConcurrencyConfig(t.Context(), &awslambda.GetProvisionedConcurrencyConfigInput{
		FunctionName: name, Qualifier: one})
	if text := refused(t, err); text != "ProvisionedConcurrencyConfigNotFoundException: No Provisioned Concurrency Config found for this function" {
		t.Error(text)
	}
}
