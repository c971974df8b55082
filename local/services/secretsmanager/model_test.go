package secretsmanager

import (
	"testing"

	"stepback/aws/model"
	"stepback/aws/server/modeltest"
)

// TestModel compares the responses with the service's model.
func TestModel(t *testing.T) {
	t.Parallel()
	for _, difference := range modeltest.Differences(model.MustFind("secretsmanager"), new(Service).operations()) {
		t.Error(difference)
	}
}
