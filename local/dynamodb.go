package local

import (
	"context"
	"path/filepath"

	"stepback/aws"
	"stepback/local/endpoint"
	"stepback/local/services/dynamodb"
)

// openTables opens DynamoDB and its streams.
func (p *Platform) openTables(context.Context) (err error) {
	p.Tables, err = dynamodb.Open(dynamodb.Options{Dir: filepath.Join(p.Dir, tablesDir), Clock: p.Clock, Scope: p.Scope,
		Disk: p.disk(), Log: p.cfg.Log,
		Key: func(scope aws.Scope, alias string) (string, error) { return p.Keys.ARN(scope, alias) }}) // opened later
	if err != nil {
		return err
	}
	p.onClose(p.Tables.Close)
	p.offer(served{model: "dynamodb", store: tablesDir, about: "tables in " + filepath.Join(p.Dir, "dynamodb"),
		Service: endpoint.Service{Name: "DynamoDB", Signing: "dynamodb", Target: "DynamoDB_20120810",
			Handler: lazily(p.Tables.Handler)}})
	p.offer(served{model: "dynamodbstreams", store: tablesDir, about: "changes of the tables, kept for a day",
		Service: endpoint.Service{Name: "DynamoDB Streams", Signing: "dynamodb", Target: "DynamoDBStreams_20120810",
			Handler: lazily(p.Tables.StreamsHandler)}})
	return nil
}
