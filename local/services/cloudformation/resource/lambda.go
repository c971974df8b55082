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

func lambdas() []*Type {
	return []*Type{
		{
			Name: "AWS::Lambda::Function",
			Properties: properties(
				`FunctionName= PackageType! Architectures Code*~ CodeSigningConfigArn DeadLetterConfig
			Description DurableConfig Environment EphemeralStorage FileSystemConfigs Handler ImageConfig KmsKeyArn
			Layers LoggingConfig MemorySize ReservedConcurrentExecutions Role* Runtime SnapStart Tags TenancyConfig!
			Timeout TracingConfig VpcConfig`,
			),
			Create: createFunction,
			Update: updateFunction,
			Read:   readFunction,
			List:   listFunctions,
			Delete: func(ctx context.Context, r *Request) error {
				return ignoreAbsent(r.Call(ctx, "lambda", "DeleteFunction", map[string]any{"FunctionName": r.ID}, nil))
			},
		},
		{
			Name:       "AWS::Lambda::Version",
			Properties: properties("FunctionName*! Description! CodeSha256! ProvisionedConcurrencyConfig!"),
			Create: func(ctx context.Context, r *Request) (State, error) {
				var out struct {
					ARN     string `json:"FunctionArn"`
					Version string
				}
				err := r.Call(
					ctx,
					"lambda",
					"PublishVersion",
					pick(r.Properties, "FunctionName Description CodeSha256"),
					&out,
				)
				if err == nil {
					err = provision(ctx, r, out.Version)
				}
				return created(
					State{ID: out.ARN, Attributes: map[string]any{"Version": out.Version, "FunctionArn": out.ARN}},
					err,
				)
			},
			Delete: func(ctx context.Context, r *Request) error {
				return ignoreAbsent(r.Call(ctx, "lambda", "DeleteFunction", map[string]any{
					"FunctionName": strings.TrimSuffix(
						r.ID,
						":"+after(r.ID, ":"),
					),
					"Qualifier": after(r.ID, ":"),
				}, nil))
			},
		},
		{
			Name: "AWS::Lambda::Alias",
			Properties: properties(`FunctionName*! Name*= FunctionVersion* Description RoutingConfig
			ProvisionedConcurrencyConfig`),
			Create: func(ctx context.Context, r *Request) (State, error) { return putAlias(ctx, r, "CreateAlias") },
			Update: func(ctx context.Context, r *Request) (State, error) { return putAlias(ctx, r, "UpdateAlias") },
			Delete: func(ctx context.Context, r *Request) error {
				return ignoreAbsent(r.Call(ctx, "lambda", "DeleteAlias", pick(r.Properties, "FunctionName Name"), nil))
			},
		},
		{
			Name: "AWS::Lambda::Permission",
			Properties: properties(`Action*! FunctionName*! Principal*! SourceAccount! SourceArn! EventSourceToken!
			FunctionUrlAuthType! PrincipalOrgID! InvokedViaFunctionUrl!`),
			Create: createPermission,
			Delete: func(ctx context.Context, r *Request) error {
				return ignoreAbsent(
					r.Call(ctx, "lambda", "RemovePermission", map[string]any{"FunctionName": r.text("FunctionName"),
						"StatementId": r.ID}, nil),
				)
			},
		},
		{
			Name: "AWS::Lambda::EventSourceMapping",
			Properties: properties(`FunctionName* EventSourceArn! StartingPosition! StartingPositionTimestamp! BatchSize
			BisectBatchOnFunctionError DestinationConfig Enabled FilterCriteria FunctionResponseTypes
			MaximumBatchingWindowInSeconds MaximumRecordAgeInSeconds MaximumRetryAttempts ParallelizationFactor
			ScalingConfig TumblingWindowInSeconds KmsKeyArn MetricsConfig Tags`),
			Create: createMapping, Update: updateMapping,
			Delete: func(ctx context.Context, r *Request) error {
				return ignoreAbsent(
					r.Call(ctx, "lambda", "DeleteEventSourceMapping", map[string]any{"UUID": r.ID}, nil),
				)
			},
		},
		{
			Name: "AWS::Lambda::EventInvokeConfig",
			Properties: properties(
				"FunctionName*! Qualifier*! DestinationConfig MaximumEventAgeInSeconds MaximumRetryAttempts",
			),
			Create: putInvokeConfig,
			Update: putInvokeConfig,
			Delete: func(ctx context.Context, r *Request) error {
				return ignoreAbsent(r.Call(ctx, "lambda", "DeleteFunctionEventInvokeConfig", pick(r.Properties,
					"FunctionName Qualifier"), nil))
			},
		},
		{
			Name:       "AWS::Lambda::LayerVersionPermission",
			Properties: properties("LayerVersionArn*! Action*! Principal*! OrganizationId!"),
			Create: func(ctx context.Context, r *Request) (State, error) {
				in := pick(r.Properties, "Action Principal OrganizationId")
				layerOf(in, r.text("LayerVersionArn"))
				in["StatementId"] = r.Name(100)
				_, err := r.create(ctx, "lambda", "AddLayerVersionPermission", in, nil)
				return created(State{ID: r.text("LayerVersionArn") + "#" + r.Name(100)}, err)
			},
			Delete: func(ctx context.Context, r *Request) error {
				in := map[string]any{"StatementId": after(r.ID, "#")}
				layerOf(in, r.text("LayerVersionArn"))
				return ignoreAbsent(r.Call(ctx, "lambda", "RemoveLayerVersionPermission", in, nil))
			},
		},
		{
			Name: "AWS::Lambda::LayerVersion",
			Properties: properties(`LayerName! Content*! CompatibleArchitectures! CompatibleRuntimes! Description!
			LicenseInfo!`),
			Create: createLayer,
			Delete: func(ctx context.Context, r *Request) error {
				return ignoreAbsent(r.Call(ctx, "lambda", "DeleteLayerVersion", map[string]any{
					"LayerName": strings.TrimSuffix(
						r.ID,
						":"+after(r.ID, ":"),
					),
					"VersionNumber": after(r.ID, ":"),
				}, nil))
			},
		},
		{
			Name:       "AWS::Lambda::Url",
			Properties: properties("TargetFunctionArn*! Qualifier! AuthType* Cors InvokeMode"),
			Create:     func(ctx context.Context, r *Request) (State, error) { return putURL(ctx, r, "CreateFunctionUrlConfig") },
			Update:     func(ctx context.Context, r *Request) (State, error) { return putURL(ctx, r, "UpdateFunctionUrlConfig") },
			Delete: func(ctx context.Context, r *Request) error {
				return ignoreAbsent(r.Call(ctx, "lambda", "DeleteFunctionUrlConfig", pick(r.Properties,
					"TargetFunctionArn=FunctionName Qualifier"), nil))
			},
		},
	}
}

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

