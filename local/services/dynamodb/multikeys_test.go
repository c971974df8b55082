package dynamodb_test

import (
	"fmt"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	client "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// keySchema returns the key schema of names such as "h1 h2 / r1 r2".
func keySchema(names string) (all []types.KeySchemaElement) {
	kind := types.KeyTypeHash
	for name := range strings.FieldsSeq(names) {
		if name == "/" {
			kind = types.KeyTypeRange
			continue
		}
		all = append(all, types.KeySchemaElement{AttributeName: &name, KeyType: kind})
	}
	return all
}

// createMulti creates a table with the key pk and a global index with the given key.
func (b *bench) createMulti(name, keys string) error {
	in := &client.CreateTableInput{TableName: &name, BillingMode: types.BillingModePayPerRequest, KeySchema: keySchema("pk"),
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: sdk.String("pk"), AttributeType: "S"}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{IndexName: sdk.String("multi"), KeySchema: keySchema(keys),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll}}}}
	seen := map[string]bool{}
	for _, k := range in.GlobalSecondaryIndexes[0].KeySchema {
		kind := types.ScalarAttributeTypeS
		if strings.HasPrefix(*k.AttributeName, "n") {
			kind = types.ScalarAttributeTypeN
		}
		if !seen[*k.AttributeName] {
			in.AttributeDefinitions = append(in.AttributeDefinitions,
				types.AttributeDefinition{AttributeName: k.AttributeName,
					AttributeType: kind})
		}
		seen[*k.AttributeName] = true
	}
	_, err := b.CreateTable(b.t.Context(), in)
	return err
}

// TestKeysOfSeveralAttributes queries a global index whose keys have two attributes each.
func TestKeysOfSeveralAttributes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if err := b.createMulti("games", "league team / n weekday"); err != nil {
		t.Fatal(err)
	}
	for i, g := range []struct{ league, team, n, day string }{{"a", "x", "1", "mon"}, {"a", "x", "1", "tue"},
		{"a", "x", "10", "mon"}, {"a", "x", "2", "wed"}, {"a", "y", "1", "mon"}, {"ax", "", "1", "mon"}, {"a", "x", "3", ""}} {
		put := attrs{"pk": s(fmt.Sprint(i)), "league": s(g.league), "n": &types.AttributeValueMemberN{Value: g.n}}
		if g.team != "" {
			put["team"] = s(g.team)
		}
		if g.day != "" {
			put["weekday"] = s(g.day)
		}
		if _, err := b.PutItem(t.Context(), &client.PutItemInput{TableName: sdk.String("games"), Item: put}); err != nil {
			t.Fatal(err)
		}
	}
	b.crash()
	values := attrs{":l": s("a"), ":t": s("x"), ":one": &types.AttributeValueMemberN{Value: "1"}, ":two": &types.AttributeValueMemberN{Value: "2"},
		":d": s("t")}
	query := func(condition string, backward bool, limit int32) string {
		in := &client.QueryInput{TableName: sdk.String("games"), IndexName: sdk.String("multi"), KeyConditionExpression: &condition,
			ScanIndexForward: sdk.Bool(!backward), ExpressionAttributeValues: attrs{}}
		if limit > 0 {
			in.Limit = &limit
		}
		for name, v := range values {
			if strings.Contains(condition, name) {
				in.ExpressionAttributeValues[name] = v
			}
		}
		var found []string
		for {
			out, err := b.Query(t.Context(), in)
			if err != nil {
				return err.Error()[strings.LastIndex(err.Error(), "ValidationException"):]
			}
			for _, i := range out.Items {
				found = append(found, i["pk"].(*types.AttributeValueMemberS).Value)
			}
			if in.ExclusiveStartKey = out.LastEvaluatedKey; len(in.ExclusiveStartKey) == 0 {
				return strings.Join(found, " ")
			}
		}
	}
	const hashes, ranges = "ValidationException: Query key condition not supported: all HASH key attributes must have equality " +
		"conditions", "ValidationException: Query key condition not supported: RANGE key attributes before weekday must have equality conditions"
	for condition, want := range map[string]string{
		"league = :l AND team = :t":                                           "0 1 3 2",
		"weekday > :d AND n = :one AND team = :t AND league = :l":             "1",
		"league = :l AND team = :t AND n >= :two":                             "3 2",
		"league = :l AND team = :t AND n BETWEEN :one AND :two":               "0 1 3",
		"league = :l AND team = :t AND n = :one":                              "0 1",
		"league = :l AND team = :t AND n = :one AND begins_with(weekday, :d)": "1",
		"league = :l":                                             hashes,
		"league = :l AND team > :t":                               hashes,
		"league = :l AND team = :t AND weekday = :d":              ranges,
		"league = :l AND team = :t AND n > :one AND weekday = :d": ranges,
	} {
		if got := query(condition, false, 0); got != want {
			t.Errorf("%s: %s, not %s", condition, got, want)
		}
	}
	if got := query("league = :l AND team = :t", true, 1); got != "2 3 1 0" {
		t.Errorf("backward, by pages: %s", got)
	}
	d, err := b.DescribeTable(t.Context(), &client.DescribeTableInput{TableName: sdk.String("games")})
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, k := range d.Table.GlobalSecondaryIndexes[0].KeySchema {
		shown = append(shown, *k.AttributeName+"="+string(k.KeyType))
	}
	if got := strings.Join(shown, " "); got != "league=HASH team=HASH n=RANGE weekday=RANGE" || *d.Table.GlobalSecondaryIndexes[0].ItemCount != 5 {
		t.Errorf("described as %s with %d items", got, *d.Table.GlobalSecondaryIndexes[0].ItemCount)
	}
}

