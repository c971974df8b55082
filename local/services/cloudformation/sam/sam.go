package sam

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"stepback/asl/document"
	"stepback/local/services/cloudformation/template"
)

// Transform is the name of the transform.
const Transform = "AWS::Serverless-2016-10-31"

const prefix = "AWS::Serverless::"

// Expand replaces the resources of the Serverless Application Model by CloudFormation's. The error is a
// *template.Error.
func Expand(d *template.Document) error {
	resources, _ := d.Root["Resources"].(map[string]any)
	x := &expansion{resources: resources}
	if v, ok := d.Root["Globals"]; ok {
		if x.globals, ok = v.(map[string]any); !ok {
			return refuse("Globals must be an object")
		}
		for kind := range x.globals {
			if kind != "Function" && kind != "StateMachine" && kind != "SimpleTable" && kind != "LayerVersion" {
				return refuse("Globals of %s are not supported here", kind)
			}
		}
		delete(d.Root, "Globals")
	}
	for _, id := range slices.Sorted(maps.Keys(resources)) {
		r, _ := resources[id].(map[string]any)
		typ, _ := r["Type"].(string)
		kind, ours := strings.CutPrefix(typ, prefix)
		if !ours {
			continue
		}
		p, ok := r["Properties"].(map[string]any)
		if !ok {
			p = map[string]any{}
		}
		global, _ := x.globals[kind].(map[string]any)
		one := &item{expansion: x, id: id, source: r, p: merged(global, p)}
		var err error
		switch kind {
		case "Function":
			err = one.function()
		case "StateMachine":
			err = one.machine()
		case "SimpleTable":
			err = one.table()
		case "LayerVersion":
			err = one.layer()
		default:
			err = refuse("Resource with id [%s] is invalid: the type %s is not supported here", id, typ)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func refuse(format string, args ...any) error {
	return &template.Error{Message: "Transform AWS::Serverless-2016-10-31 failed with: " + fmt.Sprintf(format, args...)}
}

type expansion struct {
	resources, globals map[string]any
}

// item is a resource that is being expanded.
type item struct {
	*expansion
	id     string
	source map[string]any
	p      map[string]any
}

func (x *item) invalid(format string, args ...any) error {
	return refuse("Resource with id [%s] is invalid. %s", x.id, fmt.Sprintf(format, args...))
}

// merged returns properties merged over those in Globals: objects are merged, lists joined, everything else replaced.
func merged(global, own map[string]any) map[string]any {
	to := maps.Clone(global)
	if to == nil {
		to = map[string]any{}
	}
	for k, v := range own {
		switch mine := v.(type) {
		case map[string]any:
			if g, ok := to[k].(map[string]any); ok {
				to[k] = merged(g, mine)
				continue
			}
		case []any:
			if g, ok := to[k].([]any); ok {
				to[k] = append(slices.Clone(g), mine...)
				continue
			}
		}
		to[k] = v
	}
	return to
}

// known rejects properties that are not supported.
func (x *item) known(names string) error {
	for _, k := range slices.Sorted(maps.Keys(x.p)) {
		if !slices.Contains(strings.Fields(names), k) {
			return x.invalid("The property %s is not supported here.", k)
		}
	}
	return nil
}

// add adds a resource with the attributes of the resource from which it is generated.
func (x *item) add(id, typ string, properties map[string]any) {
	r := map[string]any{"Type": typ, "Properties": properties}
	for _, k := range []string{"Condition", "DependsOn", "Metadata", "DeletionPolicy", "UpdateReplacePolicy"} {
		if v, ok := x.source[k]; ok && (k == "Condition" || id == x.id) {
			r[k] = v
		}
	}
	x.resources[id] = r
}

func copied(from map[string]any, names string) map[string]any {
	to := map[string]any{}
	for _, n := range strings.Fields(names) {
		a, b, renamed := strings.Cut(n, "=")
		if !renamed {
			b = a
		}
		if v, ok := from[a]; ok {
			to[b] = v
		}
	}
	return to
}

func ref(id string) any          { return map[string]any{"Ref": id} }
func getAtt(id, name string) any { return map[string]any{"Fn::GetAtt": []any{id, name}} }
func sub(text string) any        { return map[string]any{"Fn::Sub": text} }
func managed(name string) any    { return sub("arn:${AWS::Partition}:iam::aws:policy/" + name) }
func service(of string) any      { return of + ".amazonaws.com" }

// tags converts SAM's map of tags to CloudFormation's list.
func tags(v any, more ...string) any {
	m, _ := v.(map[string]any)
	list := []any{}
	for i := 0; i+1 < len(more); i += 2 {
		list = append(list, map[string]any{"Key": more[i], "Value": more[i+1]})
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		list = append(list, map[string]any{"Key": k, "Value": m[k]})
	}
	return list
}

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

func allow(actions []any, resource any) any {
	return map[string]any{"Effect": "Allow", "Action": actions, "Resource": resource}
}

// role adds the role of a function or a state machine that has none.
func (x *item) role(of string, managedArns, statements []any) error {
	policies := []any{}
	for i, p := range policyList(x.p["Policies"]) {
		switch p := p.(type) {
		case string:
			if strings.HasPrefix(p, "arn:") {
				managedArns = append(managedArns, p)
			} else {
				managedArns = append(managedArns, managed(p))
			}
		case map[string]any:
			doc := any(p)
			if _, ok := p["Statement"]; !ok {
				if oneFunction(p) {
					managedArns = append(managedArns, p)
					continue
				}
				made, err := x.policyTemplate(p)
				if err != nil {
					return err
				}
				doc = map[string]any{"Version": "2012-10-17", "Statement": made}
			}
			policies = append(policies, map[string]any{"PolicyName": fmt.Sprintf("%sRolePolicy%d", x.id, i),
				"PolicyDocument": doc})
		}
	}
	if len(statements) > 0 {
		policies = append(policies, map[string]any{"PolicyName": x.id + "Policy",
			"PolicyDocument": map[string]any{"Version": "2012-10-17", "Statement": statements}})
	}
	role := copied(x.p, "PermissionsBoundary RolePath=Path AssumeRolePolicyDocument")
	if role["AssumeRolePolicyDocument"] == nil {
		role["AssumeRolePolicyDocument"] = map[string]any{"Version": "2012-10-17", "Statement": []any{map[string]any{
			"Effect": "Allow", "Action": []any{"sts:AssumeRole"}, "Principal": map[string]any{"Service": []any{service(of)}}}}}
	}
	if len(managedArns) > 0 {
		role["ManagedPolicyArns"] = unique(managedArns)
	}
	if len(policies) > 0 {
		role["Policies"] = policies
	}
	created := "lambda:createdBy"
	if of != "lambda" {
		created = "stateMachine:createdBy"
	}
	role["Tags"] = tags(x.p["Tags"], created, "SAM")
	x.add(x.id+"Role", "AWS::IAM::Role", role)
	return nil
}

func unique(l []any) []any {
	var out []any
	seen := map[string]bool{}
	for _, v := range l {
		if text := template.JSON(v); !seen[text] {
			seen[text] = true
			out = append(out, v)
		}
	}
	return out
}

func oneFunction(p map[string]any) bool {
	for k := range p {
		if len(p) == 1 && (k == "Ref" || strings.HasPrefix(k, "Fn::")) {
			return true
		}
	}
	return false
}

func policyList(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	return []any{v}
}

// policyTemplates holds the supported SAM policy templates: their actions, and the resources for the parameter.
var policyTemplates = map[string]struct {
	actions   string
	parameter string
	resources []string // with %s for the parameter
}{
	"SQSPollerPolicy": {"sqs:ChangeMessageVisibility sqs:ChangeMessageVisibilityBatch sqs:DeleteMessage sqs:DeleteMessageBatch sqs:GetQueueAttributes sqs:ReceiveMessage",
		"QueueName", []string{"arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:${queueName}"}},
	"SQSSendMessagePolicy": {"sqs:SendMessage*", "QueueName",
		[]string{"arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:${queueName}"}},
	"LambdaInvokePolicy": {"lambda:InvokeFunction", "FunctionName",
		[]string{"arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:${functionName}*"}},
	"SNSPublishMessagePolicy": {"sns:Publish", "TopicName",
		[]string{"arn:${AWS::Partition}:sns:${AWS::Region}:${AWS::AccountId}:${topicName}"}},
	"S3ReadPolicy": {"s3:GetObject s3:ListBucket s3:GetBucketLocation s3:GetObjectVersion s3:GetLifecycleConfiguration", "BucketName",
		[]string{"arn:${AWS::Partition}:s3:::${bucketName}", "arn:${AWS::Partition}:s3:::${bucketName}/*"}},
	"S3WritePolicy": {"s3:PutObject s3:PutObjectAcl s3:PutLifecycleConfiguration", "BucketName",
		[]string{"arn:${AWS::Partition}:s3:::${bucketName}", "arn:${AWS::Partition}:s3:::${bucketName}/*"}},
	"S3CrudPolicy": {"s3:GetObject s3:ListBucket s3:GetBucketLocation s3:GetObjectVersion s3:PutObject s3:PutObjectAcl s3:GetLifecycleConfiguration s3:PutLifecycleConfiguration s3:DeleteObject", "BucketName",
		[]string{"arn:${AWS::Partition}:s3:::${bucketName}", "arn:${AWS::Partition}:s3:::${bucketName}/*"}},
	"DynamoDBCrudPolicy": {"dynamodb:GetItem dynamodb:DeleteItem dynamodb:PutItem dynamodb:Scan dynamodb:Query dynamodb:UpdateItem dynamodb:BatchWriteItem dynamodb:BatchGetItem dynamodb:DescribeTable dynamodb:ConditionCheckItem", "TableName",
		[]string{"arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${tableName}", "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${tableName}/index/*"}},
	"DynamoDBReadPolicy": {"dynamodb:GetItem dynamodb:Scan dynamodb:Query dynamodb:BatchGetItem dynamodb:DescribeTable", "TableName",
		[]string{"arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${tableName}", "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${tableName}/index/*"}},
	"DynamoDBWritePolicy": {"dynamodb:PutItem dynamodb:UpdateItem dynamodb:BatchWriteItem", "TableName",
		[]string{"arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${tableName}", "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${tableName}/index/*"}},
	"StepFunctionsExecutionPolicy": {"states:StartExecution", "StateMachineName",
		[]string{"arn:${AWS::Partition}:states:${AWS::Region}:${AWS::AccountId}:stateMachine:${stateMachineName}"}},
	"EventBridgePutEventsPolicy": {"events:PutEvents", "EventBusName",
		[]string{"arn:${AWS::Partition}:events:${AWS::Region}:${AWS::AccountId}:event-bus/${eventBusName}"}},
	"SSMParameterReadPolicy": {"ssm:GetParameters ssm:GetParameter ssm:GetParametersByPath", "ParameterName",
		[]string{"arn:${AWS::Partition}:ssm:${AWS::Region}:${AWS::AccountId}:parameter/${parameterName}"}},
	"CloudWatchPutMetricPolicy": {"cloudwatch:PutMetricData", "", []string{"*"}},
}

// policyTemplate returns the statements of a policy template, {NAME: {PARAMETER: VALUE}}.
func (x *item) policyTemplate(p map[string]any) ([]any, error) {
	for name, v := range p {
		t, ok := policyTemplates[name]
		if !ok || len(p) != 1 {
			break
		}
		arguments, _ := v.(map[string]any)
		var resources []any
		for _, r := range t.resources {
			if t.parameter == "" {
				resources = append(resources, r)
				continue
			}
			variable := strings.ToLower(t.parameter[:1]) + t.parameter[1:]
			resources = append(resources, map[string]any{"Fn::Sub": []any{r, map[string]any{variable: arguments[t.parameter]}}})
		}
		names := strings.Fields(t.actions)
		actions := make([]any, 0, len(names))
		for _, a := range names {
			actions = append(actions, a)
		}
		return []any{allow(actions, resources)}, nil
	}
	return nil, x.invalid("The policy template %s is not supported here.", strings.Join(slices.Sorted(maps.Keys(p)), ", "))
}

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
