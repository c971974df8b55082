package resource

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	asldocument "stepback/asl/document"
	"stepback/aws"
	"stepback/jsonvalue"
	"stepback/local/services/cloudformation/template"
)

func machines() []*Type {
	return []*Type{{
		Name: "AWS::StepFunctions::StateMachine",
		Properties: properties(`StateMachineName= StateMachineType! RoleArn* Definition DefinitionString
			DefinitionS3Location~ DefinitionSubstitutions~ LoggingConfiguration TracingConfiguration
			EncryptionConfiguration Tags`),
		Create: createMachine, Update: updateMachine, Read: readMachine, List: listMachines,
		Delete: func(ctx context.Context, r *Request) error {
			return ignoreAbsent(r.Call(ctx, "sfn", "DeleteStateMachine", map[string]any{"stateMachineArn": r.ID}, nil))
		},
	}, {
		Name: "AWS::StepFunctions::StateMachineVersion", Properties: properties("StateMachineArn*! StateMachineRevisionId! Description!"),
		Create: func(ctx context.Context, r *Request) (State, error) {
			var out struct {
				ARN string `json:"stateMachineVersionArn"`
			}
			err := r.Call(ctx, "sfn", "PublishStateMachineVersion", pick(r.Properties,
				"StateMachineArn StateMachineRevisionId=RevisionId Description"), &out)
			return created(State{ID: out.ARN, Attributes: map[string]any{"Arn": out.ARN}}, err)
		},
		Delete: func(ctx context.Context, r *Request) error {
			return ignoreAbsent(r.Call(ctx, "sfn", "DeleteStateMachineVersion", map[string]any{"stateMachineVersionArn": r.ID}, nil))
		},
	}, {
		Name:       "AWS::StepFunctions::StateMachineAlias",
		Properties: properties("Name= Description RoutingConfiguration DeploymentPreference~"),
		Create:     createMachineAlias, Update: updateMachineAlias,
		Delete: func(ctx context.Context, r *Request) error {
			return ignoreAbsent(r.Call(ctx, "sfn", "DeleteStateMachineAlias", map[string]any{"stateMachineAliasArn": r.ID}, nil))
		},
	}, {
		Name: "AWS::StepFunctions::Activity", Properties: properties("Name*= EncryptionConfiguration! Tags"),
		Create: func(ctx context.Context, r *Request) (State, error) {
			in := pick(r.Properties, "Name EncryptionConfiguration")
			set(in, "Tags", r.tagList())
			var out struct {
				ARN string `json:"activityArn"`
			}
			err := r.Call(ctx, "sfn", "CreateActivity", in, &out)
			return activityState(r, out.ARN), err
		},
		Update: func(ctx context.Context, r *Request) (State, error) {
			return activityState(r, r.ID), machineTags(ctx, r)
		},
		Delete: func(ctx context.Context, r *Request) error {
			return ignoreAbsent(r.Call(ctx, "sfn", "DeleteActivity", map[string]any{"activityArn": r.ID}, nil))
		},
	}}
}

func activityState(r *Request, arn string) State {
	return State{ID: arn, Attributes: map[string]any{"Arn": arn, "Name": r.text("Name")}}
}

// definition returns the definition that CreateStateMachine gets: the text of one of three properties, in which the
// substitutions are made, and which is converted from YAML if it is in S3. The errors are those of AWS's handler.
func definition(ctx context.Context, r *Request) (string, error) {
	if err := asldocument.OneDefinition(r.has); err != nil {
		return "", &HandlerError{"InternalFailure", err.Error()}
	}
	text, err := written(ctx, r)
	if err != nil {
		return "", err
	}
	values := map[string]string{}
	substitutions := object(r.Properties, "DefinitionSubstitutions")
	for _, k := range keysOf(substitutions) {
		v, err := jsonvalue.Parse(template.JSON(substitutions[k]))
		if err == nil {
			values[k], err = asldocument.SubstitutionText(v)
		}
		if err != nil {
			return "", &HandlerError{"InternalFailure", err.Error()}
		}
	}
	if text, err = asldocument.Substitute(text, values); err != nil {
		return "", &HandlerError{"InternalFailure", "Internal Failure"}
	}
	if !r.has("DefinitionS3Location") {
		return text, nil
	}
	if text, err = asldocument.FromS3([]byte(text)); err != nil {
		return "", &HandlerError{"InternalFailure", err.Error()}
	}
	return text, nil
}

