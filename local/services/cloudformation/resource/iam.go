package resource

import (
	"context"
	"net/url"
	"slices"
)

func identities() []*Type {
	return []*Type{{
		Name: "AWS::IAM::Role",
		Properties: properties(`RoleName= Path! AssumeRolePolicyDocument* Description ManagedPolicyArns MaxSessionDuration
			PermissionsBoundary Policies Tags`),
		Create: createRole, Update: updateRole, Delete: deleteRole, Read: readRole,
	}, {
		Name:       "AWS::IAM::Policy",
		Properties: properties("PolicyName* PolicyDocument* Roles Users Groups"),
		Create:     putPolicies, Update: putPolicies, Delete: deletePolicies,
	}, {
		Name:       "AWS::IAM::RolePolicy",
		Properties: properties("PolicyName*! RoleName*! PolicyDocument"),
		Create:     putRolePolicy, Update: putRolePolicy,
		Delete: func(ctx context.Context, r *Request) error {
			return ignoreAbsent(r.Call(ctx, "iam", "DeleteRolePolicy", pick(r.Properties, "RoleName PolicyName"), nil))
		},
	}, {
		Name:       "AWS::IAM::ManagedPolicy",
		Properties: properties(`ManagedPolicyName= Path! Description! PolicyDocument* Roles Users Groups`),
		Create:     createManagedPolicy, Update: updateManagedPolicy, Delete: deleteManagedPolicy,
	}}
}

// principal is a kind of IAM entity that has policies, with the operations that set them.
type principal struct{ property, put, remove, attach, detach, member string }

// principals are the kinds of IAM entities that have policies.
var principals = []principal{
	{"Roles", "PutRolePolicy", "DeleteRolePolicy", "AttachRolePolicy", "DetachRolePolicy", "RoleName"},
	{"Users", "PutUserPolicy", "DeleteUserPolicy", "AttachUserPolicy", "DetachUserPolicy", "UserName"},
	{"Groups", "PutGroupPolicy", "DeleteGroupPolicy", "AttachGroupPolicy", "DetachGroupPolicy", "GroupName"},
}

type role struct {
	Role struct {
		ARN string `json:"Arn"`
		ID  string `json:"RoleId"`
	}
}

func createRole(ctx context.Context, r *Request) (State, error) {
	name := r.named("RoleName", 64)
	in := pick(r.Properties, "Path Description MaxSessionDuration PermissionsBoundary")
	in["RoleName"], in["AssumeRolePolicyDocument"] = name, document(r.Properties["AssumeRolePolicyDocument"])
	set(in, "Tags", r.tagList())
	var out role
	made, err := r.create(ctx, "iam", "CreateRole", in, &out)
	if err == nil && !made {
		err = r.Call(ctx, "iam", "GetRole", map[string]any{"RoleName": name}, &out)
	}
	if err != nil {
		return State{}, err
	}
	state := State{ID: name, Attributes: map[string]any{"Arn": out.Role.ARN, "RoleId": out.Role.ID}}
	return state, rolePolicies(ctx, r, name)
}

// rolePolicies updates the policies of a role.
func rolePolicies(ctx context.Context, r *Request, name string) error {
	return policiesOn(ctx, r, principals[0], name)
}

// policiesOn updates the policies of a role, a user or a group.
func policiesOn(ctx context.Context, r *Request, kind principal, name string) error {
	now, before := texts(r.Properties, "ManagedPolicyArns"), texts(r.Previous, "ManagedPolicyArns")
	for _, arn := range now {
		if !has(before, arn) {
			if err := r.Call(ctx, "iam", kind.attach, map[string]any{kind.member: name, "PolicyArn": arn},
				nil); err != nil {
				return err
			}
		}
	}
	for _, arn := range before {
		if !has(now, arn) {
			if err := r.Call(ctx, "iam", kind.detach, map[string]any{kind.member: name, "PolicyArn": arn},
				nil); ignoreAbsent(err) != nil {
				return err
			}
		}
	}
	names := map[string]bool{}
	for _, e := range list(r.Properties, "Policies") {
		p, _ := e.(map[string]any)
		names[textOf(p, "PolicyName")] = true
		if err := r.Call(ctx, "iam", kind.put, map[string]any{kind.member: name, "PolicyName": p["PolicyName"],
			"PolicyDocument": document(p["PolicyDocument"])}, nil); err != nil {
			return err
		}
	}
	for _, e := range list(r.Previous, "Policies") {
		p, _ := e.(map[string]any)
		if policy := textOf(p, "PolicyName"); !names[policy] {
			if err := r.Call(ctx, "iam", kind.remove, map[string]any{kind.member: name, "PolicyName": policy},
				nil); ignoreAbsent(err) != nil {
				return err
			}
		}
	}
	return nil
}

