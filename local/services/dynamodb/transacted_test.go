package dynamodb_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// TestAnswersByHand compares the status and the text of responses with those that were recorded from DynamoDB.
func TestAnswersByHand(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create()
	deep := &types.AttributeValueMemberM{Value: attrs{"x": s("deep"),
		"l": &types.AttributeValueMemberL{Value: []types.AttributeValue{n(1), n(2)}}}}
	b.put(with(id("a", 1), attrs{"m": deep}))
	const key = `{"pk":{"S":"a"},"sk":{"N":"1"}}`
	const canceled = `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException",` +
		`"Message":"Transaction cancelled, please refer cancellation reasons for specific reasons `
	const emptyKey = "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an " +
		"empty string value. Key: pk"
	for _, c := range []struct {
		about, operation, body string
		status                 int
		want                   string
	}{
		{"a failed condition with the item", "PutItem", `{"TableName":"things","Item":` + key + `,"ConditionExpression":` +
			`"attribute_not_exists(pk)","ReturnValuesOnConditionCheckFailure":"ALL_OLD"}`, http.StatusBadRequest,
			`"Message":"The conditional request failed"`},
		{"a failed condition", "PutItem", `{"TableName":"things","Item":` + key + `,"ConditionExpression":` +
			`"attribute_not_exists(pk)"}`, http.StatusBadRequest, `"message":"The conditional request failed"`},
		{"a key of another type in a read", "TransactGetItems",
			`{"TransactItems":[{"Get":{"TableName":"things","Key":` + key + `}},{"Get":{"TableName":"things","Key":{"pk":{"S":"a"}}}}]}`,
			http.StatusBadRequest, canceled + `[None, ValidationError]","CancellationReasons":[{"Code":"None"},` +
				`{"Code":"ValidationError","Message":"The provided key element does not match the schema"}]}`},
		{"a key of another type in a write", "TransactWriteItems",
			`{"TransactItems":[{"Delete":{"TableName":"things","Key":{"pk":{"N":"1"},"sk":{"N":"1"}}}}]}`, http.StatusBadRequest,
			canceled + `[ValidationError]","CancellationReasons":[{"Code":"ValidationError",` +
				`"Message":"The provided key element does not match the schema"}]}`},
		{"an empty key to delete", "TransactWriteItems",
			`{"TransactItems":[{"Delete":{"TableName":"things","Key":{"pk":{"S":""},"sk":{"N":"1"}}}}]}`, http.StatusBadRequest,
			`#ValidationException","message":"` + emptyKey},
		{"an empty key to put", "TransactWriteItems",
			`{"TransactItems":[{"Put":{"TableName":"things","Item":{"pk":{"S":""},"sk":{"N":"1"}}}}]}`, http.StatusBadRequest,
			`#ValidationException","message":"` + emptyKey},
		{"an empty key of an index", "TransactWriteItems",
			`{"TransactItems":[{"Put":{"TableName":"things","Item":{"pk":{"S":"a"},"sk":{"N":"1"},"color":{"S":""}}}}]}`,
			http.StatusBadRequest, `#ValidationException","message":"One or more parameter values are not valid. A value specified for a ` +
				`secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty string value. ` +
				`IndexName: by-color, IndexKey: color"`},
		{"a transaction", "TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"things","Item":` + key +
			`}}],"ClientRequestToken":"one","ReturnConsumedCapacity":"TOTAL"}`, http.StatusOK,
			`{"ConsumedCapacity":[{"TableName":"things","CapacityUnits":2,"WriteCapacityUnits":2}]}`},
		{"its repetition, which only reads", "TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"things","Item":` + key +
			`}}],"ClientRequestToken":"one","ReturnConsumedCapacity":"TOTAL"}`, http.StatusOK,
			`{"ConsumedCapacity":[{"TableName":"things","CapacityUnits":2,"ReadCapacityUnits":2}]}`},
		{"reading statements", "ExecuteTransaction", `{"TransactStatements":[{"Statement":` +
			`"SELECT * FROM things WHERE pk='a' AND sk=1"}],"ReturnConsumedCapacity":"TOTAL"}`, http.StatusOK,
			`"ConsumedCapacity":[{"TableName":"things","CapacityUnits":2,"ReadCapacityUnits":2}]`},
		{"a long name", "PutItem", `{"TableName":"` + strings.Repeat("x", 256) + `","Item":{}}`, http.StatusBadRequest,
			`' at 'tableName' failed to satisfy constraint: Member must have length less than or equal to 255"`},
		{"a short name", "CreateTable", `{"TableName":"ab","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],` +
			`"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"BillingMode":"PAY_PER_REQUEST"}`,
			http.StatusBadRequest, `"1 validation error detected: Value 'ab' at 'tableName' failed to satisfy constraint: ` +
				`Member must have length greater than or equal to 3"`},
	} {
		status, _, got := b.ask(c.operation, c.body, nil)
		if status != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%s: %d %s\nwant %d %s", c.about, status, got, c.status, c.want)
		}
	}
	b.put(with(id("a", 1), attrs{"m": deep}))
	b.ran("x=deep", `SELECT m.x FROM things WHERE pk = 'a' -- the name of the member`)
	b.ran("pk=a x=deep", `SELECT pk, m.x, m.y FROM things WHERE pk = 'a' AND sk = 1`)
	b.ran("m={l=[1]} x=deep", `SELECT m.x, m.l[0] FROM things WHERE pk = 'a'`)
}
