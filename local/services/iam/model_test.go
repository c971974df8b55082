package iam

import (
	"strings"
	"testing"

	"stepback/aws/model"
	"stepback/aws/server/modeltest"
)

// TestModel compares the responses with the service's model.
func TestModel(t *testing.T) {
	t.Parallel()
	for _, difference := range modeltest.Differences(model.MustFind("iam"), new(Service).operations()) {
		if strings.HasPrefix(difference, "Simulate") { // decisions are reported without their details
			continue
		}
		// last use is not tracked, and roles are not made from templates
		if !strings.Contains(difference, "SourceRoleTemplate") && !strings.Contains(difference, "PasswordLastUsed") && !strings.Contains(difference, "RoleLastUsed.") {
			t.Error(difference)
		}
	}
}
