package stepfunctions

import (
	"testing"

	"stepback/aws/model"
	"stepback/aws/server/modeltest"
)

// TestModel compares the operations with the service's model: all must exist, and their responses must have all
// members.
func TestModel(t *testing.T) {
	t.Parallel()
	m, have := model.MustFind("sfn"), New(Config{}).operations()
	for _, difference := range modeltest.Differences(m, have) {
		t.Error(difference)
	}
	for _, name := range m.Operations() {
		if _, ok := have[name]; !ok {
			t.Errorf("there is no operation %s", name)
		}
	}
}
