package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/smithy-go"
)

// Caller is the part of *client.Named that the controller needs: it calls operations by name, with an input and an
// output that encoding/json encodes and decodes.
type Caller interface {
	Call(ctx context.Context, operation string, in, out any) error
}

// DynamoRows implements Rows in a DynamoDB table, retry_configurations in the source design: the key is the attribute
// state_machine, an ARN; the row is JSON in config; ttl is the table's TTL attribute.
type DynamoRows struct {
	// Client calls the service "dynamodb".
	Client Caller
	Table  string
	// Now is the clock for the items' expiry; nil means the machine's.
	Now func() time.Time
}

// rowFor is the time for which a row is kept after the last tick of its controller.
const rowFor = 90 * 24 * time.Hour

// Load implements [Rows].
func (d *DynamoRows) Load(ctx context.Context, machine string) (Row, error) {
	var out struct{ Item map[string]attribute }
	err := d.Client.Call(ctx, "GetItem", getItem{
		TableName: d.Table, ConsistentRead: true, Key: map[string]attribute{"state_machine": {S: &machine}},
	}, &out)
	if err != nil {
		return Row{}, fmt.Errorf("table %s: %w", d.Table, err)
	}
	config := out.Item["config"].S
	if config == nil {
		if len(out.Item) > 0 {
			return Row{}, fmt.Errorf("table %s: the row of %s has no text in config; delete it to start over", d.Table,
				machine)
		}
		return Row{Machine: machine}, nil
	}
	return decoded(machine, []byte(*config))
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
	in := putItem{
		TableName: d.Table, ConditionExpression: "#version = :old",
		ExpressionAttributeNames:  map[string]string{"#version": "version"},
		ExpressionAttributeValues: map[string]attribute{":old": number(r.Version)},
		Item: map[string]attribute{
			"state_machine": words(r.Machine),
			"config":        words(string(text)),
			"updated_at":    words(now().UTC().Format(time.RFC3339)),
			"version":       number(next.Version),
			"ttl":           number(now().Add(rowFor).Unix()),
		},
	}
	if r.Version == 0 {
		in.ConditionExpression = "attribute_not_exists(#version)"
		in.ExpressionAttributeValues = nil
	}
	err = d.Client.Call(ctx, "PutItem", in, nil)
	var changed smithy.APIError
	switch {
	case errors.As(err, &changed) && changed.ErrorCode() == "ConditionalCheckFailedException":
		return r, ErrConflict
	case err != nil:
		return r, fmt.Errorf("table %s: %w", d.Table, err)
	}
	return next, nil
}

// attribute is an AttributeValue; rows use only strings and numbers.
type attribute struct {
	S *string `json:",omitempty"`
	N *string `json:",omitempty"`
}

func words(s string) attribute { return attribute{S: &s} }

func number(n int64) attribute {
	digits := strconv.FormatInt(n, 10)
	return attribute{N: &digits}
}

// getItem and putItem are the inputs of GetItem and PutItem.
type (
	getItem struct {
		TableName      string
		ConsistentRead bool
		Key            map[string]attribute
	}
	putItem struct {
		TableName                 string
		Item                      map[string]attribute
		ConditionExpression       string               `json:",omitempty"`
		ExpressionAttributeNames  map[string]string    `json:",omitempty"`
		ExpressionAttributeValues map[string]attribute `json:",omitempty"`
	}
)
