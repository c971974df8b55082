package controller

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/adaptive/versions"
)

// Aliases is the part of the Step Functions client that a controller with an Alias uses in addition to
// [StepFunctions].
type Aliases interface {
	DescribeStateMachineAlias(context.Context, *sfn.DescribeStateMachineAliasInput,
		...func(*sfn.Options)) (*sfn.DescribeStateMachineAliasOutput, error)
	UpdateStateMachineAlias(context.Context, *sfn.UpdateStateMachineAliasInput,
		...func(*sfn.Options)) (*sfn.UpdateStateMachineAliasOutput, error)
}

// ByDeployment is the prefix of a version's description if a deployment published the version. The CDK stack writes
// it.
const ByDeployment = versions.ByDeployment

// noteDeployment sets the result's note if the alias points at two versions: a deployment is under way, and the
// controller must not interfere with it.
func (t *tick) noteDeployment(ctx context.Context) error {
	if t.Alias == "" {
		return nil
	}
	routes, err := t.routes(ctx)
	if err == nil && len(routes) > 1 {
		t.res.Note = "a deployment is in progress: the alias points at two versions"
	}
	return err
}

func (t *tick) routes(ctx context.Context) ([]types.RoutingConfigurationListItem, error) {
	alias, err := t.Aliases.DescribeStateMachineAlias(ctx,
		&sfn.DescribeStateMachineAliasInput{StateMachineAliasArn: &t.Alias})
	if err != nil {
		return nil, fmt.Errorf("alias %s: %w", t.Alias, err)
	}
	return alias.RoutingConfiguration, nil
}

// adoptDeployment makes the present definition the base if a deployment published it. It does so only if the
// definition is neither the base nor the controller's own, and the alias points at a version of it that a
// deployment published. A definition edited by hand has no such version.
func (t *tick) adoptDeployment(ctx context.Context) error {
	hash := Hash(t.definition)
	if t.Alias == "" || t.row.Base == "" || hash == t.row.Hash {
		return nil
	}
	routes, err := t.routes(ctx)
	if err != nil || len(routes) == 0 {
		return err
	}
	version, err := t.DescribeStateMachine(ctx,
		&sfn.DescribeStateMachineInput{StateMachineArn: routes[0].StateMachineVersionArn})
	if err != nil {
		return fmt.Errorf("version %s: %w", aws.ToString(routes[0].StateMachineVersionArn), err)
	}
	if strings.HasPrefix(aws.ToString(version.Description), ByDeployment) &&
		Hash(aws.ToString(version.Definition)) == hash {
		t.row.Base, t.row.Hash, t.row.States = t.definition, hash, nil
		t.row.add(Entry{At: t.now, What: Adopted, Text: "the definition of a deployment is now the base", After: hash})
	}
	return nil
}

// route points the alias at a version.
func (t *tick) route(ctx context.Context, version string) error {
	if t.Alias == "" {
		return nil
	}
	_, err := t.Aliases.UpdateStateMachineAlias(ctx, &sfn.UpdateStateMachineAliasInput{
		StateMachineAliasArn: &t.Alias,
		RoutingConfiguration: []types.RoutingConfigurationListItem{{StateMachineVersionArn: &version, Weight: 100}},
	})
	if err != nil {
		return fmt.Errorf("the definition is published as %s, but the alias %s does not point at it: %w", version, t.Alias, err)
	}
	return nil
}
