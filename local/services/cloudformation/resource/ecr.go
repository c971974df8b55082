package resource

import (
	"context"
	"strings"
)

func repositories() []*Type {
	return []*Type{{
		Name: "AWS::ECR::Repository",
		Properties: properties(`RepositoryName= EncryptionConfiguration! ImageScanningConfiguration ImageTagMutability
			LifecyclePolicy RepositoryPolicyText EmptyOnDelete~ Tags`),
		Create: createRepository, Update: updateRepository, Read: readRepository,
		Delete: func(ctx context.Context, r *Request) error {
			in := map[string]any{"repositoryName": r.ID, "force": r.text("EmptyOnDelete") == "true"}
			return ignoreAbsent(r.Call(ctx, "ecr", "DeleteRepository", in, nil))
		},
	}}
}

type repository struct {
	ARN        string `json:"repositoryArn"`
	URI        string `json:"repositoryUri"`
	Mutability string `json:"imageTagMutability"`
	Scanning   any    `json:"imageScanningConfiguration"`
}

func createRepository(ctx context.Context, r *Request) (State, error) {
	name := nonempty(r.text("RepositoryName"), strings.ToLower(r.Name(256)))
	in := pick(r.Properties, "EncryptionConfiguration ImageScanningConfiguration ImageTagMutability")
	in["repositoryName"] = name
	set(in, "Tags", r.tagList())
	var out struct {
		Repository repository `json:"repository"`
	}
	made, err := r.create(ctx, "ecr", "CreateRepository", in, &out)
	if err == nil && !made {
		out.Repository, err = describeRepository(ctx, r, name)
	}
	if err != nil {
		return State{}, err
	}
	state := State{ID: name, Attributes: map[string]any{"Arn": out.Repository.ARN, "RepositoryUri": out.Repository.URI}}
	return state, repositoryPolicies(ctx, r, name)
}

func describeRepository(ctx context.Context, r *Request, name string) (repository, error) {
	var out struct {
		Repositories []repository `json:"repositories"`
	}
	err := r.Call(ctx, "ecr", "DescribeRepositories", map[string]any{"repositoryNames": []string{name}}, &out)
	if err == nil && len(out.Repositories) == 0 {
		err = ErrGone
	}
	if err != nil {
		return repository{}, err
	}
	return out.Repositories[0], nil
}

func repositoryPolicies(ctx context.Context, r *Request, name string) error {
	if r.changed("LifecyclePolicy") {
		text := textOf(object(r.Properties, "LifecyclePolicy"), "LifecyclePolicyText")
		operation, in := "PutLifecyclePolicy", map[string]any{"repositoryName": name, "lifecyclePolicyText": text}
		if text == "" {
			operation, in = "DeleteLifecyclePolicy", map[string]any{"repositoryName": name}
		}
		if err := r.Call(ctx, "ecr", operation, in, nil); err != nil && (text != "" || ignoreAbsent(err) != nil) {
			return err
		}
	}
	if r.changed("RepositoryPolicyText") {
		text := document(r.Properties["RepositoryPolicyText"])
		operation, in := "SetRepositoryPolicy", map[string]any{"repositoryName": name, "policyText": text}
		if text == "" {
			operation, in = "DeleteRepositoryPolicy", map[string]any{"repositoryName": name}
		}
		if err := r.Call(ctx, "ecr", operation, in, nil); err != nil && (text != "" || ignoreAbsent(err) != nil) {
			return err
		}
	}
	return nil
}

func updateRepository(ctx context.Context, r *Request) (State, error) {
	if r.changed("ImageTagMutability") {
		in := map[string]any{"repositoryName": r.ID,
			"imageTagMutability": nonempty(r.text("ImageTagMutability"), "MUTABLE")}
		if err := r.Call(ctx, "ecr", "PutImageTagMutability", in, nil); err != nil {
			return State{}, err
		}
	}
	if r.changed("ImageScanningConfiguration") {
		scan := object(r.Properties, "ImageScanningConfiguration")
		if scan == nil {
			scan = map[string]any{"ScanOnPush": false}
		}
		in := map[string]any{"repositoryName": r.ID, "imageScanningConfiguration": scan}
		if err := r.Call(ctx, "ecr", "PutImageScanningConfiguration", in, nil); err != nil {
			return State{}, err
		}
	}
	if err := repositoryPolicies(ctx, r, r.ID); err != nil {
		return State{}, err
	}
	arn, _ := r.Attributes["Arn"].(string)
	return State{ID: r.ID, Attributes: r.Attributes}, r.retag(ctx, "ecr", "TagResource", "UntagResource",
		map[string]any{"resourceArn": arn}, "tags", "tagKeys", asKeyValue)
}

func readRepository(ctx context.Context, r *Request) (map[string]any, error) {
	found, err := describeRepository(ctx, r, r.ID)
	if err != nil {
		return nil, goneIfAbsent(err)
	}
	return map[string]any{"RepositoryName": r.ID, "ImageTagMutability": found.Mutability}, nil
}
