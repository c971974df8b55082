package cloudcontrol

import (
	"testing"

	"stepback/aws/model"
	"stepback/aws/server/modeltest"
)

func TestModel(t *testing.T) {
	t.Parallel()
	for _, difference := range modeltest.Differences(model.MustFind("cloudcontrol"), new(Service).operations()) {
		t.Error(difference)
	}
}
