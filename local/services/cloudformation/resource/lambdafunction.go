package resource

import (
	"archive/zip"
	"bytes"
	"context"
	_ "embed" // the modules that functions with inline code may import
	"encoding/base64"
	"strings"
	"time"

	"stepback/aws"
)

const functionSettings = `CodeSigningConfigArn=CodeSigningConfigArn DeadLetterConfig Description DurableConfig Environment
	EphemeralStorage FileSystemConfigs Handler ImageConfig KmsKeyArn=KMSKeyArn Layers LoggingConfig MemorySize
		Role Runtime
	SnapStart Timeout TracingConfig VpcConfig`

//go:embed inline/cfnresponse.py
var responsePython []byte

//go:embed inline/cfn-response.js
var responseNode []byte

// codeOf returns the location of a function's code for CreateFunction; text in the template is packaged.
func codeOf(p map[string]any) (map[string]any, error) {
	code, err := renamed(p["Code"], "#/Code", "S3Bucket S3Key S3ObjectVersion ImageUri ZipFile SourceKMSKeyArn")
	if err != nil {
		return nil, err
	}
	text, inline := code["ZipFile"].(string)
	if !inline {
		return code, nil
	}
	runtime, handler := textOf(p, "Runtime"), textOf(p, "Handler")
	file, _, _ := strings.Cut(handler, ".")
	files := map[string][]byte{}
	switch {
	case strings.HasPrefix(runtime, "python"):
		files[file+".py"], files["cfnresponse.py"] = []byte(text), responsePython
	case strings.HasPrefix(runtime, "nodejs"):
		name := file + ".js"
		if strings.Contains(text, "export ") || strings.HasPrefix(strings.TrimSpace(text), "import ") {
			name = file + ".mjs"
		}
		files[name], files["node_modules/cfn-response/index.js"] = []byte(text), responseNode
	default:
		return nil, &PropertyError{
			Problems: []string{"#/Code/ZipFile: code in the template is for the runtimes of Node.js and Python only"},
		}
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range sortedNames(files) {
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(files[name]); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return map[string]any{"ZipFile": base64.StdEncoding.EncodeToString(b.Bytes())}, nil
}

func sortedNames(files map[string][]byte) []string {
	m := map[string]any{}
	for k := range files {
		m[k] = nil
	}
	return keysOf(m)
}

// functionConfiguration is a function's configuration as returned by Lambda.
type functionConfiguration struct {
	Name                          string `json:"FunctionName"`
	ARN                           string `json:"FunctionArn"`
	State, StateReason            string
	Status                        string `json:"LastUpdateStatus"`
	StatusReason                  string `json:"LastUpdateStatusReason"`
	Role, Handler, Runtime        string
	Description                   string
	Timeout, MemorySize           int
	Architectures                 []string
	Environment, EphemeralStorage map[string]any
}

func createFunction(ctx context.Context, r *Request) (State, error) {
	name := r.named("FunctionName", 64)
	code, err := codeOf(r.Properties)
	if err != nil {
		return State{}, err
	}
	in := pick(r.Properties, functionSettings+" Architectures PackageType TenancyConfig")
	in["FunctionName"], in["Code"] = name, code
	if tags := r.tags(); len(tags) > 0 {
		in["Tags"] = tags
	}
	var out functionConfiguration
	made, err := r.create(ctx, "lambda", "CreateFunction", in, &out)
	if err != nil {
		return State{}, err
	}
	if !made || out.State == "Pending" {
		if out, err = settled(ctx, r, name); err != nil {
			return State{}, err
		}
	}
	state := State{ID: name, Attributes: map[string]any{"Arn": out.ARN}}
	return state, reserve(ctx, r, name)
}

// settled waits until Lambda has finished the last change of a function.
func settled(ctx context.Context, r *Request, name string) (functionConfiguration, error) {
	for {
		var out functionConfiguration
		err := r.Call(ctx, "lambda", "GetFunctionConfiguration", map[string]any{"FunctionName": name}, &out)
		switch {
		case err != nil:
			return out, err
		case out.State == "Failed":
			return out, &aws.Error{Code: "GeneralServiceException", Message: "the function failed: " + out.StateReason}
		case out.Status == "Failed":
			return out, &aws.Error{Code: "GeneralServiceException", Message: "the update failed: " + out.StatusReason}
		case out.State != "Pending" && out.Status != "InProgress":
			return out, nil
		}
		if err := r.Wait(ctx, time.Second); err != nil {
			return out, err
		}
	}
}

func reserve(ctx context.Context, r *Request, name string) error {
	if !r.changed("ReservedConcurrentExecutions") {
		return nil
	}
	in := pick(r.Properties, "ReservedConcurrentExecutions")
	operation := "PutFunctionConcurrency"
	if len(in) == 0 {
		operation = "DeleteFunctionConcurrency"
	}
	in["FunctionName"] = name
	return r.Call(ctx, "lambda", operation, in, nil)
}

// functionDefaults are the values to which settings are reset if a template no longer contains them.
var functionDefaults = map[string]any{"Description": "", "MemorySize": 128, "Timeout": 3, "Layers": []any{},
	"Environment": map[string]any{"Variables": map[string]any{}}, "KMSKeyArn": "",
	"EphemeralStorage": map[string]any{"Size": 512}, "TracingConfig": map[string]any{"Mode": "PassThrough"},
	"DeadLetterConfig": map[string]any{"TargetArn": ""},
	"VpcConfig":        map[string]any{"SubnetIds": []any{}, "SecurityGroupIds": []any{}}}

func updateFunction(ctx context.Context, r *Request) (State, error) {
	arn, _ := r.Attributes["Arn"].(string)
	if r.changed("Code", "Architectures") {
		in, err := codeOf(r.Properties)
		if err != nil {
			return State{}, err
		}
		in["FunctionName"] = r.ID
		set(in, "Architectures", r.Properties["Architectures"])
		if err := r.Call(ctx, "lambda", "UpdateFunctionCode", in, nil); err != nil {
			return State{}, err
		}
		if _, err := settled(ctx, r, r.ID); err != nil {
			return State{}, err
		}
	}
	now, before := pick(r.Properties, functionSettings), pick(r.Previous, functionSettings)
	in := map[string]any{}
	for _, k := range keysOf(now) {
		if document(now[k]) != document(before[k]) {
			in[k] = now[k]
		}
	}
	for k := range before {
		if _, ok := now[k]; !ok && functionDefaults[k] != nil {
			in[k] = functionDefaults[k]
		}
	}
	if len(in) > 0 {
		in["FunctionName"] = r.ID
		if err := r.Call(ctx, "lambda", "UpdateFunctionConfiguration", in, nil); err != nil {
			return State{}, err
		}
		if _, err := settled(ctx, r, r.ID); err != nil {
			return State{}, err
		}
	}
	if err := reserve(ctx, r, r.ID); err != nil {
		return State{}, err
	}
	return State{ID: r.ID, Attributes: r.Attributes}, r.retag(ctx, "lambda", "TagResource", "UntagResource",
		map[string]any{"Resource": arn}, "Tags", "TagKeys", asMap)
}

func readFunction(ctx context.Context, r *Request) (map[string]any, error) {
	var c functionConfiguration
	if err := r.Call(ctx, "lambda", "GetFunctionConfiguration", map[string]any{"FunctionName": r.ID}, &c); err != nil {
		return nil, goneIfAbsent(err)
	}
	p := map[string]any{"FunctionName": c.Name, "Role": c.Role, "Handler": c.Handler, "Runtime": c.Runtime,
		"Description": c.Description, "Timeout": c.Timeout, "MemorySize": c.MemorySize}
	set(p, "Environment", c.Environment)
	set(p, "EphemeralStorage", c.EphemeralStorage)
	if len(c.Architectures) > 0 {
		p["Architectures"] = c.Architectures
	}
	return p, nil
}

func listFunctions(ctx context.Context, r *Request) ([]string, error) {
	var out struct{ Functions []functionConfiguration }
	err := r.Call(ctx, "lambda", "ListFunctions", nil, &out)
	ids := make([]string, len(out.Functions))
	for i, f := range out.Functions {
		ids[i] = f.Name
	}
	return ids, err
}
