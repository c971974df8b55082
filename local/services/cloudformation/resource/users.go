package resource

import (
	"context"
	"strings"
)

// users returns the types for IAM's users and groups, and for the resources that belong to them.
func users() []*Type {
	return []*Type{{
		Name:       "AWS::IAM::User",
		Properties: properties("UserName= Path! Groups ManagedPolicyArns PermissionsBoundary Policies Tags"),
		Create:     createUser, Update: updateUser, Delete: deleteUser, Read: readNamed("GetUser", "UserName", "User"),
	}, {
		Name: "AWS::IAM::Group", Properties: properties("GroupName= Path! ManagedPolicyArns Policies"),
		Create: createGroup, Delete: deleteGroup, Read: readNamed("GetGroup", "GroupName", "Group"),
		Update: func(ctx context.Context, r *Request) (State, error) {
			return State{ID: r.ID, Attributes: r.Attributes}, policiesOn(ctx, r, principals[2], r.ID)
		},
	}, {
		Name: "AWS::IAM::UserToGroupAddition", Properties: properties("GroupName*! Users*"),
		Create: addUsers, Update: addUsers,
		Delete: func(ctx context.Context, r *Request) error { return removeUsers(ctx, r, texts(r.Properties, "Users")) },
	}, {
		Name: "AWS::IAM::AccessKey", Properties: properties("UserName*! Serial! Status"),
		Create: createAccessKey,
		Update: func(ctx context.Context, r *Request) (State, error) {
			return State{ID: r.ID, Attributes: r.Attributes}, r.Call(ctx, "iam", "UpdateAccessKey", map[string]any{
				"UserName": r.text("UserName"), "AccessKeyId": r.ID, "Status": nonempty(r.text("Status"), "Active")}, nil)
		},
		Delete: func(ctx context.Context, r *Request) error {
			return ignoreAbsent(r.Call(ctx, "iam", "DeleteAccessKey", map[string]any{"UserName": r.text("UserName"), "AccessKeyId": r.ID}, nil))
		},
	}, {
		Name: "AWS::IAM::InstanceProfile", Properties: properties("InstanceProfileName= Path! Roles*"),
		Create: createProfile, Update: updateProfile, Delete: deleteProfile,
		Read: readNamed("GetInstanceProfile", "InstanceProfileName", "InstanceProfile"),
	}, {
		Name: "AWS::IAM::OIDCProvider", Properties: properties("Url! ClientIdList! ThumbprintList! Tags!"),
		Create: func(ctx context.Context, r *Request) (State, error) {
			in := pick(r.Properties, "Url ClientIdList=ClientIDList ThumbprintList")
			set(in, "Tags", r.tagList())
			var out struct {
				ARN string `json:"OpenIDConnectProviderArn"`
			}
			made, err := r.create(ctx, "iam", "CreateOpenIDConnectProvider", in, &out)
			if err == nil && !made {
				_, host, _ := strings.Cut(r.text("Url"), "://")
				out.ARN = r.Scope.GlobalARN("iam", "oidc-provider/"+host)
			}
			return created(State{ID: out.ARN, Attributes: map[string]any{"Arn": out.ARN}}, err)
		},
		Delete: func(ctx context.Context, r *Request) error {
			return ignoreAbsent(r.Call(ctx, "iam", "DeleteOpenIDConnectProvider", map[string]any{"OpenIDConnectProviderArn": r.ID}, nil))
		},
	}, inlinePolicy("AWS::IAM::UserPolicy", principals[1]), inlinePolicy("AWS::IAM::GroupPolicy", principals[2])}
}

// inlinePolicy returns the type of an inline policy of one user or one group.
func inlinePolicy(name string, kind principal) *Type {
	put := func(ctx context.Context, r *Request) (State, error) {
		in := pick(r.Properties, "PolicyName "+kind.member)
		in["PolicyDocument"] = document(r.Properties["PolicyDocument"])
		return created(State{ID: r.text("PolicyName") + "|" + r.text(kind.member)}, r.Call(ctx, "iam", kind.put, in, nil))
	}
	return &Type{Name: name, Properties: properties("PolicyName*! " + kind.member + "*! PolicyDocument"), Create: put, Update: put,
		Delete: func(ctx context.Context, r *Request) error {
			return ignoreAbsent(r.Call(ctx, "iam", kind.remove, pick(r.Properties, "PolicyName "+kind.member), nil))
		}}
}

// readNamed returns a function that reads the name and the path of a resource.
func readNamed(operation, name, member string) func(context.Context, *Request) (map[string]any, error) {
	return func(ctx context.Context, r *Request) (map[string]any, error) {
		var out map[string]any
		if err := r.Call(ctx, "iam", operation, map[string]any{name: r.ID}, &out); err != nil {
			return nil, goneIfAbsent(err)
		}
		return pick(object(out, member), name+" Path"), nil
	}
}

