package events

import (
	"strings"
	"testing"

	"stepback/aws/model"
	"stepback/aws/server/modeltest"
)

func TestModel(t *testing.T) {
	t.Parallel()
	for _, difference := range modeltest.Differences(model.MustFind("eventbridge"), new(Service).operations()) {
		if !strings.HasSuffix(difference, "ManagedBy is not answered") { // no service of AWS manages buses here
			t.Error(difference)
		}
	}
}