func updateRole(ctx context.Context, r *Request) (State, error) {
	of := map[string]any{"RoleName": r.ID}
	if r.changed("AssumeRolePolicyDocument") {
		if err := r.Call(ctx, "iam", "UpdateAssumeRolePolicy", map[string]any{"RoleName": r.ID,
			"PolicyDocument": document(r.Properties["AssumeRolePolicyDocument"])}, nil); err != nil {
			return State{}, err
		}
	}
	if r.changed("Description", "MaxSessionDuration") {
		in := map[string]any{"RoleName": r.ID, "Description": r.text("Description"),
			"MaxSessionDuration": nonempty(r.text("MaxSessionDuration"), "3600")}
		if err := r.Call(ctx, "iam", "UpdateRole", in, nil); err != nil {
			return State{}, err
		}
	}
	if r.changed("PermissionsBoundary") {
		operation, in := "PutRolePermissionsBoundary", pick(r.Properties, "PermissionsBoundary")
		if !r.has("PermissionsBoundary") {
			operation = "DeleteRolePermissionsBoundary"
		}
		in["RoleName"] = r.ID
		if err := r.Call(ctx, "iam", operation, in, nil); err != nil {
			return State{}, err
		}
	}
	if err := rolePolicies(ctx, r, r.ID); err != nil {
		return State{}, err
	}
	return State{ID: r.ID, Attributes: r.Attributes}, r.retag(ctx, "iam", "TagRole", "UntagRole", of, "Tags", "TagKeys",
		asKeyValue)
}

func deleteRole(ctx context.Context, r *Request) error {
	var attached struct {
		AttachedPolicies []struct {
			ARN string `json:"PolicyArn"`
		}
	}
	of := map[string]any{"RoleName": r.ID}
	// Only policies from the template are detached: a role with other attached policies is kept.
	if err := r.Call(ctx, "iam", "ListAttachedRolePolicies", of, &attached); err != nil {
		return ignoreAbsent(err)
	}
	mine := texts(r.Properties, "ManagedPolicyArns")
	for _, p := range attached.AttachedPolicies {
		if slices.Contains(mine, p.ARN) {
			if err := r.Call(ctx, "iam", "DetachRolePolicy", map[string]any{"RoleName": r.ID, "PolicyArn": p.ARN},
				nil); ignoreAbsent(err) != nil {
				return err
			}
		}
	}
	for _, e := range list(r.Properties, "Policies") {
		p, _ := e.(map[string]any)
		if err := r.Call(ctx, "iam", "DeleteRolePolicy", map[string]any{"RoleName": r.ID, "PolicyName": p["PolicyName"]},
			nil); ignoreAbsent(err) != nil {
			return err
		}
	}
	return ignoreAbsent(r.Call(ctx, "iam", "DeleteRole", of, nil))
}

func readRole(ctx context.Context, r *Request) (map[string]any, error) {
	var out struct {
		Role struct {
			Path, Description        string
			MaxSessionDuration       int
			AssumeRolePolicyDocument string
		}
	}
	if err := r.Call(ctx, "iam", "GetRole", map[string]any{"RoleName": r.ID}, &out); err != nil {
		return nil, goneIfAbsent(err)
	}
	p := map[string]any{"RoleName": r.ID, "Path": out.Role.Path, "Description": out.Role.Description,
		"MaxSessionDuration": out.Role.MaxSessionDuration}
	if text, err := url.QueryUnescape(out.Role.AssumeRolePolicyDocument); err == nil {
		p["AssumeRolePolicyDocument"] = parsed(text)
	}
	return p, nil
}

// putPolicies adds an inline policy to all entities that it names, and removes it from those that it no longer names.
func putPolicies(ctx context.Context, r *Request) (State, error) {
	for _, kind := range principals {
		now, before := texts(r.Properties, kind.property), texts(r.Previous, kind.property)
		for _, name := range now {
			in := map[string]any{kind.member: name, "PolicyName": r.text("PolicyName"),
				"PolicyDocument": document(r.Properties["PolicyDocument"])}
			if err := r.Call(ctx, "iam", kind.put, in, nil); err != nil {
				return State{}, err
			}
		}
		renamed := r.Previous != nil && r.changed("PolicyName")
		for _, name := range before {
			if renamed || !has(now, name) {
				in := map[string]any{kind.member: name, "PolicyName": textOf(r.Previous, "PolicyName")}
				if err := ignoreAbsent(r.Call(ctx, "iam", kind.remove, in, nil)); err != nil {
					return State{}, err
				}
			}
		}
	}
	return State{ID: nonempty(r.ID, r.Name(maxID)), Ref: r.text("PolicyName"),
		Attributes: map[string]any{"Id": r.text("PolicyName")}}, nil
}

func deletePolicies(ctx context.Context, r *Request) error {
	for _, kind := range principals {
		for _, name := range texts(r.Properties, kind.property) {
			in := map[string]any{kind.member: name, "PolicyName": r.text("PolicyName")}
			if err := ignoreAbsent(r.Call(ctx, "iam", kind.remove, in, nil)); err != nil {
				return err
			}
		}
	}
	return nil
}

