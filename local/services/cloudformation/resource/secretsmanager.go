package resource

import (
	"context"
	"encoding/json"

	"stepback/aws"
	"stepback/local/services/cloudformation/template"
)

func secrets() []*Type {
	return []*Type{{
		Name:       "AWS::SecretsManager::Secret",
		Properties: properties("Name= Description KmsKeyId SecretString~ GenerateSecretString~ Tags"),
		Create:     createSecret, Update: updateSecret,
		Delete: func(ctx context.Context, r *Request) error {
			return ignoreAbsent(r.Call(ctx, "secretsmanager", "DeleteSecret", map[string]any{"SecretId": r.ID,
				"ForceDeleteWithoutRecovery": true}, nil))
		},
		Read: func(ctx context.Context, r *Request) (map[string]any, error) {
			var out struct {
				Name, Description, DeletedDate any
				KMSKeyID                       any `json:"KmsKeyId"`
			}
			if err := r.Call(ctx, "secretsmanager", "DescribeSecret", map[string]any{"SecretId": r.ID}, &out); err != nil {
				return nil, goneIfAbsent(err)
			}
			if out.DeletedDate != nil {
				return nil, ErrGone
			}
			p := map[string]any{}
			set(p, "Name", out.Name)
			set(p, "Description", out.Description)
			set(p, "KmsKeyId", out.KMSKeyID)
			return p, nil
		},
	}, {
		Name: "AWS::SecretsManager::ResourcePolicy", Properties: properties("SecretId*! ResourcePolicy* BlockPublicPolicy~"),
		Create: putSecretPolicy, Update: putSecretPolicy,
		Delete: func(ctx context.Context, r *Request) error {
			return ignoreAbsent(r.Call(ctx, "secretsmanager", "DeleteResourcePolicy", pick(r.Properties, "SecretId"), nil))
		},
	}}
}

func putSecretPolicy(ctx context.Context, r *Request) (State, error) {
	in := pick(r.Properties, "SecretId BlockPublicPolicy")
	in["ResourcePolicy"] = document(r.Properties["ResourcePolicy"])
	return created(State{ID: r.text("SecretId")}, r.Call(ctx, "secretsmanager", "PutResourcePolicy", in, nil))
}

// secretText returns the text of a secret, which is given or generated. A generated text is the whole secret or a
// member of a JSON template.
func secretText(ctx context.Context, r *Request) (string, error) {
	if r.has("SecretString") {
		if r.has("GenerateSecretString") {
			return "", &PropertyError{Problems: []string{"#: SecretString and GenerateSecretString exclude each other"}}
		}
		return r.text("SecretString"), nil
	}
	generate := map[string]any{}
	if r.has("GenerateSecretString") {
		var err error
		if generate, err = renamed(r.Properties["GenerateSecretString"], "#/GenerateSecretString", `ExcludeCharacters
			ExcludeLowercase ExcludeNumbers ExcludePunctuation ExcludeUppercase GenerateStringKey IncludeSpace
			PasswordLength
			RequireEachIncludedType SecretStringTemplate`); err != nil {
			return "", err
		}
	}
	var out struct{ RandomPassword string }
	in := pick(generate, `ExcludeCharacters ExcludeLowercase ExcludeNumbers ExcludePunctuation ExcludeUppercase IncludeSpace
		PasswordLength RequireEachIncludedType`)
	if err := r.Call(ctx, "secretsmanager", "GetRandomPassword", in, &out); err != nil {
		return "", err
	}
	key := textOf(generate, "GenerateStringKey")
	if key == "" {
		return out.RandomPassword, nil
	}
	var members map[string]any
	if err := json.Unmarshal([]byte(textOf(generate, "SecretStringTemplate")), &members); err != nil {
		return "", &aws.Error{Code: "InvalidRequest", Message: "SecretStringTemplate is not a JSON object: " + err.Error()}
	}
	if members == nil {
		members = map[string]any{}
	}
	members[key] = out.RandomPassword
	return template.JSON(members), nil
}

func createSecret(ctx context.Context, r *Request) (State, error) {
	text, err := secretText(ctx, r)
	if err != nil {
		return State{}, err
	}
	name := nonempty(r.text("Name"), r.Name(512))
	in := pick(r.Properties, "Description KmsKeyId")
	in["Name"], in["SecretString"] = name, text
	set(in, "Tags", r.tagList())
	var out struct{ ARN string }
	made, err := r.create(ctx, "secretsmanager", "CreateSecret", in, &out)
	if err == nil && !made {
		err = r.Call(ctx, "secretsmanager", "DescribeSecret", map[string]any{"SecretId": name}, &out)
	}
	return created(State{ID: out.ARN, Attributes: map[string]any{"Id": out.ARN}}, err)
}

func updateSecret(ctx context.Context, r *Request) (State, error) {
	in := map[string]any{"SecretId": r.ID}
	if r.changed("Description") {
		in["Description"] = r.text("Description")
	}
	if r.changed("KmsKeyId") {
		set(in, "KmsKeyId", r.text("KmsKeyId"))
	}
	if r.changed("SecretString", "GenerateSecretString") {
		text, err := secretText(ctx, r)
		if err != nil {
			return State{}, err
		}
		in["SecretString"] = text
	}
	if len(in) > 1 {
		if err := r.Call(ctx, "secretsmanager", "UpdateSecret", in, nil); err != nil {
			return State{}, err
		}
	}
	return State{ID: r.ID, Attributes: map[string]any{"Id": r.ID}}, r.retag(ctx, "secretsmanager", "TagResource",
		"UntagResource", map[string]any{"SecretId": r.ID}, "Tags", "TagKeys", asKeyValue)
}
