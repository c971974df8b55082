package dynamostore_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"stepback/adaptive/limiter"
	"stepback/adaptive/shared"
	"stepback/adaptive/shared/dynamostore"
	"stepback/adaptive/shared/storetest"
	"stepback/aws/loopback"
	"stepback/engine/clock"
	tables "stepback/local/services/dynamodb"
	"stepback/tasks/mototest"
)

// oneAtATime sends requests one after the other. moto reads an item and writes it in two steps, which are one step in
// DynamoDB, so concurrent additions can get lost there.
type oneAtATime struct{ mu sync.Mutex }

func (o *oneAtATime) Do(r *http.Request) (*http.Response, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return http.DefaultClient.Do(r)
}

// client returns a client of moto; the test is skipped if moto is not installed.
func client(t *testing.T) *dynamodb.Client {
	t.Helper()
	address := mototest.Start(t)
	if address == "" {
		t.Skip("moto_server is not installed")
	}
	return dynamodb.New(dynamodb.Options{
		Region: "eu-central-1", BaseEndpoint: &address, Credentials: credentials.NewStaticCredentialsProvider("test",
			"test", ""),
		HTTPClient: &oneAtATime{},
	})
}

// embedded returns a client of this project's DynamoDB.
func embedded(t *testing.T) *dynamodb.Client {
	t.Helper()
	c := clock.Real()
	t.Cleanup(c.Close)
	tables, err := tables.Open(tables.Options{Dir: t.TempDir() + "/dynamodb", Clock: c})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tables.Close() })
	return dynamodb.New(dynamodb.Options{
		Region: "eu-central-1", BaseEndpoint: aws.String(loopback.URL), HTTPClient: loopback.Client(tables.Handler()),
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	})
}

func TestEmbedded(t *testing.T) {
	t.Parallel()
	testStore(t, embedded(t))
}

func TestMoto(t *testing.T) {
	t.Parallel()
	testStore(t, client(t))
}

func testStore(t *testing.T, c *dynamodb.Client) {
	t.Helper()
	var tables atomic.Int64
	storetest.Run(t, func(t *testing.T) shared.Store {
		name := "breakers-" + strconv.FormatInt(tables.Add(1), 10)
		if _, err := c.CreateTable(t.Context(), dynamostore.Table(name)); err != nil {
			t.Fatal(err)
		}
		return &dynamostore.Store{Client: c, Table: name}
	})
	t.Run("an item that somebody edited", func(t *testing.T) {
		t.Parallel()
		if _, err := c.CreateTable(t.Context(), dynamostore.Table("edited")); err != nil {
			t.Fatal(err)
		}
		for callee, item := range map[string]map[string]types.AttributeValue{
			"record": {"record": &types.AttributeValueMemberS{Value: `{"breaker":{"v":1,"circuit":"ajar"}}`}},
			"number": {"asked": &types.AttributeValueMemberS{Value: "many"}},
		} {
			item["callee"] = &types.AttributeValueMemberS{Value: callee}
			if _, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("edited"),
				Item: item}); err != nil {
				t.Fatal(err)
			}
			s := &dynamostore.Store{Client: c, Table: "edited"}
			_, _, err := s.Add(t.Context(), callee, limiter.Tally{})
			if err == nil || !strings.Contains(err.Error(), "delete the item to start over") {
				t.Errorf("%s: %v", callee, err)
			}
		}
	})
}

func TestNoTable(t *testing.T) {
	t.Parallel()
	s := &dynamostore.Store{Client: refusing{}, Table: "gone"}
	_, _, err := s.Add(t.Context(), "db", limiter.Tally{})
	if want := "shared state of db in table gone: no such table"; err == nil ||
		!strings.Contains(err.Error(), "shared state of db in table gone") {
		t.Errorf("error is %v, want %q", err, want)
	}
	if won, err := s.Replace(t.Context(), "db", shared.Record{Version: 1}, limiter.Tally{}); won || err == nil {
		t.Errorf("replaced in no table: %v, %v", won, err)
	}
}

type refusing struct{}

func (refusing) GetItem(
	context.Context,
	*dynamodb.GetItemInput,
	...func(*dynamodb.Options),
) (*dynamodb.GetItemOutput, error) {
	return nil, &types.ResourceNotFoundException{Message: aws.String("no such table")}
}

func (refusing) UpdateItem(
	context.Context,
	*dynamodb.UpdateItemInput,
	...func(*dynamodb.Options),
) (*dynamodb.UpdateItemOutput, error) {
	return nil, &types.ResourceNotFoundException{Message: aws.String("no such table")}
}
