package logs

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stepback/aws/server/awsjson/apimodel"
)

// unanswered are members of features that are not served.
var unanswered = []string{
	"DescribeLogGroups.logGroups.dataProtectionStatus", "DescribeLogGroups.logGroups.bearerTokenAuthenticationEnabled",
	"DescribeLogGroups.logGroups.inheritedProperties", "PutLogEvents.rejectedLogEventsInfo.expiredLogEventEndIndex",
	"PutLogEvents.rejectedEntityInfo",
}

// TestModel compares the operations that are served with the service's model.
func TestModel(t *testing.T) {
	t.Parallel()
	m := apimodel.Read(t, filepath.Join("..", ".."), "logs-2014-03-28")
	for _, difference := range m.Differences(new(Service).operations()) {
		if !slices.Contains(unanswered, strings.TrimSuffix(difference, " is not answered")) {
			t.Error(difference)
		}
	}
}
