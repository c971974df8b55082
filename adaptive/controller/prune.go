package controller

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"stepback/adaptive/versions"
)

// Versions is the part of the Step Functions client that deletes old versions of a state machine.
type Versions interface {
	ListStateMachineVersions(context.Context, *sfn.ListStateMachineVersionsInput,
		...func(*sfn.Options)) (*sfn.ListStateMachineVersionsOutput, error)
	DeleteStateMachineVersion(context.Context, *sfn.DeleteStateMachineVersionInput,
		...func(*sfn.Options)) (*sfn.DeleteStateMachineVersionOutput, error)
}

// prune deletes old versions that no alias and no running execution uses. A failure is only a warning: the change that
// preceded it is in force, and the next change tries again.
func (t *tick) prune(ctx context.Context) {
	if t.Versions == nil {
		return
	}
	client := struct {
		StepFunctions
		Versions
	}{t.StepFunctions, t.Versions}
	if _, err := versions.PruneStateMachine(ctx, client, t.Machine); err != nil {
		t.warn("old versions were not deleted: %v", err)
	}
}