func TestKeysOfSeveralAttributesAreChecked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if err := b.createMulti("eight", "a b c d / e f g h"); err != nil {
		t.Fatal(err)
	}
	refused(t, b.createMulti("five", "a b c d e"), "ValidationException",
		"Invalid KeySchema: The number of HASH key elements exceeds the limit of 4")
	refused(t, b.createMulti("five", "a / b c d e f"), "ValidationException",
		"Invalid KeySchema: The number of RANGE key elements exceeds the limit of 4")
	refused(t, b.createMulti("same", "a a"), "ValidationException",
		"Both the Hash Key and the Range Key element in the KeySchema have the same name")
}

// TestWarmThroughput checks which descriptions show the warm throughput.
func TestWarmThroughput(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	show := func(w *types.TableWarmThroughputDescription) string {
		if w == nil {
			return "none"
		}
		return fmt.Sprintf("%d %d %s", *w.ReadUnitsPerSecond, *w.WriteUnitsPerSecond, w.Status)
	}
	create := &client.CreateTableInput{KeySchema: keySchema("pk"),
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: sdk.String("pk"), AttributeType: "S"}}}
	capacity := &types.ProvisionedThroughput{ReadCapacityUnits: sdk.Int64(5), WriteCapacityUnits: sdk.Int64(6)}
	for name, c := range map[string]struct {
		billing       types.BillingMode
		capacity      *types.ProvisionedThroughput
		warm          *types.WarmThroughput
		created, then string
	}{
		"demand":      {types.BillingModePayPerRequest, nil, nil, "none", "12000 4000 ACTIVE"},
		"provisioned": {types.BillingModeProvisioned, capacity, nil, "none", "5 6 ACTIVE"},
		"asked": {types.BillingModeProvisioned, capacity, &types.WarmThroughput{ReadUnitsPerSecond: sdk.Int64(1000),
			WriteUnitsPerSecond: sdk.Int64(1200)}, "1000 1200 UPDATING", "1000 1200 ACTIVE"},
	} {
		in := *create
		in.TableName, in.BillingMode, in.ProvisionedThroughput, in.WarmThroughput = &name, c.billing, c.capacity, c.warm
		out, err := b.CreateTable(t.Context(), &in)
		if err != nil {
			t.Fatal(err)
		}
		d, err := b.DescribeTable(t.Context(), &client.DescribeTableInput{TableName: &name})
		if err != nil || show(out.TableDescription.WarmThroughput) != c.created ||
			show(d.Table.WarmThroughput) != c.then {
			t.Errorf("%s: %s, then %s, %v", name, show(out.TableDescription.WarmThroughput), show(d.Table.WarmThroughput), err)
		}
	}
}

// TestEnvelope checks which errors have the words that PutItem, UpdateItem and DeleteItem begin them with.
func TestEnvelope(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create()
	table, ctx := sdk.String("things"), t.Context()
	_, err := b.UpdateItem(ctx, &client.UpdateItemInput{TableName: table, Key: id("a", 1), UpdateExpression: sdk.String("ADD n :v ADD m :v"),
		ExpressionAttributeValues: attrs{":v": n(1)}})
	refused(t, err, "ValidationException", "1 validation error detected: Invalid UpdateExpression: The \"ADD\" section can only be "+
		"used once in an update expression;")
	_, err = b.DeleteItem(ctx, &client.DeleteItemInput{TableName: table, Key: id("a", 1), ConditionExpression: sdk.String("attribute_exists(x)"),
		ExpressionAttributeNames: map[string]string{"#n": "n"}})
	const unused = "Value provided in ExpressionAttributeNames unused in expressions: keys: {#n}"
	refused(t, err, "ValidationException", "1 validation error detected: "+unused)
	_, err = b.PutItem(ctx, &client.PutItemInput{TableName: table, Item: attrs{"pk": s("a"), "sk": n(1),
		"set": &types.AttributeValueMemberSS{Value: []string{}}}})
	refused(t, err, "ValidationException",
		"1 validation error detected: One or more parameter values were invalid: An string set  may not be empty")
	_, err = b.PutItem(ctx, &client.PutItemInput{TableName: table, Item: attrs{"pk": s("a")}}) // found with the table
	refused(t, err, "ValidationException", "One or more parameter values were invalid: Missing the key sk in the item")
	_, err = b.GetItem(ctx, &client.GetItemInput{TableName: table, Key: id("a", 1), ProjectionExpression: sdk.String("pk"),
		ExpressionAttributeNames: map[string]string{"#n": "n"}})
	refused(t, err, "ValidationException", unused)
	_, err = b.Query(ctx, &client.QueryInput{TableName: table, Select: types.SelectAllProjectedAttributes,
		KeyConditionExpression: sdk.String("pk = :v"), ExpressionAttributeValues: attrs{":v": s("a")}})
	refused(t, err, "ValidationException",
		"1 validation error detected: ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
	_, err = b.Scan(ctx, &client.ScanInput{TableName: table, Select: types.SelectAllProjectedAttributes})
	refused(t, err, "ValidationException", "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
	_, err = b.BatchWriteItem(ctx, &client.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{
		"things": {{PutRequest: &types.PutRequest{Item: attrs{"z": s("1")}}}}}})
	refused(t, err, "ValidationException", "The provided key element does not match the schema")
	out, err := b.ExecuteTransaction(ctx,
		&client.ExecuteTransactionInput{TransactStatements: []types.ParameterizedStatement{
			{Statement: sdk.String(`INSERT INTO "things" VALUE {'pk': 'p', 'sk': 1}`)}}})
	if err != nil || out.Responses == nil || len(out.Responses) != 0 {
		t.Errorf("%+v, %v", out, err)
	}
}