// arnOf returns the ARN of a named resource.
func arnOf(ctx context.Context, r *Request, operation, name, member, id string) (string, error) {
	var out map[string]any
	err := r.Call(ctx, "iam", operation, map[string]any{name: id}, &out)
	return textOf(object(out, member), "Arn"), err
}

func createUser(ctx context.Context, r *Request) (State, error) {
	name := r.named("UserName", 64)
	in := pick(r.Properties, "Path PermissionsBoundary")
	in["UserName"] = name
	set(in, "Tags", r.tagList())
	if _, err := r.create(ctx, "iam", "CreateUser", in, nil); err != nil {
		return State{}, err
	}
	arn, err := arnOf(ctx, r, "GetUser", "UserName", "User", name)
	state := State{ID: name, Attributes: map[string]any{"Arn": arn}}
	if err != nil {
		return state, err
	}
	return state, belongings(ctx, r, name)
}

// belongings updates the policies and groups of a user.
func belongings(ctx context.Context, r *Request, name string) error {
	if err := policiesOn(ctx, r, principals[1], name); err != nil {
		return err
	}
	now, before := texts(r.Properties, "Groups"), texts(r.Previous, "Groups")
	for _, group := range now {
		if err := r.Call(ctx, "iam", "AddUserToGroup", map[string]any{"GroupName": group, "UserName": name}, nil); err != nil {
			return err
		}
	}
	for _, group := range before {
		if !has(now, group) {
			if err := ignoreAbsent(r.Call(ctx, "iam", "RemoveUserFromGroup", map[string]any{"GroupName": group, "UserName": name}, nil)); err != nil {
				return err
			}
		}
	}
	return nil
}

func updateUser(ctx context.Context, r *Request) (State, error) {
	if r.changed("PermissionsBoundary") {
		operation, in := "PutUserPermissionsBoundary", pick(r.Properties, "PermissionsBoundary")
		if !r.has("PermissionsBoundary") {
			operation = "DeleteUserPermissionsBoundary"
		}
		in["UserName"] = r.ID
		if err := r.Call(ctx, "iam", operation, in, nil); err != nil {
			return State{}, err
		}
	}
	if err := belongings(ctx, r, r.ID); err != nil {
		return State{}, err
	}
	return State{ID: r.ID, Attributes: r.Attributes}, r.retag(ctx, "iam", "TagUser", "UntagUser",
		map[string]any{"UserName": r.ID}, "Tags", "TagKeys", asKeyValue)
}

// without returns a copy of the request as an update that removes all policies, groups and roles.
func (r *Request) without() *Request {
	bare := *r
	bare.Properties, bare.Previous = map[string]any{}, r.Properties
	return &bare
}

func deleteUser(ctx context.Context, r *Request) error {
	if err := ignoreAbsent(belongings(ctx, r.without(), r.ID)); err != nil {
		return err
	}
	return ignoreAbsent(r.Call(ctx, "iam", "DeleteUser", map[string]any{"UserName": r.ID}, nil))
}

func createGroup(ctx context.Context, r *Request) (State, error) {
	name := r.named("GroupName", 128)
	in := pick(r.Properties, "Path")
	in["GroupName"] = name
	if _, err := r.create(ctx, "iam", "CreateGroup", in, nil); err != nil {
		return State{}, err
	}
	arn, err := arnOf(ctx, r, "GetGroup", "GroupName", "Group", name)
	state := State{ID: name, Attributes: map[string]any{"Arn": arn}}
	if err != nil {
		return state, err
	}
	return state, policiesOn(ctx, r, principals[2], name)
}

func deleteGroup(ctx context.Context, r *Request) error {
	if err := ignoreAbsent(policiesOn(ctx, r.without(), principals[2], r.ID)); err != nil {
		return err
	}
	return ignoreAbsent(r.Call(ctx, "iam", "DeleteGroup", map[string]any{"GroupName": r.ID}, nil))
}

func addUsers(ctx context.Context, r *Request) (State, error) {
	now := texts(r.Properties, "Users")
	for _, user := range now {
		if err := r.Call(ctx, "iam", "AddUserToGroup", map[string]any{"GroupName": r.text("GroupName"), "UserName": user}, nil); err != nil {
			return State{}, err
		}
	}
	var superfluous []string
	for _, user := range texts(r.Previous, "Users") {
		if !has(now, user) {
			superfluous = append(superfluous, user)
		}
	}
	return State{ID: nonempty(r.ID, r.Name(maxID))}, removeUsers(ctx, r, superfluous)
}

