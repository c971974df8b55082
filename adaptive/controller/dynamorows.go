package controller

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
)

// DynamoDB is the part of the DynamoDB client that [DynamoRows] uses.
type DynamoDB interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
}

// DynamoRows are Rows in a DynamoDB table, retry_configurations in the source design: the key is the attribute
// state_machine, an ARN; the row is JSON in config; ttl is the table's TTL attribute.
type DynamoRows struct {
	Client DynamoDB
	Table  string
	// Now is the clock of the items' expiry; the machine's when nil.
	Now func() time.Time
}

// rowFor is how long a row outlives the last tick of its controller.
const rowFor = 90 * 24 * time.Hour

// Load implements [Rows].
func (d *DynamoRows) Load(ctx context.Context, machine string) (Row, error) {
	out, err := d.Client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &d.Table, ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{"state_machine": &types.AttributeValueMemberS{Value: machine}},
	})
	if err != nil {
		return Row{}, fmt.Errorf("table %s: %w", d.Table, err)
	}
	config, ok := out.Item["config"].(*types.AttributeValueMemberS)
	if !ok {
		if len(out.Item) > 0 {
			return Row{}, fmt.Errorf(
				"table %s: the row of %s has no text in config; delete it to begin anew",
				d.Table,
				machine,
			)
		}
		return Row{Machine: machine}, nil
	}
	return decoded(machine, []byte(config.Value))
}

// Save implements [Rows].
func (d *DynamoRows) Save(ctx context.Context, r Row) (Row, error) {
	next := r
	next.Version++
	text, err := json.Marshal(next)
	if err != nil {
		return r, err
	}
	now := time.Now
	if d.Now != nil {
		now = d.Now
	}
	number := func(n int64) types.AttributeValue {
		return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
	}
	in := &dynamodb.PutItemInput{
		TableName: &d.Table, ConditionExpression: aws.String("#version = :old"),
		ExpressionAttributeNames:  map[string]string{"#version": "version"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":old": number(r.Version)},
		Item: map[string]types.AttributeValue{
			"state_machine": &types.AttributeValueMemberS{Value: r.Machine},
			"config":        &types.AttributeValueMemberS{Value: string(text)},
			"updated_at":    &types.AttributeValueMemberS{Value: now().UTC().Format(time.RFC3339)},
			"version":       number(next.Version),
			"ttl":           number(now().Add(rowFor).Unix()),
		},
	}
	if r.Version == 0 {
		in.ConditionExpression = aws.String("attribute_not_exists(#version)")
		in.ExpressionAttributeValues = nil
	}
	_, err = d.Client.PutItem(ctx, in)
	var changed *types.ConditionalCheckFailedException
	switch {
	case errors.As(err, &changed):
		return r, ErrConflict
	case err != nil:
		return r, fmt.Errorf("table %s: %w", d.Table, err)
	}
	return next, nil
}

// RowTable is what CreateTable wants for [DynamoRows]: on-demand capacity, and one key.
func RowTable(name string) *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("state_machine"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("state_machine"), KeyType: types.KeyTypeHash},
		},
	}
}
