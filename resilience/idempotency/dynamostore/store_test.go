package dynamostore_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"stepback/aws/loopback"
	"stepback/engine/clock"
	tables "stepback/local/services/dynamodb"
	"stepback/resilience/idempotency"
	"stepback/resilience/idempotency/dynamostore"
	"stepback/resilience/idempotency/storetest"
	"stepback/tasks/mototest"
)

// oneAtATime serialises requests: moto checks a condition and writes in two steps, unlike DynamoDB, so two concurrent
// requests could both find the condition true.
type oneAtATime struct{ mu sync.Mutex }

func (o *oneAtATime) Do(r *http.Request) (*http.Response, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return http.DefaultClient.Do(r)
}

func TestEmbedded(t *testing.T) {
	t.Parallel()
	c := clock.Real()
	t.Cleanup(c.Close)
	embedded, err := tables.Open(tables.Options{Dir: t.TempDir() + "/dynamodb", Clock: c})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = embedded.Close() })
	testSuite(t, loopback.URL, loopback.Client(embedded.Handler()))
}

func TestMoto(t *testing.T) {
	t.Parallel()
	address := mototest.Start(t)
	if address == "" {
		t.Skip("moto_server is not installed")
	}
	testSuite(t, address, &oneAtATime{})
}

func testSuite(t *testing.T, address string, h dynamodb.HTTPClient) {
	t.Helper()
	client := dynamodb.New(dynamodb.Options{
		Region:       "eu-west-1",
		BaseEndpoint: &address,
		Credentials:  credentials.NewStaticCredentialsProvider("key", "secret", ""),
		HTTPClient:   h,
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
