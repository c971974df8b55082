package sam

import (
	"strings"

	"stepback/local/services/cloudformation/template"
)

const functionCopied = `FunctionName Description Handler Runtime MemorySize Timeout Environment VpcConfig Layers
	ReservedConcurrentExecutions KmsKeyArn EphemeralStorage LoggingConfig Architectures PackageType ImageConfig
	FileSystemConfigs SnapStart DurableConfig TenancyConfig`

func (x *item) function() error {
	if err := x.known(functionCopied + ` CodeUri InlineCode ImageUri Role Policies Events Tags Tracing DeadLetterQueue
		AutoPublishAlias EventInvokeConfig FunctionUrlConfig AssumeRolePolicyDocument PermissionsBoundary RolePath
		VersionDescription`); err != nil {
		return err
	}
	f := copied(x.p, functionCopied)
	code, err := x.code()
	if err != nil {
		return err
	}
	f["Code"] = code
	f["Tags"] = tags(x.p["Tags"], "lambda:createdBy", "SAM")
	if mode, ok := x.p["Tracing"]; ok {
		f["TracingConfig"] = map[string]any{"Mode": mode}
	}
	var statements []any
	if q, ok := x.p["DeadLetterQueue"].(map[string]any); ok {
		f["DeadLetterConfig"] = map[string]any{"TargetArn": q["TargetArn"]}
		action := "sqs:SendMessage"
		if q["Type"] == "SNS" {
			action = "sns:publish"
		}
		statements = append(statements, allow([]any{action}, q["TargetArn"]))
	}
	managedArns := []any{managed("service-role/AWSLambdaBasicExecutionRole")}
	if f["DurableConfig"] != nil {
		managedArns = []any{managed("service-role/AWSLambdaBasicDurableExecutionRolePolicy")}
	}
	if f["TracingConfig"] != nil {
		managedArns = append(managedArns, managed("AWSXrayWriteOnlyAccess"))
	}
	if f["VpcConfig"] != nil {
		managedArns = append(managedArns, managed("service-role/AWSLambdaVPCAccessExecutionRole"))
	}
	target := x.id
	qualified := ref(x.id)
	if alias, ok := x.p["AutoPublishAlias"].(string); ok {
		target = x.id + "Alias" + alias
		qualified = ref(target)
		x.publish(alias)
	}
	eventArns, err := x.events(qualified)
	if err != nil {
		return err
	}
	if role, ok := x.p["Role"]; ok {
		f["Role"] = role
	} else {
		f["Role"] = getAtt(x.id+"Role", "Arn")
		if err := x.role("lambda", append(managedArns, eventArns...), statements); err != nil {
			return err
		}
	}
	x.add(x.id, "AWS::Lambda::Function", f)
	if c, ok := x.p["EventInvokeConfig"].(map[string]any); ok {
		to := copied(c, "DestinationConfig MaximumEventAgeInSeconds MaximumRetryAttempts")
		to["FunctionName"], to["Qualifier"] = ref(x.id), "$LATEST"
		if alias, ok := x.p["AutoPublishAlias"].(string); ok {
			to["Qualifier"] = alias
		}
		x.add(target+"EventInvokeConfig", "AWS::Lambda::EventInvokeConfig", to)
	}
	if u, ok := x.p["FunctionUrlConfig"].(map[string]any); ok {
		to := copied(u, "AuthType Cors InvokeMode")
		to["TargetFunctionArn"] = qualified
		x.add(x.id+"Url", "AWS::Lambda::Url", to)
		if u["AuthType"] == "NONE" {
			x.add(x.id+"UrlPublicPermissions", "AWS::Lambda::Permission", map[string]any{"Action": "lambda:InvokeFunctionUrl",
				"FunctionName": qualified, "Principal": "*", "FunctionUrlAuthType": "NONE"})
		}
	}
	return nil
}

// publish adds a version, whose ID changes with the code, and an alias for it.
func (x *item) publish(alias string) {
	sum := template.JSON(x.p["CodeUri"]) + template.JSON(x.p["InlineCode"])
	version := x.id + "Version" + digest(sum)
	x.add(version, "AWS::Lambda::Version", map[string]any{"FunctionName": ref(x.id)})
	r, _ := x.resources[version].(map[string]any)
	r["DeletionPolicy"] = "Retain"
	x.add(x.id+"Alias"+alias, "AWS::Lambda::Alias", map[string]any{"Name": alias, "FunctionName": ref(x.id),
		"FunctionVersion": getAtt(version, "Version")})
}

// code returns the location of a function's code.
func (x *item) code() (any, error) {
	if text, ok := x.p["InlineCode"]; ok {
		return map[string]any{"ZipFile": text}, nil
	}
	if image, ok := x.p["ImageUri"]; ok {
		return map[string]any{"ImageUri": image}, nil
	}
	return location(x, "CodeUri", "S3Bucket", "S3Key", "S3ObjectVersion")
}

// location converts a location in S3: an object, or a URI such as s3://bucket/key.
func location(x *item, property, bucket, key, version string) (any, error) {
	switch v := x.p[property].(type) {
	case map[string]any:
		if _, ok := v["Bucket"]; ok {
			return copied(v, "Bucket="+bucket+" Key="+key+" Version="+version), nil
		}
	case string:
		rest, ok := strings.CutPrefix(v, "s3://")
		b, k, has := strings.Cut(rest, "/")
		if ok && has {
			return map[string]any{bucket: b, key: k}, nil
		}
	}
	return nil, x.invalid("'%s' is not a valid S3 Uri of the form 's3://bucket/key' with optional versionId query parameter..", property)
}
