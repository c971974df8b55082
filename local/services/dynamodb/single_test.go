package dynamodb_test

import (
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	client "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A table without a sort key has at most one item for a query, and so no second page.
func TestATableWithoutASortKey(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, mode := range map[string]types.BillingMode{"ondemand": "PAY_PER_REQUEST", "provisioned": "PROVISIONED"} {
		in := &client.CreateTableInput{TableName: sdk.String(name), BillingMode: mode, KeySchema: keys("pk"),
			AttributeDefinitions: attributes("pk:S")}
		if mode == "PROVISIONED" {
			in.ProvisionedThroughput = &types.ProvisionedThroughput{
				ReadCapacityUnits:  sdk.Int64(5),
				WriteCapacityUnits: sdk.Int64(5),
			}
		}
		if _, err := b.CreateTable(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		if _, err := b.PutItem(
			t.Context(),
			&client.PutItemInput{TableName: &name, Item: attrs{"pk": s("a")}},
		); err != nil {
			t.Fatal(err)
		}
		query := &client.QueryInput{TableName: &name, KeyConditionExpression: sdk.String("pk = :p"),
			ExpressionAttributeValues: attrs{":p": s("a")}, Limit: sdk.Int32(1)}
		out, err := b.Query(t.Context(), query)
		if err != nil || out.Count != 1 || out.LastEvaluatedKey != nil {
			t.Errorf("%+v, %v", out, err)
		}
		query.ExclusiveStartKey = attrs{"pk": s("a")}
		_, err = b.Query(t.Context(), query)
		refused(
			t,
			err,
			"ValidationException",
			"The provided exclusive start key is invalid: ExclusiveStartKey: {pk=AttributeValue: {S:a}}",
		)
		// Each of the four partitions of an on-demand table is read.
		for consistent, want := range map[bool]float64{true: 4, false: 2} {
			if mode == "PROVISIONED" {
				want /= 4
			}
			out, err := b.Scan(
				t.Context(),
				&client.ScanInput{TableName: &name, ConsistentRead: &consistent, ReturnConsumedCapacity: "TOTAL"},
			)
			if err != nil || *out.ConsumedCapacity.CapacityUnits != want {
				t.Errorf("%s: %v, %v, want %v", name, out, err, want)
			}
		}
	}
}
