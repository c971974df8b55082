package dynamodb_test

import (
	"errors"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	client "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// TestLimitsOfExpressions checks the limits of expressions and of the names of attributes.
func TestLimitsOfExpressions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create()
	update := func(expression, condition string, names map[string]string, values attrs) error {
		in := &client.UpdateItemInput{TableName: sdk.String("things"), Key: id("a", 1), UpdateExpression: &expression,
			ExpressionAttributeNames: names, ExpressionAttributeValues: values}
		if condition != "" {
			in.ConditionExpression = &condition
		}
		_, err := b.UpdateItem(t.Context(), in)
		return err
	}
	project := func(expression string) error {
		_, err := b.GetItem(t.Context(), &client.GetItemInput{TableName: sdk.String("things"), Key: id("a", 1),
			ProjectionExpression: &expression})
		return err
	}
	one := attrs{":x": n(1)}
	lists := attrs{":x": &types.AttributeValueMemberL{Value: []types.AttributeValue{n(1)}}}
	for _, c := range []struct {
		err  error
		want string
	}{
		{update("SET z = :x", strings.Repeat("a<b or ", 150)+"a<b", nil, one), "Invalid ConditionExpression: The expression contains too many operators; operator count: 301"},
		{update("SET z = :x", strings.Repeat("not ", 400)+"a<b", nil, one), "Invalid ConditionExpression: The expression contains too many operators; operator count: 301"},
		{update("SET z = :x", "a in (b"+strings.Repeat(",b", 99)+")", nil, one), "Invalid ConditionExpression: The IN operator is provided with too many operands; number of operands: 101"},
		{update("SET z = list_append(list_append(:x, :x), :x)", "", nil, lists), "Invalid UpdateExpression: The function is not allowed to be used this way in an expression; function: list_append"},
		{update("SET z = if_not_exists(z, :x + :x)", "", nil, one), "Invalid UpdateExpression: Syntax error; token: \"+\", near: \":x + :x\""},
		{project("a" + strings.Repeat(".b", 32)), "Invalid ProjectionExpression: The document path has too many nesting levels; nesting levels: 33"},
		{project("a[99999999999999]"), "Invalid ProjectionExpression: List index is not within the allowable range; index: [99999999999999]"},
		{update("SET #n = :x", "", map[string]string{"#n": ""}, one), "ExpressionAttributeNames contains invalid value: Empty attribute name for key #n"},
	} {
		refused(t, c.err, "ValidationException", c.want)
	}
	for name, err := range map[string]error{
		"150 operators":         update("SET z = :x", strings.Repeat("a<>b or ", 74)+"a<>b", nil, one),
		"100 operands of IN":    update("SET z = :x", "q <> r and not a in (b"+strings.Repeat(",b", 98)+")", nil, one),
		"unequal, both missing": update("SET z = :x", "q <> r", nil, one),
		"32 levels":             project("a" + strings.Repeat(".b", 31)),
		"nested if_not_exists":  update("SET z = list_append(if_not_exists(l, :x), :x)", "", nil, lists),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := b.UpdateItem(t.Context(), &client.UpdateItemInput{TableName: sdk.String("things"), Key: id("a", 1),
		AttributeUpdates: map[string]types.AttributeValueUpdate{"z": {Action: "ADD", Value: n(1)}}})
	refused(t, err, "ValidationException", "Type mismatch for attribute to update")
}

// TestChangesOfIndexes checks which changes of indexes UpdateTable refuses, and what a new index leaves out.
func TestChangesOfIndexes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create()
	for i, length := range []int{1024, 1025, 2048, 2049} {
		if _, err := b.PutItem(t.Context(), &client.PutItemInput{TableName: sdk.String("things"),
			Item: with(id("a", i), attrs{"x": s(strings.Repeat("x", length))})}); err != nil {
			t.Fatal(err)
		}
	}
	create := func(name string, of ...string) types.GlobalSecondaryIndexUpdate {
		return types.GlobalSecondaryIndexUpdate{Create: &types.CreateGlobalSecondaryIndexAction{IndexName: &name,
			KeySchema:  keys(of...),
			Projection: everything()}}
	}
	change := func(definitions []types.AttributeDefinition, updates ...types.GlobalSecondaryIndexUpdate) error {
		_, err := b.UpdateTable(
			t.Context(),
			&client.UpdateTableInput{TableName: sdk.String("things"), AttributeDefinitions: definitions,
				GlobalSecondaryIndexUpdates: updates},
		)
		return err
	}
	x := attributes("x:S")
	refused(
		t,
		change(nil),
		"ValidationException",
		"At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required",
	)
	refused(
		t,
		change(x, create("one", "x"), create("two", "x")),
		"LimitExceededException",
		"Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table",
	)
	refused(
		t,
		change(x, create("by-color", "x")),
		"ValidationException",
		"Attempting to create an index which already exists",
	)
	refused(
		t,
		change(attributes("n:S"), create("by-n2", "n")),
		"ValidationException",
		"One or more parameter values were invalid: Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. Existing schema: Schema:[SchemaElement: key{n:N:HASH}] New schema: Schema:[SchemaElement: key{n:S:HASH}]",
	)
	both := create("one", "x")
	both.Delete = &types.DeleteGlobalSecondaryIndexAction{IndexName: sdk.String("by-color")}
	if err := change(x, both); err == nil {
		t.Error("a change that creates and deletes is accepted")
	}
	if err := errors.Join(
		change(x, create("as-hash", "x")),
		change(attributes("x:S", "pk:S"), create("as-range", "pk", "x")),
	); err != nil {
		t.Fatal(err)
	}
	for index, want := range map[string]int32{"as-hash": 3, "as-range": 1} {
		out, err := b.Scan(
			t.Context(),
			&client.ScanInput{TableName: sdk.String("things"), IndexName: &index, Select: "COUNT"},
		)
		if err != nil || out.Count != want {
			t.Errorf("%s: %+v, %v; want %d items", index, out, err, want)
		}
	}
	gone, err := b.DeleteTable(t.Context(), &client.DeleteTableInput{TableName: sdk.String("things")})
	if err != nil || gone.TableDescription.KeySchema != nil || gone.TableDescription.GlobalSecondaryIndexes != nil ||
		gone.TableDescription.LocalSecondaryIndexes != nil {
		t.Errorf("deleted: %+v, %v", gone, err)
	}
}

