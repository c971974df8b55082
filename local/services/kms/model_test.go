package kms

import (
	"slices"
	"strings"
	"testing"

	"stepback/aws/model"
	"stepback/aws/server/modeltest"
)

// TestModel compares the responses with the service's model.
func TestModel(t *testing.T) {
	t.Parallel()
	for _, difference := range modeltest.Differences(model.MustFind("kms"), new(Service).operations()) {
		// Encapsulation keys, and grants of services, are rejected.
		if slices.ContainsFunc([]string{"EncapsulationAlgorithms", "ServicePrincipal", "Grants.Constraints.SourceArn"},
			func(name string) bool { return strings.Contains(difference, name) }) {
			continue
		}
		t.Error(difference)
	}
}
