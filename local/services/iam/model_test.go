package iam

import (
	"strings"
	"testing"

	"stepback/aws/model"
	"stepback/aws/server/modeltest"
)

// TestModel compares the answers with the service's model.
func TestModel(t *testing.T) {
	t.Parallel()
	for _, difference := range modeltest.Differences(model.MustFind("iam"), new(Service).operations()) {
		if strings.HasPrefix(difference, "Simulate") { // decisions are told without their details
			continue
		}
		if !strings.Contains(difference, "PasswordLastUsed") && !strings.Contains(difference, "RoleLastUsed.") { // nobody counts
			t.Error(difference)
		}
	}
}