// TestBadItemsOfTransactions checks the reasons of transactions whose items do not fit the table.
func TestBadItemsOfTransactions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create()
	put := func(i attrs) types.TransactWriteItem {
		return types.TransactWriteItem{Put: &types.Put{TableName: sdk.String("things"), Item: i}}
	}
	_, err := b.TransactWriteItems(
		t.Context(),
		&client.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			put(id("a", 1)), put(attrs{"pk": s("a"), "sk": s("b")}), put(attrs{"pk": s("a"), "sk": s("c")})}},
	)
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) || len(cancelled.CancellationReasons) != 3 {
		t.Fatalf("%v", err)
	}
	for i, want := range []string{"None", "ValidationError", "None"} {
		if got := *cancelled.CancellationReasons[i].Code; got != want {
			t.Errorf("reason %d: %s, want %s", i, got, want)
		}
	}
	var large []types.TransactWriteItem
	for i := range 11 {
		large = append(large, put(with(id("a", i), attrs{"x": s(strings.Repeat("x", 390_000))})))
	}
	_, err = b.TransactWriteItems(t.Context(), &client.TransactWriteItemsInput{TransactItems: large})
	refused(t, err, "ValidationException", "Transaction request size cannot exceed 4 MB")
}

// TestBadRequestsAboutStreams checks what the operations of streams refuse.
func TestBadRequestsAboutStreams(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create()
	d, err := b.DescribeTable(t.Context(), &client.DescribeTableInput{TableName: sdk.String("things")})
	if err != nil {
		t.Fatal(err)
	}
	arn, ctx := d.Table.LatestStreamArn, t.Context()
	stream, err := b.streams.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: arn})
	if err != nil {
		t.Fatal(err)
	}
	shard := stream.StreamDescription.Shards[0]
	at, err := b.streams.GetShardIterator(
		ctx,
		&dynamodbstreams.GetShardIteratorInput{StreamArn: arn, ShardId: shard.ShardId, ShardIteratorType: "LATEST"},
	)
	if err != nil {
		t.Fatal(err)
	}
	_, e1 := b.streams.GetRecords(
		ctx,
		&dynamodbstreams.GetRecordsInput{ShardIterator: at.ShardIterator, Limit: sdk.Int32(1001)},
	)
	_, e2 := b.streams.ListStreams(ctx, &dynamodbstreams.ListStreamsInput{Limit: sdk.Int32(101)})
	_, e3 := b.streams.ListStreams(
		ctx,
		&dynamodbstreams.ListStreamsInput{ExclusiveStartStreamArn: sdk.String(strings.Repeat("x", 40))},
	)
	_, e4 := b.streams.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: arn,
		ShardFilter: &streamtypes.ShardFilter{ShardId: shard.ShardId}})
	_, e5 := b.streams.DescribeStream(
		ctx,
		&dynamodbstreams.DescribeStreamInput{
			StreamArn:   arn,
			ShardFilter: &streamtypes.ShardFilter{Type: "CHILD_SHARDS"},
		},
	)
	_, e6 := b.streams.GetShardIterator(
		ctx,
		&dynamodbstreams.GetShardIteratorInput{StreamArn: arn, ShardId: shard.ShardId, ShardIteratorType: "LATEST",
			SequenceNumber: shard.SequenceNumberRange.StartingSequenceNumber},
	)
	for i, err := range []error{e1, e2, e3, e4, e5, e6} {
		if err == nil || !strings.Contains(err.Error(), "ValidationException") {
			t.Errorf("request %d: %v", i+1, err)
		}
	}
	after, err := b.streams.DescribeStream(
		ctx,
		&dynamodbstreams.DescribeStreamInput{
			StreamArn:             arn,
			ExclusiveStartShardId: sdk.String("shardId-" + strings.Repeat("9", 30)),
		},
	)
	if err != nil || len(after.StreamDescription.Shards) != 0 {
		t.Errorf("after the last shard: %+v, %v", after, err)
	}
}

