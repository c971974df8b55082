package stepfunctions

import (
	"path/filepath"
	"testing"

	"stepback/aws/server/awsjson/apimodel"
)

// readModel reads the service's model, or skips the test.
func readModel(t *testing.T) *apimodel.Model {
	t.Helper()
	return apimodel.Read(t, filepath.Join("..", ".."), "stepfunctions-2016-11-23")
}

// TestModel compares the operations with the service's model: every member of every request with its constraints, and
// the names of all members of the answers.
func TestModel(t *testing.T) {
	t.Parallel()
	m, have := readModel(t), New(Config{}).operations()
	for _, difference := range m.Differences(have) {
		t.Error(difference)
	}
	for name := range m.Operations {
		if _, ok := have[name]; !ok {
			t.Errorf("there is no operation %s", name)
		}
	}
}
