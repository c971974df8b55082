package resource

import "context"

func keys() []*Type {
	return []*Type{{
		Name: "AWS::KMS::Key",
		Properties: properties(`KeyPolicy Description EnableKeyRotation Enabled KeySpec! KeyUsage! MultiRegion! Origin!
			PendingWindowInDays~ RotationPeriodInDays BypassPolicyLockoutSafetyCheck~ Tags`),
		Create: createKey, Update: updateKey, Delete: deleteKey, Read: readKey,
	}, {
		Name: "AWS::KMS::Alias", Properties: properties("AliasName*= TargetKeyId*"),
		Create: func(ctx context.Context, r *Request) (State, error) {
			_, err := r.create(ctx, "kms", "CreateAlias", pick(r.Properties, "AliasName TargetKeyId"), nil)
			return created(State{ID: r.text("AliasName")}, err)
		},
		Update: func(ctx context.Context, r *Request) (State, error) {
			return created(State{ID: r.ID}, r.Call(ctx, "kms", "UpdateAlias", pick(r.Properties, "AliasName TargetKeyId"), nil))
		},
		Delete: func(ctx context.Context, r *Request) error {
			return ignoreAbsent(r.Call(ctx, "kms", "DeleteAlias", map[string]any{"AliasName": r.ID}, nil))
		},
	}}
}

func createKey(ctx context.Context, r *Request) (State, error) {
	in := pick(r.Properties, "Description KeySpec KeyUsage MultiRegion Origin BypassPolicyLockoutSafetyCheck")
	set(in, "Policy", document(r.Properties["KeyPolicy"]))
	set(in, "Tags", tagList(r.tags(), "TagKey", "TagValue"))
	var out struct {
		KeyMetadata struct {
			ARN   string `json:"Arn"`
			KeyID string `json:"KeyId"`
		}
	}
	if err := r.Call(ctx, "kms", "CreateKey", in, &out); err != nil {
		return State{}, err
	}
	id := out.KeyMetadata.KeyID
	state := State{ID: id, Attributes: map[string]any{"Arn": out.KeyMetadata.ARN, "KeyId": id}}
	if r.text("EnableKeyRotation") == "true" {
		if err := rotate(ctx, r, id); err != nil {
			return state, err
		}
	}
	if r.text("Enabled") == "false" {
		return state, r.Call(ctx, "kms", "DisableKey", map[string]any{"KeyId": id}, nil)
	}
	return state, nil
}

func rotate(ctx context.Context, r *Request, id string) error {
	if r.text("EnableKeyRotation") != "true" {
		return r.Call(ctx, "kms", "DisableKeyRotation", map[string]any{"KeyId": id}, nil)
	}
	in := pick(r.Properties, "RotationPeriodInDays")
	in["KeyId"] = id
	return r.Call(ctx, "kms", "EnableKeyRotation", in, nil)
}

func updateKey(ctx context.Context, r *Request) (State, error) {
	of := map[string]any{"KeyId": r.ID}
	if r.changed("Enabled") {
		operation := "EnableKey"
		if r.text("Enabled") == "false" {
			operation = "DisableKey"
		}
		if err := r.Call(ctx, "kms", operation, of, nil); err != nil {
			return State{}, err
		}
	}
	if r.changed("Description") {
		if err := r.Call(ctx, "kms", "UpdateKeyDescription", map[string]any{"KeyId": r.ID,
			"Description": r.text("Description")}, nil); err != nil {
			return State{}, err
		}
	}
	if r.changed("KeyPolicy") && r.has("KeyPolicy") {
		if err := r.Call(ctx, "kms", "PutKeyPolicy", map[string]any{"KeyId": r.ID, "PolicyName": "default",
			"Policy": document(r.Properties["KeyPolicy"])}, nil); err != nil {
			return State{}, err
		}
	}
	if r.changed("EnableKeyRotation", "RotationPeriodInDays") {
		if err := rotate(ctx, r, r.ID); err != nil {
			return State{}, err
		}
	}
	return State{ID: r.ID, Attributes: r.Attributes}, r.retag(ctx, "kms", "TagResource", "UntagResource", of, "Tags",
		"TagKeys", func(tags map[string]string) any { return tagList(tags, "TagKey", "TagValue") })
}

func deleteKey(ctx context.Context, r *Request) error {
	in := pick(r.Properties, "PendingWindowInDays")
	in["KeyId"] = r.ID
	err := r.Call(ctx, "kms", "ScheduleKeyDeletion", in, nil)
	if code(err) == "KMSInvalidStateException" { // its deletion is already pending
		return nil
	}
	return ignoreAbsent(err)
}

func readKey(ctx context.Context, r *Request) (map[string]any, error) {
	var out struct {
		KeyMetadata struct {
			Description, KeySpec, KeyUsage, KeyState string
			Enabled, MultiRegion                     bool
		}
	}
	if err := r.Call(ctx, "kms", "DescribeKey", map[string]any{"KeyId": r.ID}, &out); err != nil {
		return nil, goneIfAbsent(err)
	}
	k := out.KeyMetadata
	if k.KeyState == "PendingDeletion" {
		return nil, ErrGone
	}
	return map[string]any{"Description": k.Description, "KeySpec": k.KeySpec, "KeyUsage": k.KeyUsage,
		"Enabled": k.Enabled, "MultiRegion": k.MultiRegion}, nil
}
