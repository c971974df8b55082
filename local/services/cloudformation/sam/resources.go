package sam

import (
	"fmt"
	"maps"
	"slices"

	"stepback/asl/document"
	"stepback/local/services/cloudformation/template"
)

func (x *item) table() error {
	if err := x.known("PrimaryKey ProvisionedThroughput TableName Tags SSESpecification PointInTimeRecoverySpecification"); err != nil {
		return err
	}
	to := copied(x.p, "ProvisionedThroughput TableName SSESpecification PointInTimeRecoverySpecification")
	key, _ := x.p["PrimaryKey"].(map[string]any)
	name, typ := any("id"), "S"
	if n, ok := key["Name"]; ok {
		name = n
		switch key["Type"] {
		case "Number":
			typ = "N"
		case "Binary":
			typ = "B"
		}
	}
	to["AttributeDefinitions"] = []any{map[string]any{"AttributeName": name, "AttributeType": typ}}
	to["KeySchema"] = []any{map[string]any{"AttributeName": name, "KeyType": "HASH"}}
	if to["ProvisionedThroughput"] == nil {
		to["BillingMode"] = "PAY_PER_REQUEST"
	}
	if t, ok := x.p["Tags"]; ok {
		to["Tags"] = tags(t)
	}
	x.add(x.id, "AWS::DynamoDB::Table", to)
	return nil
}

// layer adds a layer resource whose ID changes with the content, as AWS's does, so that old versions are kept;
// references to the layer are changed accordingly.
func (x *item) layer() error {
	if err := x.known("LayerName Description ContentUri CompatibleRuntimes CompatibleArchitectures LicenseInfo RetentionPolicy"); err != nil {
		return err
	}
	to := copied(x.p, "Description CompatibleRuntimes CompatibleArchitectures LicenseInfo LayerName")
	content, err := location(x, "ContentUri", "S3Bucket", "S3Key", "S3ObjectVersion")
	if err != nil {
		return err
	}
	to["Content"] = content
	if to["LayerName"] == nil {
		to["LayerName"] = x.id
	}
	id := x.id + digest(template.JSON(to))
	delete(x.resources, x.id)
	r := map[string]any{"Type": "AWS::Lambda::LayerVersion", "Properties": to, "DeletionPolicy": "Retain"}
	if x.p["RetentionPolicy"] == "Delete" {
		r["DeletionPolicy"] = "Delete"
	}
	if c, ok := x.source["Condition"]; ok {
		r["Condition"] = c
	}
	rename(x.resources, x.id, id)
	x.resources[id] = r
	return nil
}

// rename changes all references from one resource to another.
func rename(v any, from, to string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			rename(e, from, to)
		}
	case map[string]any:
		if v["Ref"] == from {
			v["Ref"] = to
		}
		for _, e := range v {
			rename(e, from, to)
		}
	}
}

func (x *item) machine() error {
	if err := x.known(`Definition DefinitionUri DefinitionSubstitutions Name Type Role Policies Logging Tracing Tags Events
		PermissionsBoundary RolePath`); err != nil {
		return err
	}
	if err := document.OneSAMDefinition(func(property string) bool { return x.p[property] != nil }); err != nil {
		return x.invalid("%s", err)
	}
	to := copied(x.p, "DefinitionSubstitutions Name=StateMachineName Type=StateMachineType Logging=LoggingConfiguration Tracing=TracingConfiguration")
	switch {
	case x.p["Definition"] != nil:
		definition, substitutions := dynamic(x.p["Definition"], to["DefinitionSubstitutions"])
		to["DefinitionString"] = map[string]any{"Fn::Join": []any{"\n", lines(definition)}}
		if len(substitutions) > 0 {
			to["DefinitionSubstitutions"] = substitutions
		}
	default:
		place, err := location(x, "DefinitionUri", "Bucket", "Key", "Version")
		if err != nil {
			return err
		}
		to["DefinitionS3Location"] = place
	}
	to["Tags"] = tags(x.p["Tags"], "stateMachine:createdBy", "SAM")
	if role, ok := x.p["Role"]; ok {
		to["RoleArn"] = role
	} else {
		to["RoleArn"] = getAtt(x.id+"Role", "Arn")
		var arns []any
		if x.p["Tracing"] != nil {
			arns = append(arns, managed("AWSXRayDaemonWriteAccess"))
		}
		if err := x.role("states", arns, nil); err != nil {
			return err
		}
	}
	x.add(x.id, "AWS::StepFunctions::StateMachine", to)
	return x.machineEvents()
}

func lines(v any) []any { return []any{template.JSON(v)} }

// dynamic replaces each intrinsic function in a definition with a substitution variable,
// ${definition_substitution_N}. It returns the new definition and the values of all variables, including the given
// ones.
func dynamic(definition, given any) (any, map[string]any) {
	substitutions := map[string]any{}
	if m, ok := given.(map[string]any); ok {
		substitutions = maps.Clone(m)
	}
	var walk func(any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case []any:
			l := make([]any, len(v))
			for i, e := range v {
				l[i] = walk(e)
			}
			return l
		case map[string]any:
			if oneFunction(v) {
				name := fmt.Sprintf("definition_substitution_%d", len(substitutions)+1)
				substitutions[name] = v
				return "${" + name + "}"
			}
			m := make(map[string]any, len(v))
			for _, k := range slices.Sorted(maps.Keys(v)) {
				m[k] = walk(v[k])
			}
			return m
		}
		return v
	}
	return walk(definition), substitutions
}
