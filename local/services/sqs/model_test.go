package sqs

import (
	"testing"

	"stepback/aws/model"
	"stepback/aws/server/modeltest"
)

// TestModel compares the responses with the service's model, and checks that every operation of the model is
// implemented.
func TestModel(t *testing.T) {
	t.Parallel()
	m, served := model.MustFind("sqs"), new(Service).operations()
	for _, difference := range modeltest.Differences(m, served) {
		t.Error(difference)
	}
	for _, name := range m.Operations() {
		if _, ok := served[name]; !ok {
			t.Errorf("%s is not served", name)
		}
	}
}