func putRolePolicy(ctx context.Context, r *Request) (State, error) {
	in := pick(r.Properties, "RoleName PolicyName")
	in["PolicyDocument"] = document(r.Properties["PolicyDocument"])
	return created(State{ID: r.text("PolicyName") + "|" + r.text("RoleName")}, r.Call(ctx, "iam", "PutRolePolicy", in, nil))
}

func createManagedPolicy(ctx context.Context, r *Request) (State, error) {
	name := nonempty(r.text("ManagedPolicyName"), r.Name(128))
	in := pick(r.Properties, "Path Description")
	in["PolicyName"], in["PolicyDocument"] = name, document(r.Properties["PolicyDocument"])
	var out struct {
		Policy struct {
			ARN string `json:"Arn"`
		}
	}
	made, err := r.create(ctx, "iam", "CreatePolicy", in, &out)
	if err != nil {
		return State{}, err
	}
	arn := out.Policy.ARN
	if !made {
		arn = r.Scope.GlobalARN("iam", "policy"+nonempty(r.text("Path"), "/")+name)
	}
	if err := attach(ctx, r, arn); err != nil {
		return State{ID: arn}, err
	}
	return managedPolicyState(ctx, r, arn)
}

func managedPolicyState(ctx context.Context, r *Request, arn string) (State, error) {
	s := State{ID: arn, Attributes: map[string]any{"PolicyArn": arn}}
	var out struct{ Policy map[string]any }
	if err := r.Call(ctx, "iam", "GetPolicy", map[string]any{"PolicyArn": arn}, &out); err != nil {
		return s, err
	}
	for _, name := range []string{"PolicyId", "DefaultVersionId", "AttachmentCount", "PermissionsBoundaryUsageCount",
		"IsAttachable", "CreateDate", "UpdateDate"} {
		if v, ok := out.Policy[name]; ok {
			s.Attributes[name] = attributeText(name, v)
		}
	}
	return s, nil
}

func attach(ctx context.Context, r *Request, arn string) error {
	for _, kind := range principals {
		now, before := texts(r.Properties, kind.property), texts(r.Previous, kind.property)
		for _, name := range now {
			if !has(before, name) {
				if err := r.Call(ctx, "iam", kind.attach, map[string]any{kind.member: name, "PolicyArn": arn}, nil); err != nil {
					return err
				}
			}
		}
		for _, name := range before {
			if !has(now, name) {
				if err := ignoreAbsent(r.Call(ctx, "iam", kind.detach, map[string]any{kind.member: name, "PolicyArn": arn},
					nil)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

type policyVersions struct {
	Versions []struct {
		ID      string `json:"VersionId"`
		Default bool   `json:"IsDefaultVersion"`
	}
}

// mostVersions is the maximum number of versions of a policy.
const mostVersions = 5

func updateManagedPolicy(ctx context.Context, r *Request) (State, error) {
	if r.changed("PolicyDocument") {
		var versions policyVersions
		if err := r.Call(ctx, "iam", "ListPolicyVersions", map[string]any{"PolicyArn": r.ID}, &versions); err != nil {
			return State{}, err
		}
		if n := len(versions.Versions); n >= mostVersions {
			for _, v := range slices.Backward(versions.Versions) { // the oldest version is the last
				if !v.Default {
					if err := r.Call(ctx, "iam", "DeletePolicyVersion", map[string]any{"PolicyArn": r.ID, "VersionId": v.ID},
						nil); err != nil {
						return State{}, err
					}
					break
				}
			}
		}
		in := map[string]any{"PolicyArn": r.ID, "PolicyDocument": document(r.Properties["PolicyDocument"]),
			"SetAsDefault": true}
		if err := r.Call(ctx, "iam", "CreatePolicyVersion", in, nil); err != nil {
			return State{}, err
		}
	}
	if err := attach(ctx, r, r.ID); err != nil {
		return State{ID: r.ID}, err
	}
	return managedPolicyState(ctx, r, r.ID)
}

func deleteManagedPolicy(ctx context.Context, r *Request) error {
	detached := *r
	detached.Properties, detached.Previous = nil, r.Properties
	if err := attach(ctx, &detached, r.ID); err != nil {
		return err
	}
	var versions policyVersions
	if err := r.Call(ctx, "iam", "ListPolicyVersions", map[string]any{"PolicyArn": r.ID}, &versions); err != nil {
		return ignoreAbsent(err)
	}
	for _, v := range versions.Versions {
		if !v.Default {
			if err := r.Call(ctx, "iam", "DeletePolicyVersion", map[string]any{"PolicyArn": r.ID, "VersionId": v.ID},
				nil); ignoreAbsent(err) != nil {
				return err
			}
		}
	}
	return ignoreAbsent(r.Call(ctx, "iam", "DeletePolicy", map[string]any{"PolicyArn": r.ID}, nil))
}
