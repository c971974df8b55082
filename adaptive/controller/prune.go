package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
)

// Versions is the part of the Step Functions client that deletes old versions of a state machine.
type Versions interface {
	ListStateMachineVersions(context.Context, *sfn.ListStateMachineVersionsInput,
		...func(*sfn.Options)) (*sfn.ListStateMachineVersionsOutput, error)
	DeleteStateMachineVersion(context.Context, *sfn.DeleteStateMachineVersionInput,
		...func(*sfn.Options)) (*sfn.DeleteStateMachineVersionOutput, error)
}

// Step Functions keeps at most 1,000 versions of a state machine, and then refuses to publish more. Of the versions
// older than the newest keptVersions, at most prunedAtOnce are deleted after a change. The newest keptDeployments of
// these that a deployment published are kept, because a rollback of the stack points the alias back at them.
const (
	keptVersions    = 100
	keptDeployments = 10
	prunedAtOnce    = 10
)

// prune deletes old versions that no alias and no running execution uses. A failure is only a warning: the change that
// preceded it is in force, and the next change tries again.
func (t *tick) prune(ctx context.Context) {
	if t.Versions == nil {
		return
	}
	all, err := t.versions(ctx)
	if err != nil {
		t.warn("old versions were not deleted: %v", err)
		return
	}
	deployments, deleted := 0, 0
	for _, version := range all[min(keptVersions, len(all)):] {
		if deleted == prunedAtOnce {
			return
		}
		needed, deployment, err := t.needs(ctx, version)
		if err == nil && deployment {
			deployments++
			needed = needed || deployments <= keptDeployments
		}
		if err == nil && !needed {
			_, err = t.Versions.DeleteStateMachineVersion(ctx,
				&sfn.DeleteStateMachineVersionInput{StateMachineVersionArn: &version})
			var used *types.ConflictException
			if errors.As(err, &used) { // an alias points at it
				continue
			}
			deleted++
		}
		if err != nil {
			t.warn("version %s was not deleted: %v", version, err)
			return
		}
	}
}

// versions returns the ARNs of the state machine's versions, newest first.
func (t *tick) versions(ctx context.Context) ([]string, error) {
	var all []string
	in := &sfn.ListStateMachineVersionsInput{StateMachineArn: &t.Machine, MaxResults: 1000}
	for {
		page, err := t.Versions.ListStateMachineVersions(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("versions of %s: %w", t.Machine, err)
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
func (t *tick) needs(ctx context.Context, version string) (running, deployment bool, err error) {
	described, err := t.DescribeStateMachine(ctx, &sfn.DescribeStateMachineInput{StateMachineArn: &version})
	if err != nil {
		return false, false, err
	}
	out, err := t.ListExecutions(ctx, &sfn.ListExecutionsInput{StateMachineArn: &version, MaxResults: 1,
		StatusFilter: types.ExecutionStatusRunning})
	if err != nil {
		return false, false, err
	}
	return len(out.Executions) > 0, strings.HasPrefix(aws.ToString(described.Description), ByDeployment), nil
}
