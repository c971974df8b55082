package scheduler

import (
	"testing"

	"stepback/aws/model"
	"stepback/aws/server/modeltest"
)

func TestModel(t *testing.T) {
	t.Parallel()
	m, served := model.MustFind("scheduler"), new(Service).operations()
	for _, difference := range modeltest.Differences(m, served) {
		t.Error(difference)
	}
	for _, name := range m.Operations() {
		if _, ok := served[name]; !ok {
			t.Errorf("%s is not served", name)
		}
	}
}
