package ecr

import (
	"strings"
	"testing"

	"stepback/aws/model"
	"stepback/aws/server/modeltest"
)

// TestModel compares the responses with the service's model.
func TestModel(t *testing.T) {
	t.Parallel()
	for _, difference := range modeltest.Differences(model.MustFind("ecr"), new(Service).operations()) {
		if !strings.HasPrefix(difference, "ListImages.") && !strings.Contains(difference, "lastEvaluatedAt") { // there are no images
			t.Error(difference)
		}
	}
}