// TestTagsWithOtherCharacters checks what tags may contain, and what may have tags.
func TestTagsWithOtherCharacters(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create()
	const arn = "arn:aws:dynamodb:eu-west-1:111111111111:table/things"
	for _, c := range []struct{ arn, key, value, want string }{
		{arn, "hi!", "x", "One or more parameter values were invalid: Tag keys and values may contain only letters, digits, spaces and the characters + - = . _ : / @"},
		{arn, "x", "d%g", "One or more parameter values were invalid: Tag keys and values may contain only letters, digits, spaces and the characters + - = . _ : / @"},
		{arn + "/index/by-n", "x", "y", "Invalid TableArn: Invalid ResourceArn provided as input " + arn + "/index/by-n"},
	} {
		_, err := b.TagResource(t.Context(), &client.TagResourceInput{ResourceArn: &c.arn,
			Tags: []types.Tag{{Key: &c.key, Value: &c.value}}})
		refused(t, err, "ValidationException", c.want)
	}
	if _, err := b.TagResource(t.Context(), &client.TagResourceInput{ResourceArn: sdk.String(arn),
		Tags: []types.Tag{{Key: sdk.String("größe"), Value: sdk.String("a b+c-d=e.f_g:h/i@j")}}}); err != nil {
		t.Error(err)
	}
}
