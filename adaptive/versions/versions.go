// Package versions deletes the versions of a state machine that nothing uses any more, before there are 1,000, when
// Step Functions refuses to publish more.
package versions

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
)

// ByDeployment begins the description of a version that a deployment published.
const ByDeployment = "deployment"

// Of the versions older than the newest keptVersions, at most prunedAtOnce are deleted in one call. The newest
// keptDeployments of these that a deployment published are kept, because a rollback of the stack points the alias back
// at them.
const (
	keptVersions    = 100
	keptDeployments = 10
	prunedAtOnce    = 10
)

// StateMachines is the part of the Step Functions client that deletes versions of a state machine.
type StateMachines interface {
	DescribeStateMachine(context.Context, *sfn.DescribeStateMachineInput,
		...func(*sfn.Options)) (*sfn.DescribeStateMachineOutput, error)
	ListExecutions(context.Context, *sfn.ListExecutionsInput, ...func(*sfn.Options)) (*sfn.ListExecutionsOutput, error)
	ListStateMachineVersions(context.Context, *sfn.ListStateMachineVersionsInput,
		...func(*sfn.Options)) (*sfn.ListStateMachineVersionsOutput, error)
	DeleteStateMachineVersion(context.Context, *sfn.DeleteStateMachineVersionInput,
		...func(*sfn.Options)) (*sfn.DeleteStateMachineVersionOutput, error)
}

// PruneStateMachine deletes old versions of a state machine that no alias and no running execution uses, and returns
// their ARNs, also if it then fails.
func PruneStateMachine(ctx context.Context, c StateMachines, machine string) ([]string, error) {
	all, err := List(ctx, c, machine)
	if err != nil {
		return nil, err
	}
	var deleted []string
	deployments := 0
	for _, version := range all[min(keptVersions, len(all)):] {
		if len(deleted) == prunedAtOnce {
			break
		}
		needed, deployment, err := needs(ctx, c, version)
		if err != nil {
			return deleted, fmt.Errorf("version %s: %w", version, err)
		}
		if deployment {
			deployments++
			needed = needed || deployments <= keptDeployments
		}
		if needed {
			continue
		}
		_, err = c.DeleteStateMachineVersion(ctx, &sfn.DeleteStateMachineVersionInput{StateMachineVersionArn: &version})
		var used *types.ConflictException
		switch {
		case errors.As(err, &used): // an alias points at it
		case err != nil:
			return deleted, fmt.Errorf("version %s was not deleted: %w", version, err)
		default:
			deleted = append(deleted, version)
		}
	}
	return deleted, nil
}

// List returns the ARNs of a state machine's versions, newest first.
func List(ctx context.Context, c StateMachines, machine string) ([]string, error) {
	var all []string
	in := &sfn.ListStateMachineVersionsInput{StateMachineArn: &machine, MaxResults: 1000}
	for {
		page, err := c.ListStateMachineVersions(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("versions of %s: %w", machine, err)
		}
		for _, v := range page.StateMachineVersions {
			all = append(all, aws.ToString(v.StateMachineVersionArn))
		}
		if in.NextToken = page.NextToken; in.NextToken == nil {
			return all, nil
		}
	}
}

// needs reports whether executions of a version are running, and whether a deployment published it.
func needs(ctx context.Context, c StateMachines, version string) (running, deployment bool, err error) {
	described, err := c.DescribeStateMachine(ctx, &sfn.DescribeStateMachineInput{StateMachineArn: &version})
	if err != nil {
		return false, false, err
	}
	out, err := c.ListExecutions(ctx, &sfn.ListExecutionsInput{StateMachineArn: &version, MaxResults: 1,
		StatusFilter: types.ExecutionStatusRunning})
	if err != nil {
		return false, false, err
	}
	return len(out.Executions) > 0, strings.HasPrefix(aws.ToString(described.Description), ByDeployment), nil
}