func putAlias(ctx context.Context, r *Request, operation string) (State, error) {
	in := pick(r.Properties, "FunctionName Name FunctionVersion Description")
	if routing := object(r.Properties, "RoutingConfig"); routing != nil {
		weights := map[string]any{}
		for _, e := range list(routing, "AdditionalVersionWeights") {
			w, _ := e.(map[string]any)
			weights[textOf(w, "FunctionVersion")] = w["FunctionWeight"]
		}
		in["RoutingConfig"] = map[string]any{"AdditionalVersionWeights": weights}
	} else if r.Previous["RoutingConfig"] != nil {
		in["RoutingConfig"] = map[string]any{"AdditionalVersionWeights": map[string]any{}}
	}
	var out struct {
		ARN string `json:"AliasArn"`
	}
	made, err := r.create(ctx, "lambda", operation, in, &out)
	if err == nil && !made {
		err = r.Call(ctx, "lambda", "UpdateAlias", in, &out)
	}
	if err == nil {
		err = provision(ctx, r, textOf(r.Properties, "Name"))
	}
	return created(State{ID: out.ARN, Attributes: map[string]any{"AliasArn": out.ARN}}, err)
}

// provision sets the provisioned concurrency of a version or an alias, or removes it.
func provision(ctx context.Context, r *Request, qualifier string) error {
	in := map[string]any{"FunctionName": r.Properties["FunctionName"], "Qualifier": qualifier}
	if c := object(r.Properties, "ProvisionedConcurrencyConfig"); c != nil {
		in["ProvisionedConcurrentExecutions"] = c["ProvisionedConcurrentExecutions"]
		return r.Call(ctx, "lambda", "PutProvisionedConcurrencyConfig", in, nil)
	}
	if r.Previous["ProvisionedConcurrencyConfig"] == nil {
		return nil
	}
	return ignoreAbsent(r.Call(ctx, "lambda", "DeleteProvisionedConcurrencyConfig", in, nil))
}

