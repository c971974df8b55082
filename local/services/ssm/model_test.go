package ssm

import (
	"strings"
	"testing"

	"stepback/aws/model"
	"stepback/aws/server/modeltest"
)

// TestModel compares the responses with the service's model.
func TestModel(t *testing.T) {
	t.Parallel()
	for _, difference := range modeltest.Differences(model.MustFind("ssm"), new(Service).operations()) {
		if !strings.Contains(difference, ".Policies.") { // always empty
			t.Error(difference)
		}
	}
}
