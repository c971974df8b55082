// Package dynamosource reads configurations from a DynamoDB table, retry_configurations in the source design. The key
// attribute state_machine is a state machine's name; the attribute config is the configuration as JSON. The package
// writes nothing; adaptive/controller does.
package dynamosource

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"stepback/adaptive/configuration"
)

// Client is the part of the DynamoDB client that a [Source] uses.
type Client interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
}

// Source implements configuration.Source. Set its fields before use.
type Source struct {
	Client Client
	// Table is the table's name.
	Table string
}

// Load implements configuration.Source. The result may be a second old.
func (s Source) Load(ctx context.Context, machine string) (*configuration.Configuration, error) {
	out, err := s.Client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.Table,
		Key:       map[string]types.AttributeValue{"state_machine": &types.AttributeValueMemberS{Value: machine}},
	})
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", s.Table, err)
	}
	if len(out.Item) == 0 {
		return nil, nil
	}
	config, ok := out.Item["config"].(*types.AttributeValueMemberS)
	if !ok {
		return nil, fmt.Errorf("table %s: the item of %s has no text in config; delete it to start over", s.Table, machine)
	}
	c, err := configuration.Decode([]byte(config.Value))
	if err != nil {
		return nil, fmt.Errorf("table %s: the item of %s: %w", s.Table, machine, err)
	}
	return c, nil
}
