package cloudformation

import (
	"context"
	"encoding/json"
	"strings"

	"stepback/aws"
	"stepback/local/services/cloudformation/template"
)

// dynamicOf returns a function that resolves dynamic references and caches their values.
func (s *Service) dynamicOf(ctx context.Context, scope aws.Scope) func(service, key string) (string, error) {
	known := map[string]string{}
	return func(service, key string) (string, error) {
		if v, ok := known[service+":"+key]; ok {
			return v, nil
		}
		v, err := s.dynamic(ctx, scope, service, key)
		if err == nil {
			known[service+":"+key] = v
		}
		return v, err
	}
}

func (s *Service) dynamic(ctx context.Context, scope aws.Scope, service, key string) (string, error) {
	api := s.opts.API(scope, s.identity(ctx, scope, ""))
	switch service {
	case "ssm", "ssm-secure":
		found, err := storedParameter(ctx, api, map[string]any{"Names": []any{key}, "WithDecryption": true})
		switch {
		case err != nil:
			return "", invalid("Unable to resolve the dynamic reference {{resolve:%s:%s}}: %s", service, key, why(err))
		case found == nil:
			return "", invalid("Unable to resolve the dynamic reference {{resolve:%s:%s}}: the parameter does not exist",
				service, key)
		case service == "ssm" && found.Type == "SecureString":
			return "", invalid("Non-secure ssm prefix was used for secure parameter: %s", key)
		}
		return found.Value, nil
	case "secretsmanager":
		return s.secret(ctx, api, key)
	}
	return "", invalid(
		"Template error: the dynamic reference {{resolve:%s:%s}} names a service that has none",
		service,
		key,
	)
}

// parameterValue is a parameter of Parameter Store.
type parameterValue struct{ Type, Value string }

// storedParameter reads a parameter of Parameter Store by the operation whose permission CloudFormation needs on AWS.
// It returns nil if the parameter does not exist.
func storedParameter(ctx context.Context, api API, in map[string]any) (*parameterValue, error) {
	var out struct{ Parameters []parameterValue }
	if err := api.Call(ctx, "ssm", "GetParameters", in, &out); err != nil || len(out.Parameters) == 0 {
		return nil, err
	}
	return &out.Parameters[0], nil
}

// secret resolves SECRET-ID:SecretString:JSON-KEY:VERSION-STAGE:VERSION-ID; the secret may be an ARN.
func (s *Service) secret(ctx context.Context, api API, key string) (string, error) {
	parts := strings.Split(key, ":")
	id, rest := parts[0], parts[1:]
	const arnParts = 7
	if parts[0] == "arn" && len(parts) >= arnParts {
		id, rest = strings.Join(parts[:arnParts], ":"), parts[arnParts:]
	}
	in := map[string]any{"SecretId": id}
	at := func(i int) string {
		if i < len(rest) {
			return rest[i]
		}
		return ""
	}
	if stage := at(2); stage != "" {
		in["VersionStage"] = stage
	}
	if version := at(3); version != "" {
		in["VersionId"] = version
	}
	var out struct{ SecretString string }
	if err := api.Call(ctx, "secretsmanager", "GetSecretValue", in, &out); err != nil {
		return "", invalid("Unable to resolve the dynamic reference {{resolve:secretsmanager:%s}}: %s", key, why(err))
	}
	name := at(1)
	if name == "" {
		return out.SecretString, nil
	}
	var members map[string]any
	if err := json.Unmarshal([]byte(out.SecretString), &members); err != nil {
		return "", invalid("Could not parse SecretString JSON of %s", id)
	}
	v, ok := members[name]
	if !ok {
		return "", invalid("Could not find a value associated with JSONKey %s in SecretString of %s", name, id)
	}
	text, ok := v.(string)
	if !ok {
		text = template.JSON(v)
	}
	return text, nil
}