// written returns the text of a definition before its substitutions.
func written(ctx context.Context, r *Request) (string, error) {
	switch {
	case r.has("DefinitionString"):
		text, ok := r.Properties["DefinitionString"].(string)
		if !ok {
			return "", &PropertyError{Problems: []string{"#/DefinitionString: expected type: String, found: JSONObject"}}
		}
		return text, nil
	case r.has("Definition"):
		if object(r.Properties, "Definition") == nil {
			return "", &PropertyError{Problems: []string{"#/Definition: expected type: JSONObject, found: String"}}
		}
		text, err := asldocument.Pretty(template.JSON(r.Properties["Definition"]))
		if err != nil {
			return "", &HandlerError{"InternalFailure", err.Error()}
		}
		return text, nil
	}
	at := object(r.Properties, "DefinitionS3Location")
	reader, ok := r.API.(interface {
		Object(ctx context.Context, bucket, key, version string) ([]byte, error)
	})
	if !ok {
		return "", &aws.Error{Code: "InvalidRequest", Message: "definitions in S3 cannot be read here"}
	}
	body, err := reader.Object(ctx, textOf(at, "Bucket"), textOf(at, "Key"), textOf(at, "Version"))
	if err != nil {
		return "", err
	}
	if len(body) > asldocument.MaxSize {
		return "", &HandlerError{"InvalidRequest", asldocument.ErrTooLong.Error()}
	}
	return string(body), nil
}

func createMachine(ctx context.Context, r *Request) (State, error) {
	text, err := definition(ctx, r)
	if err != nil {
		return State{}, err
	}
	in := pick(r.Properties, "StateMachineType=Type RoleArn LoggingConfiguration TracingConfiguration EncryptionConfiguration")
	in["name"], in["definition"] = nonempty(r.text("StateMachineName"), r.Name(80)), text
	set(in, "tags", tagList(r.tags(), "key", "value"))
	var out struct {
		ARN string `json:"stateMachineArn"`
	}
	if err := r.Call(ctx, "sfn", "CreateStateMachine", in, &out); err != nil {
		return State{}, err
	}
	return machineState(ctx, r, out.ARN)
}

func machineState(ctx context.Context, r *Request, arn string) (State, error) {
	var out struct {
		Name     string `json:"name"`
		Revision string `json:"revisionId"`
	}
	err := r.Call(ctx, "sfn", "DescribeStateMachine", map[string]any{"stateMachineArn": arn}, &out)
	return State{ID: arn, Attributes: map[string]any{"Arn": arn, "Name": out.Name,
		"StateMachineRevisionId": nonempty(out.Revision, "INITIAL")}}, err
}

func updateMachine(ctx context.Context, r *Request) (State, error) {
	text, err := definition(ctx, r)
	if err != nil {
		return State{}, err
	}
	in := pick(r.Properties, "RoleArn LoggingConfiguration TracingConfiguration EncryptionConfiguration")
	if in["LoggingConfiguration"] == nil && r.Previous["LoggingConfiguration"] != nil {
		in["LoggingConfiguration"] = map[string]any{"Level": "OFF"}
	}
	if in["TracingConfiguration"] == nil && r.Previous["TracingConfiguration"] != nil {
		in["TracingConfiguration"] = map[string]any{"Enabled": false}
	}
	in["stateMachineArn"], in["definition"] = r.ID, text
	if err := r.Call(ctx, "sfn", "UpdateStateMachine", in, nil); err != nil {
		return State{}, err
	}
	if err := machineTags(ctx, r); err != nil {
		return State{}, err
	}
	return machineState(ctx, r, r.ID)
}

func machineTags(ctx context.Context, r *Request) error {
	return r.retag(ctx, "sfn", "TagResource", "UntagResource", map[string]any{"resourceArn": r.ID}, "tags", "tagKeys",
		func(tags map[string]string) any { return tagList(tags, "key", "value") })
}

func readMachine(ctx context.Context, r *Request) (map[string]any, error) {
	var out struct {
		Name       string `json:"name"`
		Type       string `json:"type"`
		Role       string `json:"roleArn"`
		Definition string `json:"definition"`
	}
	if err := r.Call(ctx, "sfn", "DescribeStateMachine", map[string]any{"stateMachineArn": r.ID}, &out); err != nil {
		return nil, goneIfAbsent(err)
	}
	p := map[string]any{"StateMachineName": out.Name, "StateMachineType": out.Type, "RoleArn": out.Role}
	wanted, err := definition(ctx, r)
	switch {
	case err != nil || document(parsed(wanted)) != document(parsed(out.Definition)):
		p["DefinitionString"] = out.Definition
	case r.has("DefinitionString"): // equal, except for substitutions and white space
		p["DefinitionString"] = r.Properties["DefinitionString"]
	}
	return p, nil
}

func listMachines(ctx context.Context, r *Request) ([]string, error) {
	var out struct {
		Machines []struct {
			ARN string `json:"stateMachineArn"`
		} `json:"stateMachines"`
	}
	err := r.Call(ctx, "sfn", "ListStateMachines", nil, &out)
	ids := make([]string, len(out.Machines))
	for i, m := range out.Machines {
		ids[i] = m.ARN
	}
	return ids, err
}

// aliasRoutes returns the versions to which an alias points, or to which it is being shifted.
func aliasRoutes(r *Request) ([]any, error) {
	if preference := object(r.Properties, "DeploymentPreference"); preference != nil {
		if r.has("RoutingConfiguration") {
			return nil, &PropertyError{Problems: []string{"#: DeploymentPreference and RoutingConfiguration exclude each other"}}
		}
		return []any{route(preference["StateMachineVersionArn"], 100)}, nil
	}
	return list(r.Properties, "RoutingConfiguration"), nil
}

