package dynamostore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"stepback/adaptive/limiter"
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

const addCounters = "ADD asked :asked, admitted :admitted, successes :successes, failures :failures, busy :busy"

func counters(t limiter.Tally) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		":asked": number(
			t.Asked,
		), ":admitted": number(t.Admitted), ":successes": number(t.Successes), ":failures": number(t.Failures),
		":busy": number(int64(t.Busy)),
	}
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
	var numbers [6]int64
	for i, name := range []string{"asked", "admitted", "successes", "failures", "busy", versionAttribute} {
		value, ok := item[name]
		if !ok {
			continue
		}
		n, ok := value.(*types.AttributeValueMemberN)
		if !ok {
			return record, limiter.Tally{}, fmt.Errorf("attribute %s is a %T, not a number", name, value)
		}
		var err error
		if numbers[i], err = strconv.ParseInt(n.Value, 10, 64); err != nil {
			return record, limiter.Tally{}, fmt.Errorf("attribute %s: %w", name, err)
		}
	}
	record.Version = numbers[5]
	return record, limiter.Tally{
		Asked: numbers[0], Admitted: numbers[1], Successes: numbers[2], Failures: numbers[3],
		Busy: time.Duration(numbers[4]),
	}, nil
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
