package cloudwatch

import (
	"slices"
	"strings"
	"testing"

	"stepback/aws/model"
	"stepback/aws/server/modeltest"
)

// notHere are members of features that are rejected by name: contributors, suppressors, PromQL.
var notHere = []string{"AlarmContributor", "ActionsSuppress", "EvaluationState", "EvaluationCriteria",
	"EvaluationInterval"}

// TestModel compares the responses with the service's model.
func TestModel(t *testing.T) {
	t.Parallel()
	for _, difference := range modeltest.Differences(model.MustFind("cloudwatch"), new(Service).operations()) {
		if !slices.ContainsFunc(notHere, func(name string) bool { return strings.Contains(difference, name) }) {
			t.Error(difference)
		}
	}
}
