package dynamostore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"stepback/adaptive/limiter"
	"stepback/adaptive/poison"
	"stepback/adaptive/shared"
)

// Client is the part of the DynamoDB client that a [Store] uses.
type Client interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	UpdateItem(
		context.Context,
		*dynamodb.UpdateItemInput,
		...func(*dynamodb.Options),
	) (*dynamodb.UpdateItemOutput, error)
}

// Store implements shared.Store. Set its fields before use; it is safe for concurrent use.
type Store struct {
	Client Client
	// Table is the table's name.
	Table string
	// Now is the clock for the items' expiry; nil means the machine's.
	Now func() time.Time
}

// The attributes of an item.
const (
	keyAttribute     = "callee"
	recordAttribute  = "record"
	versionAttribute = "version"
	ttlAttribute     = "ttl"
)

// keepFor is the time for which an item is kept after its last call.
const keepFor = 24 * time.Hour

// Add implements [shared.Store].
func (s *Store) Add(ctx context.Context, callee string, t limiter.Tally) (shared.Record, limiter.Tally, error) {
	var item map[string]types.AttributeValue
	if t == (limiter.Tally{}) {
		out, err := s.Client.GetItem(ctx,
			&dynamodb.GetItemInput{TableName: &s.Table, Key: key(callee), ConsistentRead: aws.Bool(true)})
		if err != nil {
			return shared.Record{}, t, s.failed(callee, err)
		}
		item = out.Item
	} else {
		in := &dynamodb.UpdateItemInput{
			TableName: &s.Table, Key: key(callee), ReturnValues: types.ReturnValueAllNew,
			UpdateExpression:          aws.String("SET #ttl = :ttl " + addCounters),
			ExpressionAttributeNames:  map[string]string{"#ttl": ttlAttribute},
			ExpressionAttributeValues: counters(t),
		}
		in.ExpressionAttributeValues[":ttl"] = number(s.expiry())
		out, err := s.Client.UpdateItem(ctx, in)
		if err != nil {
			return shared.Record{}, t, s.failed(callee, err)
		}
		item = out.Attributes
	}
	record, tally, err := decodeItem(item)
	if err != nil {
		return record, tally, fmt.Errorf("shared state of %s in table %s: %w; delete the item to start over", callee,
			s.Table, err)
	}
	return record, tally, nil
}

// Replace implements [shared.Store].
func (s *Store) Replace(ctx context.Context, callee string, next shared.Record, taken limiter.Tally) (bool, error) {
	text, err := json.Marshal(next)
	if err != nil {
		return false, err
	}
	in := &dynamodb.UpdateItemInput{
		TableName: &s.Table, Key: key(callee),
		UpdateExpression:    aws.String("SET #record = :record, #version = :next, #ttl = :ttl " + addCounters),
		ConditionExpression: aws.String("#version = :old"),
		ExpressionAttributeNames: map[string]string{
			"#record":  recordAttribute,
			"#version": versionAttribute,
			"#ttl":     ttlAttribute,
		},
		ExpressionAttributeValues: counters(taken.Negative()),
	}
	if next.Version == 1 {
		in.ConditionExpression = aws.String("attribute_not_exists(#version)")
	} else {
		in.ExpressionAttributeValues[":old"] = number(next.Version - 1)
	}
	in.ExpressionAttributeValues[":record"] = &types.AttributeValueMemberS{Value: string(text)}
	in.ExpressionAttributeValues[":next"] = number(next.Version)
	in.ExpressionAttributeValues[":ttl"] = number(s.expiry())
	_, err = s.Client.UpdateItem(ctx, in)
	var changed *types.ConditionalCheckFailedException
	switch {
	case errors.As(err, &changed):
		return false, nil
	case err != nil:
		return false, s.failed(callee, err)
	}
	return true, nil
}

func (s *Store) failed(callee string, err error) error {
	return fmt.Errorf("shared state of %s in table %s: %w", callee, s.Table, err)
}

func (s *Store) expiry() int64 {
	now := time.Now
	if s.Now != nil {
		now = s.Now
	}
	return now().Add(keepFor).Unix()
}

// counterAttributes are the attributes that hold a tally, in the order of numbers.
var counterAttributes = []string{
	"asked", "admitted", "successes", "failures", "busy", "lost", "ended", "failed", "firsts", "firstFailures",
	"retried1", "retried2", "retried3", "recovered1", "recovered2", "recovered3",
	"timeoutsRetried1", "timeoutsRetried2", "timeoutsRetried3",
	"timeoutsRecovered1", "timeoutsRecovered2", "timeoutsRecovered3", "spared",
}

// numbers returns the fields of a tally in the order of counterAttributes.
func numbers(t *limiter.Tally) []*int64 {
	a := &t.Attempts
	numbers := []*int64{
		&t.Asked, &t.Admitted, &t.Successes, &t.Failures, (*int64)(&t.Busy), (*int64)(&t.Lost), &a.Ended, &a.Failed,
		&a.First, &a.FirstFailed,
	}
	for k := range poison.Kinds {
		numbers = append(numbers, &a.Retried[k][0], &a.Retried[k][1], &a.Retried[k][2], &a.Recovered[k][0],
			&a.Recovered[k][1], &a.Recovered[k][2])
	}
	return append(numbers, (*int64)(&t.Spared))
}

var addCounters = func() string {
	terms := make([]string, len(counterAttributes))
	for i, name := range counterAttributes {
		terms[i] = name + " :" + name
	}
	return "ADD " + strings.Join(terms, ", ")
}()

func counters(t limiter.Tally) map[string]types.AttributeValue {
	values := map[string]types.AttributeValue{}
	for i, n := range numbers(&t) {
		values[":"+counterAttributes[i]] = number(*n)
	}
	return values
}

func key(callee string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{keyAttribute: &types.AttributeValueMemberS{Value: callee}}
}

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// decodeItem decodes an item. A missing attribute is zero; one of the wrong type or with an impossible value is an
// error.
func decodeItem(item map[string]types.AttributeValue) (shared.Record, limiter.Tally, error) {
	var record shared.Record
	if text, ok := item[recordAttribute].(*types.AttributeValueMemberS); ok {
		if err := json.Unmarshal([]byte(text.Value), &record); err != nil {
			return shared.Record{}, limiter.Tally{}, err
		}
	}
	var tally limiter.Tally
	names, fields := counterAttributes, numbers(&tally)
	for i, name := range append(names[:len(names):len(names)], versionAttribute) {
		value, ok := item[name]
		if !ok {
			continue
		}
		n, ok := value.(*types.AttributeValueMemberN)
		if !ok {
			return record, limiter.Tally{}, fmt.Errorf("attribute %s is a %T, not a number", name, value)
		}
		field := &record.Version
		if i < len(fields) {
			field = fields[i]
		}
		var err error
		if *field, err = strconv.ParseInt(n.Value, 10, 64); err != nil {
			return record, limiter.Tally{}, fmt.Errorf("attribute %s: %w", name, err)
		}
	}
	return record, tally, nil
}

// Table returns the input for CreateTable: on-demand capacity, and one key.
func Table(name string) *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String(keyAttribute), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String(keyAttribute), KeyType: types.KeyTypeHash},
		},
	}
}
