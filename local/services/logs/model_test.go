package logs

import (
	"slices"
	"strings"
	"testing"

	"stepback/aws/model"
	"stepback/aws/server/modeltest"
)

// unanswered lists the members of features that are not supported.
var unanswered = []string{
	"DescribeLogGroups.logGroups.dataProtectionStatus", "DescribeLogGroups.logGroups.bearerTokenAuthenticationEnabled",
	"DescribeLogGroups.logGroups.inheritedProperties", "PutLogEvents.rejectedLogEventsInfo.expiredLogEventEndIndex",
	"PutLogEvents.rejectedEntityInfo", "DescribeSubscriptionFilters.subscriptionFilters.fieldSelectionCriteria",
	"DescribeSubscriptionFilters.subscriptionFilters.emitSystemFields",
	"DescribeMetricFilters.metricFilters.fieldSelectionCriteria",
	"DescribeMetricFilters.metricFilters.emitSystemFieldDimensions",
	"DescribeQueries.queries.queryDuration", "DescribeQueries.queries.bytesScanned", "DescribeQueries.queries.userIdentity",
	"DescribeResourcePolicies.resourcePolicies.resourceArn", "DescribeResourcePolicies.resourcePolicies.revisionId",
	"GetQueryResults.statistics.estimatedRecordsSkipped", "GetQueryResults.statistics.estimatedBytesSkipped",
	"GetQueryResults.encryptionKey", "GetQueryResults.nextToken", "PutResourcePolicy.resourcePolicy.resourceArn",
	"PutResourcePolicy.resourcePolicy.revisionId", "PutResourcePolicy.revisionId",
	"DescribeLogGroups.logGroups.retentionPolicyName", "GetQueryResults.statistics.resultCount",
}

// TestModel compares the responses of the implemented operations with the service's model.
func TestModel(t *testing.T) {
	t.Parallel()
	for _, difference := range modeltest.Differences(model.MustFind("cloudwatchlogs"), new(Service).operations()) {
		if !slices.Contains(unanswered, strings.TrimSuffix(difference, " is not answered")) {
			t.Error(difference)
		}
	}
}
