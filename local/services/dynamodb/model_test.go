package dynamodb

import (
	"strings"
	"testing"

	"stepback/aws/model"
	"stepback/aws/server/modeltest"
)

// TestModel compares the responses with the models of the two services.
func TestModel(t *testing.T) {
	t.Parallel()
	s := new(Service)
	for _, difference := range modeltest.Differences(model.MustFind("dynamodb"), s.operations()) {
		if !strings.HasSuffix(difference, "PointInTimeRecoveryDescription.EarliestRestorableDateTime is not answered") &&
			!strings.HasSuffix(difference, "VectorIndexes is not answered") && // requests with vector indexes are refused
			!strings.HasSuffix(difference, "DisassociationProtectionEnabled is not answered") {
			t.Error(difference)
		}
	}
	for _, difference := range modeltest.Differences(model.MustFind("dynamodbstreams"), s.streamOperations()) {
		t.Error(difference)
	}
}
