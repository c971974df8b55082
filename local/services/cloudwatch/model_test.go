package cloudwatch

import (
	"slices"
	"strings"
	"testing"

	"stepback/aws/model"
	"stepback/aws/server/modeltest"
)

// notHere are members of features that are rejected by name: contributors, suppressors, PromQL, alarms of logs,
// windows, warm-ups and the actions of 2026, and the IDs and settings of anomaly detectors of 2026.
var notHere = []string{"AlarmContributor", "ActionsSuppress", "EvaluationState", "EvaluationCriteria",
	"EvaluationInterval", "ActionConfiguration", "EvaluationWindow", "WarmUpConfiguration", "LogAlarms", "AdaptationSpeed",
	"OutlierFilteringStrength", "AnomalyDetectorId"}

// TestModel compares the responses with the service's model.
func TestModel(t *testing.T) {
	t.Parallel()
	for _, difference := range modeltest.Differences(model.MustFind("cloudwatch"), new(Service).operations()) {
		if !slices.ContainsFunc(notHere, func(name string) bool { return strings.Contains(difference, name) }) {
			t.Error(difference)
		}
	}
}
