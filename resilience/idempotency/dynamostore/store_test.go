package dynamostore_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"stepback/resilience/idempotency"
	"stepback/resilience/idempotency/dynamostore"
	"stepback/resilience/idempotency/storetest"
	"stepback/tasks/mototest"
)

func TestSuite(t *testing.T) {
	t.Parallel()
	address := mototest.Start(t)
	if address == "" {
		t.Skip("no DynamoDB to talk to")
	}
	client := dynamodb.New(dynamodb.Options{
		Region:       "eu-west-1",
		BaseEndpoint: &address,
		Credentials:  credentials.NewStaticCredentialsProvider("key", "secret", ""),
	})
	table := aws.String("idempotency")
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:   table,
		BillingMode: types.BillingModePayPerRequest,
		KeySchema:   []types.KeySchemaElement{{AttributeName: aws.String("key"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("key"), AttributeType: types.ScalarAttributeTypeS},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	storetest.Run(t, false, func(*testing.T) idempotency.Store { return dynamostore.New(client, *table) })
}
