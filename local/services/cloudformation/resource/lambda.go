package resource

import (
	"context"
	"strings"
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
