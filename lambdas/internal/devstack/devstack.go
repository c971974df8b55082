// Package devstack deploys parts of the CDK app's dev template onto a platform, with the functions' real bootstraps,
// for the tests of the functions.
package devstack

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"stepback/aws/client"
)

// Name is the name of the stack. Account and Region are those in which it is deployed.
const (
	Name    = "stepback-dev"
	Account = "000000000000"
	Region  = "us-east-1"
)

// golden is the template, as a path from the folder of a function, in which its tests run.
const golden = "../../cdk/csvimportstack/testdata/dev.golden.json"

// Resources are resources of a template, by logical ID, with the members that the template has.
type Resources map[string]map[string]any

// Of returns the resources of the dev template whose logical IDs take selects. What refers to other resources is
// removed from DependsOn and from the statements of IAM policies. Functions are for the processor of this machine.
func Of(t testing.TB, take func(id string) bool) Resources {
	t.Helper()
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var template struct{ Resources Resources }
	if err := json.Unmarshal(text, &template); err != nil {
		t.Fatal(err)
	}
	taken := Resources{}
	for id, r := range template.Resources {
		if take(id) {
			taken[id] = r
		}
	}
	for _, r := range taken {
		if after, ok := r["DependsOn"].([]any); ok {
			r["DependsOn"] = slices.DeleteFunc(after, func(on any) bool { return taken[on.(string)] == nil })
		}
		properties := r["Properties"].(map[string]any)
		switch r["Type"] {
		case "AWS::IAM::Policy":
			document := properties["PolicyDocument"].(map[string]any)
			document["Statement"] = slices.DeleteFunc(document["Statement"].([]any), taken.lacks)
		case "AWS::Lambda::Function":
			properties["Architectures"] = []string{map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH]}
		}
	}
	return taken
}

// Begins reports whether a logical ID begins with one of the names: CDK appends a hash to the name of each resource.
func Begins(id string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(id, name) })
}

// lacks reports whether a value refers to a resource that is missing.
func (r Resources) lacks(v any) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, r.lacks)
	case map[string]any:
		if id, ok := v["Ref"].(string); ok {
			return r[id] == nil && !strings.HasPrefix(id, "AWS::")
		}
		if of, ok := v["Fn::GetAtt"].([]any); ok {
			return r[of[0].(string)] == nil
		}
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), r.lacks)
	}
	return false
}

// Config returns the configuration of AWS clients that call the platform at an address.
func Config(endpoint string) aws.Config {
	return aws.Config{Region: Region, BaseEndpoint: &endpoint,
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")}
}

// Deploy creates the stack on the platform at an address and waits until it is complete. Each function among the
// resources has the bootstrap that is built of its package; packages are named after the functions, in lower case.
func (r Resources) Deploy(t testing.TB, endpoint string) {
	t.Helper()
	cfg := Config(endpoint)
	objects := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	assets := "cdk-hnb659fds-assets-" + Account + "-" + Region
	if _, err := objects.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &assets}); err != nil {
		t.Fatal(err)
	}
	put := func(key string, content []byte) {
		if _, err := objects.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &assets, Key: &key,
			Body: bytes.NewReader(content)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, resource := range r {
		if resource["Type"] == "AWS::Lambda::Function" {
			properties := resource["Properties"].(map[string]any)
			name := properties["FunctionName"].(string)
			code, err := bootstrap(t.Context(), name[strings.LastIndexByte(name, '-')+1:])
			if err != nil {
				t.Fatal(err)
			}
			put(properties["Code"].(map[string]any)["S3Key"].(string), code)
		}
	}
	body, err := json.Marshal(map[string]any{"Resources": r})
	if err != nil {
		t.Fatal(err)
	}
	put("template.json", body)
	Call(t, cfg, "cloudformation", "CreateStack", map[string]any{"StackName": Name,
		"TemplateURL":  endpoint + "/" + assets + "/template.json",
		"Capabilities": []string{"CAPABILITY_NAMED_IAM"}}, nil)
	for status := "CREATE_IN_PROGRESS"; status != "CREATE_COMPLETE"; {
		var out struct {
			Stacks []struct{ StackStatus, StackStatusReason string }
		}
		Call(t, cfg, "cloudformation", "DescribeStacks", map[string]any{"StackName": Name}, &out)
		status = out.Stacks[0].StackStatus
		if strings.HasSuffix(status, "FAILED") || strings.Contains(status, "ROLLBACK") || t.Context().Err() != nil {
			t.Fatal(status, out.Stacks[0].StackStatusReason)
		}
	}
}

// Call calls an operation of a service. out may be nil; the response is then ignored.
func Call(t testing.TB, cfg aws.Config, service, operation string, in, out any) {
	t.Helper()
	c, err := client.NewNamed(t.Context(), cfg, service)
	if err == nil {
		if out == nil {
			out = &map[string]any{}
		}
		err = c.Call(t.Context(), operation, in, out)
	}
	if err != nil {
		t.Fatal(service, operation, err)
	}
}

var (
	building   sync.Mutex
	bootstraps = map[string][]byte{} // deployment packages by function
)

// bootstrap returns the deployment package of a function. It is built once in a process.
func bootstrap(ctx context.Context, function string) ([]byte, error) {
	building.Lock()
	defer building.Unlock()
	if bootstraps[function] != nil {
		return bootstraps[function], nil
	}
	dir, err := os.MkdirTemp("", "bootstrap-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "bootstrap")
	//nolint:gosec // the caller's functions, of this module
	build := exec.CommandContext(ctx, "go", "build", "-tags", "lambda.norpc", "-ldflags", "-s -w", "-o", binary,
		"stepback/lambdas/"+function)
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build of the function %s: %w: %s", function, err, out)
	}
	program, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	header := &zip.FileHeader{Name: "bootstrap", Method: zip.Store}
	header.SetMode(0o755)
	w, err := z.CreateHeader(header)
	if err == nil {
		_, err = w.Write(program)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return nil, err
	}
	bootstraps[function] = packed.Bytes()
	return packed.Bytes(), nil
}