func removeUsers(ctx context.Context, r *Request, users []string) error {
	for _, user := range users {
		if err := ignoreAbsent(r.Call(ctx, "iam", "RemoveUserFromGroup", map[string]any{"GroupName": r.text("GroupName"), "UserName": user}, nil)); err != nil {
			return err
		}
	}
	return nil
}

func createAccessKey(ctx context.Context, r *Request) (State, error) {
	var out struct {
		AccessKey struct {
			ID     string `json:"AccessKeyId"`
			Secret string `json:"SecretAccessKey"`
		}
	}
	if err := r.Call(ctx, "iam", "CreateAccessKey", pick(r.Properties, "UserName"), &out); err != nil {
		return State{}, err
	}
	state := State{ID: out.AccessKey.ID, Attributes: map[string]any{"SecretAccessKey": out.AccessKey.Secret,
		"Id": out.AccessKey.ID}}
	if r.text("Status") != "Inactive" {
		return state, nil
	}
	return state, r.Call(ctx, "iam", "UpdateAccessKey", map[string]any{"UserName": r.text("UserName"),
		"AccessKeyId": state.ID, "Status": "Inactive"}, nil)
}

func createProfile(ctx context.Context, r *Request) (State, error) {
	name := r.named("InstanceProfileName", 128)
	in := pick(r.Properties, "Path")
	in["InstanceProfileName"] = name
	if _, err := r.create(ctx, "iam", "CreateInstanceProfile", in, nil); err != nil {
		return State{}, err
	}
	arn, err := arnOf(ctx, r, "GetInstanceProfile", "InstanceProfileName", "InstanceProfile", name)
	state := State{ID: name, Attributes: map[string]any{"Arn": arn}}
	if err != nil {
		return state, err
	}
	return state, profileRoles(ctx, r, name)
}

// profileRoles updates the role of an instance profile.
func profileRoles(ctx context.Context, r *Request, name string) error {
	now, before := texts(r.Properties, "Roles"), texts(r.Previous, "Roles")
	for _, role := range before {
		if !has(now, role) {
			if err := ignoreAbsent(r.Call(ctx, "iam", "RemoveRoleFromInstanceProfile", map[string]any{"InstanceProfileName": name, "RoleName": role},
				nil)); err != nil {
				return err
			}
		}
	}
	for _, role := range now {
		if !has(before, role) {
			if _, err := r.create(ctx, "iam", "AddRoleToInstanceProfile", map[string]any{"InstanceProfileName": name, "RoleName": role},
				nil); err != nil {
				return err
			}
		}
	}
	return nil
}

func updateProfile(ctx context.Context, r *Request) (State, error) {
	return State{ID: r.ID, Attributes: r.Attributes}, profileRoles(ctx, r, r.ID)
}

func deleteProfile(ctx context.Context, r *Request) error {
	if err := ignoreAbsent(profileRoles(ctx, r.without(), r.ID)); err != nil {
		return err
	}
	return ignoreAbsent(r.Call(ctx, "iam", "DeleteInstanceProfile", map[string]any{"InstanceProfileName": r.ID}, nil))
}

// samplingRules returns the types of X-Ray.
func samplingRules() []*Type {
	state := func(r *Request, name string) State {
		arn := r.Scope.ARN("xray", "sampling-rule/"+name)
		return State{ID: arn, Attributes: map[string]any{"RuleARN": arn}}
	}
	return []*Type{{
		Name: "AWS::XRay::SamplingRule", Properties: properties("SamplingRule*"),
		Create: func(ctx context.Context, r *Request) (State, error) {
			rule := object(r.Properties, "SamplingRule")
			in := pick(rule, strings.Join(keysOf(rule), " "))
			in["RuleName"] = nonempty(textOf(rule, "RuleName"), r.Name(32))
			if _, ok := in["Version"]; !ok {
				in["Version"] = 1
			}
			return created(state(r, textOf(in, "RuleName")), r.Call(ctx, "xray", "CreateSamplingRule", map[string]any{"SamplingRule": in}, nil))
		},
		Update: func(ctx context.Context, r *Request) (State, error) {
			rule := object(r.Properties, "SamplingRule")
			in := pick(rule, strings.Join(keysOf(rule), " "))
			delete(in, "Version")
			delete(in, "RuleName")
			in["RuleARN"] = r.ID
			return state(r, after(r.ID, "/")), r.Call(ctx, "xray", "UpdateSamplingRule", map[string]any{"SamplingRuleUpdate": in}, nil)
		},
		Delete: func(ctx context.Context, r *Request) error {
			err := r.Call(ctx, "xray", "DeleteSamplingRule", map[string]any{"RuleARN": r.ID}, nil)
			if err != nil && strings.Contains(err.Error(), "Sampling rule does not exist.") {
				return nil
			}
			return err
		},
	}}
}
