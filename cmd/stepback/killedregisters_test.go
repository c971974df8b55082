package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"stepback/aws/client"
)

// call calls an operation of a service by its API model and returns the response.
func (k *killed) call(ctx context.Context, cfg aws.Config, service, operation string, in map[string]any) (map[string]any, error) {
	n, err := client.NewNamed(ctx, cfg, service)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	return out, n.Call(ctx, operation, in, &out)
}

// textAt returns the text at a path in a response; of a list it takes the first element.
func textAt(out map[string]any, path ...string) string {
	for _, name := range path[:len(path)-1] {
		switch v := out[name].(type) {
		case map[string]any:
			out = v
		case []any:
			if len(v) == 0 {
				return ""
			}
			out, _ = v[0].(map[string]any)
		}
	}
	text, _ := out[path[len(path)-1]].(string)
	return text
}

// describedRegisters returns registers for services whose resources have a description or a similar attribute.
func (k *killed) describedRegisters(cfg aws.Config) []*register {
	k.t.Helper()
	must := func(service, operation string, in map[string]any) map[string]any {
		k.t.Helper()
		out, err := k.call(k.t.Context(), cfg, service, operation, in)
		k.must(err)
		return out
	}
	keys, apis := map[string]string{}, map[string]string{}
	for i := range killedSlots {
		slot := slotName(i)
		keys[slot] = textAt(must("kms", "CreateKey", map[string]any{"Description": "0"}), "KeyMetadata", "KeyId")
		apis[slot] = textAt(must("apigatewayv2", "CreateApi", map[string]any{"Name": slot, "ProtocolType": "HTTP"}), "ApiId")
		must("iam", "CreateRole", map[string]any{"RoleName": slot, "AssumeRolePolicyDocument": `{"Version":"2012-10-17","Statement":[]}`})
		must("xray", "CreateSamplingRule", map[string]any{"SamplingRule": map[string]any{"RuleName": slot, "ResourceARN": "*",
			"Priority": i + 1, "FixedRate": 0.5, "ReservoirSize": 1, "ServiceName": "*", "ServiceType": "*", "Host": "*",
			"HTTPMethod": "*", "URLPath": "*", "Version": 1}})
	}
	// simple returns a register that is written by one call and read by another.
	type request func(slot, value string) (service, operation string, in map[string]any)
	simple := func(name string, write, read request, path ...string) *register {
		return &register{name: name, write: func(ctx context.Context, slot, value string) error {
			service, operation, in := write(slot, value)
			_, err := k.call(ctx, cfg, service, operation, in)
			return err
		}, read: func(ctx context.Context, slot string) (string, error) {
			service, operation, in := read(slot, "")
			out, err := k.call(ctx, cfg, service, operation, in)
			return textAt(out, path...), err
		}}
	}
	return []*register{
		simple("the key's description", func(slot, value string) (string, string, map[string]any) {
			return "kms", "UpdateKeyDescription", map[string]any{"KeyId": keys[slot], "Description": value}
		}, func(slot, _ string) (string, string, map[string]any) {
			return "kms", "DescribeKey", map[string]any{"KeyId": keys[slot]}
		}, "KeyMetadata", "Description"),
		simple("the API's description", func(slot, value string) (string, string, map[string]any) {
			return "apigatewayv2", "UpdateApi", map[string]any{"ApiId": apis[slot], "Description": value}
		}, func(slot, _ string) (string, string, map[string]any) {
			return "apigatewayv2", "GetApi", map[string]any{"ApiId": apis[slot]}
		}, "Description"),
		simple("the role's description", func(slot, value string) (string, string, map[string]any) {
			return "iam", "UpdateRole", map[string]any{"RoleName": slot, "Description": value}
		}, func(slot, _ string) (string, string, map[string]any) {
			return "iam", "GetRole", map[string]any{"RoleName": slot}
		}, "Role", "Description"),
		{name: "the sampling rule", write: func(ctx context.Context, slot, value string) error {
			_, err := k.call(ctx, cfg, "xray", "UpdateSamplingRule", map[string]any{"SamplingRuleUpdate": map[string]any{
				"RuleName": slot, "Host": value}})
			return err
		}, read: func(ctx context.Context, slot string) (string, error) {
			out, err := k.call(ctx, cfg, "xray", "GetSamplingRules", map[string]any{})
			list, _ := out["SamplingRuleRecords"].([]any)
			for _, e := range list {
				if r, _ := e.(map[string]any); textAt(r, "SamplingRule", "RuleName") == slot {
					return textAt(r, "SamplingRule", "Host"), err
				}
			}
			return "", err
		}},
		k.stackRegister(cfg),
	}
}

// stackTemplate is a stack whose parameter sets the value of an SSM parameter.
const stackTemplate = `{"Parameters":{"Slot":{"Type":"String"},"Value":{"Type":"String"}},"Resources":{"P":{"Type":"AWS::SSM::Parameter",
 "Properties":{"Name":{"Fn::Sub":"/stack/${Slot}"},"Type":"String","Value":{"Ref":"Value"}}}}}`

// stackRegister returns the register of stacks that are updated. An update counts as acknowledged once it is
// complete.
func (k *killed) stackRegister(cfg aws.Config) *register {
	parameters := func(slot, value string) map[string]any {
		return map[string]any{"StackName": slot, "TemplateBody": stackTemplate, "Parameters": []any{
			map[string]any{"ParameterKey": "Slot", "ParameterValue": slot}, map[string]any{"ParameterKey": "Value", "ParameterValue": value}}}
	}
	settled := func(ctx context.Context, slot string) (status string, err error) {
		for end := time.Now().Add(killedPatience); time.Now().Before(end); rest(50 * time.Millisecond) {
			out, err := k.call(ctx, cfg, "cloudformation", "DescribeStacks", map[string]any{"StackName": slot})
			if err != nil && answered(err) {
				return "", err
			}
			if status = textAt(out, "Stacks", "StackStatus"); err == nil && !strings.HasSuffix(status, "_IN_PROGRESS") {
				return status, nil
			}
		}
		return status, errors.New("the stack does not come to an end")
	}
	for slot := range killedSlots {
		_, err := k.call(k.t.Context(), cfg, "cloudformation", "CreateStack", parameters(slotName(slot), "0"))
		k.must(err)
		_, err = settled(k.t.Context(), slotName(slot))
		k.must(err)
	}
	return &register{name: "the stack", write: func(ctx context.Context, slot, value string) error {
		if _, err := k.call(ctx, cfg, "cloudformation", "UpdateStack", parameters(slot, value)); err != nil {
			return err
		}
		status, err := settled(ctx, slot)
		if err == nil && status != "UPDATE_COMPLETE" {
			err = errors.New(status)
		}
		return err
	}, read: func(ctx context.Context, slot string) (string, error) {
		if _, err := settled(ctx, slot); err != nil {
			return "", err
		}
		out, err := k.call(ctx, cfg, "ssm", "GetParameter", map[string]any{"Name": "/stack/" + slot})
		return textAt(out, "Parameter", "Value"), err
	}}
}