func createPermission(ctx context.Context, r *Request) (State, error) {
	in := pick(r.Properties, `Action FunctionName Principal SourceAccount SourceArn EventSourceToken FunctionUrlAuthType
		PrincipalOrgID InvokedViaFunctionUrl`)
	id := r.Name(100)
	in["StatementId"] = id
	_, err := r.create(ctx, "lambda", "AddPermission", in, nil)
	return created(State{ID: id, Attributes: map[string]any{"Id": id}}, err)
}

const mappingSettings = `BatchSize BisectBatchOnFunctionError DestinationConfig Enabled FilterCriteria FunctionName
	FunctionResponseTypes MaximumBatchingWindowInSeconds MaximumRecordAgeInSeconds MaximumRetryAttempts
	ParallelizationFactor ScalingConfig TumblingWindowInSeconds KmsKeyArn=KMSKeyArn MetricsConfig`

type mapping struct {
	UUID string
	ARN  string `json:"EventSourceMappingArn"`
}

func mappingState(r *Request, m mapping) State {
	return State{ID: m.UUID, Attributes: map[string]any{"Id": m.UUID,
		"EventSourceMappingArn": nonempty(m.ARN, r.Scope.ARN("lambda", "event-source-mapping:"+m.UUID))}}
}

func createMapping(ctx context.Context, r *Request) (State, error) {
	in := pick(r.Properties, mappingSettings+" EventSourceArn StartingPosition StartingPositionTimestamp")
	if tags := r.tags(); len(tags) > 0 {
		in["Tags"] = tags
	}
	var out mapping
	made, err := r.create(ctx, "lambda", "CreateEventSourceMapping", in, &out)
	if err == nil && !made {
		var all struct{ EventSourceMappings []mapping }
		if err = r.Call(ctx, "lambda", "ListEventSourceMappings", pick(r.Properties, "FunctionName EventSourceArn"),
			&all); err == nil && len(all.EventSourceMappings) > 0 {
			out = all.EventSourceMappings[0]
		}
	}
	return mappingState(r, out), err
}

func updateMapping(ctx context.Context, r *Request) (State, error) {
	in := pick(r.Properties, mappingSettings)
	in["UUID"] = r.ID
	if err := r.Call(ctx, "lambda", "UpdateEventSourceMapping", in, nil); err != nil {
		return State{}, err
	}
	s := mappingState(r, mapping{UUID: r.ID})
	return s, r.retag(ctx, "lambda", "TagResource", "UntagResource", map[string]any{
		"Resource": s.Attributes["EventSourceMappingArn"]}, "Tags", "TagKeys", asMap)
}

func putInvokeConfig(ctx context.Context, r *Request) (State, error) {
	in := pick(r.Properties, "FunctionName Qualifier DestinationConfig MaximumEventAgeInSeconds MaximumRetryAttempts")
	return created(
		State{ID: nonempty(r.ID, r.Name(maxID))},
		r.Call(ctx, "lambda", "PutFunctionEventInvokeConfig", in, nil),
	)
}

func createLayer(ctx context.Context, r *Request) (State, error) {
	in := pick(r.Properties, "CompatibleArchitectures CompatibleRuntimes Content Description LicenseInfo")
	in["LayerName"] = r.named("LayerName", 64)
	var out struct {
		ARN string `json:"LayerVersionArn"`
	}
	err := r.Call(ctx, "lambda", "PublishLayerVersion", in, &out)
	return created(State{ID: out.ARN, Attributes: map[string]any{"LayerVersionArn": out.ARN}}, err)
}

// layerOf adds the name and the version of a layer.
func layerOf(in map[string]any, arn string) {
	in["VersionNumber"] = after(arn, ":")
	in["LayerName"] = strings.TrimSuffix(arn, ":"+after(arn, ":"))
}

func putURL(ctx context.Context, r *Request, operation string) (State, error) {
	in := pick(r.Properties, "TargetFunctionArn=FunctionName Qualifier AuthType Cors InvokeMode")
	var out struct {
		ARN string `json:"FunctionArn"`
		URL string `json:"FunctionUrl"`
	}
	made, err := r.create(ctx, "lambda", operation, in, &out)
	if err == nil && !made {
		err = r.Call(ctx, "lambda", "UpdateFunctionUrlConfig", in, &out)
	}
	return created(State{ID: out.ARN, Attributes: map[string]any{"FunctionArn": out.ARN, "FunctionUrl": out.URL}}, err)
}