func route(version any, weight int) map[string]any {
	return map[string]any{"StateMachineVersionArn": version, "Weight": strconv.Itoa(weight)}
}

func createMachineAlias(ctx context.Context, r *Request) (State, error) {
	routes, err := aliasRoutes(r)
	if err != nil {
		return State{}, err
	}
	in := pick(r.Properties, "Description")
	in["name"], in["routingConfiguration"] = nonempty(r.text("Name"), r.Name(80)), routes
	var out struct {
		ARN string `json:"stateMachineAliasArn"`
	}
	err = r.Call(ctx, "sfn", "CreateStateMachineAlias", in, &out)
	return created(State{ID: out.ARN, Attributes: map[string]any{"Arn": out.ARN}}, err)
}

// updateMachineAlias shifts an alias to another version according to its DeploymentPreference: at once, in two steps
// (CANARY), or by the same percentage in each interval (LINEAR). It shifts from the version that the alias points at,
// so that a rollback to this version shifts nothing. If an alarm fires in the meantime, or the deployment is given up,
// the alias points at that version again, and the update fails.
func updateMachineAlias(ctx context.Context, r *Request) (State, error) {
	routes, err := aliasRoutes(r)
	if err != nil {
		return State{}, err
	}
	state := State{ID: r.ID, Attributes: map[string]any{"Arn": r.ID}}
	shift := func(routes []any) error {
		in := map[string]any{"stateMachineAliasArn": r.ID, "routingConfiguration": routes}
		if r.has("Description") || r.Previous["Description"] != nil {
			in["description"] = r.text("Description")
		}
		return r.Call(ctx, "sfn", "UpdateStateMachineAlias", in, nil)
	}
	preference := object(r.Properties, "DeploymentPreference")
	next, kind := textOf(preference, "StateMachineVersionArn"), textOf(preference, "Type")
	if preference == nil || object(r.Previous, "DeploymentPreference") == nil || kind == "ALL_AT_ONCE" {
		return state, shift(routes)
	}
	old, err := replacedVersion(ctx, r, next)
	if err != nil {
		return state, err
	}
	if old == "" {
		return state, shift(routes)
	}
	percentage, err := strconv.Atoi(textOf(preference, "Percentage"))
	if err != nil || percentage < 1 || percentage > 99 {
		return state, &PropertyError{Problems: []string{"#/DeploymentPreference/Percentage: must be a number from 1 to 99"}}
	}
	minutes, err := strconv.Atoi(textOf(preference, "Interval"))
	if err != nil || minutes < 1 {
		return state, &PropertyError{Problems: []string{"#/DeploymentPreference/Interval: must be a number of minutes"}}
	}
	for weight := percentage; weight < 100; weight += percentage {
		if err := shift([]any{route(next, weight), route(old, 100-weight)}); err != nil {
			return state, err
		}
		if err := watch(ctx, r, texts(preference, "Alarms"), time.Duration(minutes)*time.Minute); err != nil {
			if back := shift([]any{route(old, 100)}); back != nil {
				err = errors.Join(err, back)
			}
			return state, err
		}
		if kind == "CANARY" {
			break
		}
	}
	return state, shift(routes)
}

// replacedVersion returns the version that an alias points at and that next replaces; empty if the alias points at next
// alone.
func replacedVersion(ctx context.Context, r *Request, next string) (old string, err error) {
	var out struct {
		Routes []struct {
			Version string `json:"stateMachineVersionArn"`
		} `json:"routingConfiguration"`
	}
	err = r.Call(ctx, "sfn", "DescribeStateMachineAlias", map[string]any{"stateMachineAliasArn": r.ID}, &out)
	for _, route := range out.Routes {
		if route.Version != next {
			old = route.Version
		}
	}
	return old, err
}

// watch waits for d, and returns an error if one of the alarms fires.
func watch(ctx context.Context, r *Request, alarms []string, d time.Duration) error {
	const step = 10 * time.Second
	for waited := time.Duration(0); waited < d; waited += step {
		if err := r.Wait(ctx, step); err != nil {
			return err
		}
		if len(alarms) == 0 {
			continue
		}
		names := make([]string, len(alarms))
		for i, a := range alarms {
			names[i] = after(a, ":alarm:")
		}
		var out struct {
			MetricAlarms, CompositeAlarms []struct{ AlarmName, StateValue string }
		}
		if err := r.Call(ctx, "cloudwatch", "DescribeAlarms", map[string]any{"AlarmNames": names,
			"AlarmTypes": []string{"MetricAlarm", "CompositeAlarm"}}, &out); err != nil {
			return err
		}
		for _, a := range append(out.MetricAlarms, out.CompositeAlarms...) {
			if a.StateValue == "ALARM" {
				return &aws.Error{Code: "GeneralServiceException",
					Message: fmt.Sprintf("the alarm %s went off during the deployment", a.AlarmName)}
			}
		}
	}
	return nil
}
