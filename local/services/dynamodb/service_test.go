package dynamodb_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	client "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/engine/clock"
	"stepback/local/services/documents"
	"stepback/local/services/dynamodb"
)

var epoch = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// bench is a service on an in-memory disk and in virtual time, behind HTTP, with AWS's clients for it.
type bench struct {
	*client.Client
	streams *dynamodbstreams.Client
	t       testing.TB
	clock   *clock.Clock
	disk    *vfs.MemFS
	service *dynamodb.Service
	servers [2]*httptest.Server
}

func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{t: t, clock: clock.Virtual(epoch), disk: vfs.NewCrashableMem()}
	b.open()
	t.Cleanup(func() {
		b.close()
		b.clock.Close()
	})
	return b
}

func (b *bench) open() {
	b.t.Helper()
	var err error
	if b.service, err = dynamodb.Open(dynamodb.Options{Dir: "/dynamodb", Clock: b.clock, Disk: documents.Disk{FS: b.disk}}); err != nil {
		b.t.Fatal(err)
	}
	b.servers = [2]*httptest.Server{httptest.NewServer(b.service.Handler()),
		httptest.NewServer(b.service.StreamsHandler())}
	provider := credentials.NewStaticCredentialsProvider("111111111111", "secret", "")
	b.Client = client.New(client.Options{BaseEndpoint: &b.servers[0].URL, Region: "eu-west-1", RetryMaxAttempts: 1,
		Credentials: provider, Logger: warned(b.t),
		HTTPClient: &http.Client{Transport: wholeBodies{http.DefaultTransport.(*http.Transport).Clone()}}})
	b.streams = dynamodbstreams.New(dynamodbstreams.Options{BaseEndpoint: &b.servers[1].URL, Region: "eu-west-1",
		RetryMaxAttempts: 1, Credentials: provider, Logger: warned(b.t)})
}

// wholeBodies sends requests with a copy of their bodies. The SDK closes a request's body once the response starts.
// If that is before the transport has read the end of the body, the transport closes the connection in the middle of
// the response, and these clients do not retry.
type wholeBodies struct{ next http.RoundTripper }

func (w wholeBodies) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	return w.next.RoundTrip(r)
}

// warned returns a logger that fails the test if the client warns about a response, for instance about its checksum.
func warned(t testing.TB) logging.Logger {
	t.Helper()
	return logging.LoggerFunc(func(c logging.Classification, format string, args ...any) {
		if c == logging.Warn {
			t.Errorf(format, args...)
		}
	})
}

func (b *bench) close() {
	for _, server := range b.servers {
		server.Close()
	}
	if err := b.service.Close(); err != nil {
		b.t.Error(err)
	}
}

// crash continues with only what was synced to the disk.
func (b *bench) crash() {
	b.t.Helper()
	after := b.disk.CrashClone(vfs.CrashCloneCfg{})
	b.close()
	b.disk = after
	b.open()
}

// pass advances virtual time by d.
func (b *bench) pass(d time.Duration) {
	b.t.Helper()
	b.clock.Hold()
	defer b.clock.Release()
	if err := b.clock.Sleep(b.t.Context(), d); err != nil {
		b.t.Fatal(err)
	}
}

// attributes converts texts such as "pk:S" to definitions.
func attributes(definitions ...string) (made []types.AttributeDefinition) {
	for _, d := range definitions {
		name, kind, _ := strings.Cut(d, ":")
		made = append(made, types.AttributeDefinition{AttributeName: &name,
			AttributeType: types.ScalarAttributeType(kind)})
	}
	return made
}

func keys(names ...string) (made []types.KeySchemaElement) {
	for i, name := range names {
		made = append(made, types.KeySchemaElement{AttributeName: &name, KeyType: []types.KeyType{"HASH", "RANGE"}[i]})
	}
	return made
}

func everything() *types.Projection { return &types.Projection{ProjectionType: "ALL"} }

// things is the name of the tests' table.
const things = "things"

// create creates the tests' table with the key pk and sk, a local index on n, a global index on color and n, and a
// stream.
func (b *bench) create() {
	b.t.Helper()
	name := things
	if _, err := b.CreateTable(b.t.Context(), &client.CreateTableInput{
		TableName: &name, BillingMode: "PAY_PER_REQUEST", AttributeDefinitions: attributes("pk:S", "sk:N", "n:N", "color:S"),
		KeySchema: keys("pk", "sk"),
		LocalSecondaryIndexes: []types.LocalSecondaryIndex{
			{IndexName: sdk.String("by-n"), KeySchema: keys("pk", "n"), Projection: &types.Projection{ProjectionType: "KEYS_ONLY"}}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{
			{IndexName: sdk.String("by-color"), KeySchema: keys("color", "n"), Projection: &types.Projection{
				ProjectionType: "INCLUDE", NonKeyAttributes: []string{"note"}}}},
		StreamSpecification: &types.StreamSpecification{StreamEnabled: sdk.Bool(true), StreamViewType: "NEW_AND_OLD_IMAGES"},
	}); err != nil {
		b.t.Fatal(err)
	}
}

func s(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
func n(v int) types.AttributeValue    { return &types.AttributeValueMemberN{Value: strconv.Itoa(v)} }

type attrs = map[string]types.AttributeValue

func id(pk string, sk int) attrs { return attrs{"pk": s(pk), "sk": n(sk)} }

func with(base, more attrs) attrs {
	base = maps.Clone(base)
	maps.Copy(base, more)
	return base
}

func (b *bench) put(i attrs) {
	b.t.Helper()
	name := things
	if _, err := b.PutItem(b.t.Context(), &client.PutItemInput{TableName: &name, Item: i}); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) get(key attrs) attrs {
	b.t.Helper()
	name := things
	out, err := b.GetItem(b.t.Context(), &client.GetItemInput{TableName: &name, Key: key,
		ConsistentRead: sdk.Bool(true)})
	if err != nil {
		b.t.Fatal(err)
	}
	return out.Item
}

// text formats an item, sorted by name.
func text(i attrs) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(i)) {
		parts = append(parts, name+"="+valueText(i[name]))
	}
	return strings.Join(parts, " ")
}

func valueText(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberSS:
		return fmt.Sprint(v.Value)
	case *types.AttributeValueMemberL:
		var parts []string
		for _, e := range v.Value {
			parts = append(parts, valueText(e))
		}
		return fmt.Sprint(parts)
	case *types.AttributeValueMemberM:
		return "{" + text(v.Value) + "}"
	default:
		return fmt.Sprintf("%T", v)
	}
}

func texts(items []attrs) string {
	var all []string
	for _, i := range items {
		all = append(all, text(i))
	}
	return strings.Join(all, " | ")
}

// refused checks the code and the text of an error.
func refused(t testing.TB, err error, code, message string) {
	t.Helper()
	var e smithy.APIError
	if !errors.As(err, &e) || e.ErrorCode() != code || !strings.Contains(e.ErrorMessage(), message) {
		t.Errorf("got %v, want %s: %s", err, code, message)
	}
}

func TestItems(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create()
	b.put(with(id("a", 1), attrs{"color": s("red"), "n": n(5)}))
	if got := text(b.get(id("a", 1))); got != "color=red n=5 pk=a sk=1" {
		t.Errorf("got %s", got)
	}
	out, err := b.UpdateItem(t.Context(), &client.UpdateItemInput{TableName: sdk.String("things"), Key: id("a", 1),
		UpdateExpression:          sdk.String("SET #n = #n + :one, tags = :tags REMOVE color"),
		ExpressionAttributeNames:  map[string]string{"#n": "n"},
		ExpressionAttributeValues: attrs{":one": n(1), ":tags": &types.AttributeValueMemberSS{Value: []string{"y", "x"}}},
		ReturnValues:              "UPDATED_NEW", ReturnConsumedCapacity: "INDEXES"})
	if err != nil {
		t.Fatal(err)
	}
	if got := text(out.Attributes); got != "n=6 tags=[x y]" {
		t.Errorf("got %s", got)
	}
	if c := out.ConsumedCapacity; *c.CapacityUnits != 4 || *c.Table.CapacityUnits != 1 ||
		*c.LocalSecondaryIndexes["by-n"].CapacityUnits != 2 || *c.GlobalSecondaryIndexes["by-color"].CapacityUnits != 1 {
		t.Errorf("consumed %v", c)
	}
	_, err = b.PutItem(t.Context(), &client.PutItemInput{TableName: sdk.String("things"), Item: id("a", 1),
		ConditionExpression: sdk.String("attribute_not_exists(pk)"), ReturnValuesOnConditionCheckFailure: "ALL_OLD"})
	refused(t, err, "ConditionalCheckFailedException", "") // AWS spells it Message beside an item, which this client ignores
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) || text(failed.Item) != "n=6 pk=a sk=1 tags=[x y]" {
		t.Errorf("told %v", failed)
	}
	gone, err := b.DeleteItem(t.Context(), &client.DeleteItemInput{TableName: sdk.String("things"), Key: id("a", 1),
		ReturnValues: "ALL_OLD"})
	if err != nil || text(gone.Attributes) != "n=6 pk=a sk=1 tags=[x y]" {
		t.Errorf("deleted %v, %v", gone, err)
	}
	if got := b.get(id("a", 1)); got != nil {
		t.Errorf("still there: %v", got)
	}
	d, err := b.DescribeTable(t.Context(), &client.DescribeTableInput{TableName: sdk.String("things")})
	if err != nil || *d.Table.ItemCount != 0 || *d.Table.TableSizeBytes != 0 || d.Table.TableStatus != "ACTIVE" {
		t.Errorf("described %v, %v", d, err)
	}
}

// TestRefusals checks the texts of errors.
func TestRefusals(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create()
	put := func(i attrs) error {
		_, err := b.PutItem(t.Context(), &client.PutItemInput{TableName: sdk.String("things"), Item: i})
		return err
	}
	update := func(key attrs, expression string, values attrs) error {
		_, err := b.UpdateItem(t.Context(), &client.UpdateItemInput{TableName: sdk.String("things"), Key: key,
			UpdateExpression: &expression, ExpressionAttributeValues: values})
		return err
	}
	query := func(change func(*client.QueryInput)) error {
		in := &client.QueryInput{TableName: sdk.String("things"), KeyConditionExpression: sdk.String("pk = :pk"),
			ExpressionAttributeValues: attrs{":pk": s("a")}}
		change(in)
		_, err := b.Query(t.Context(), in)
		return err
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{put(attrs{"pk": s("a")}), "One or more parameter values were invalid: Missing the key sk in the item"},
		{put(attrs{"pk": s("a"), "sk": s("1")}), "One or more parameter values were invalid: Type mismatch for key sk expected: N actual: S"},
		{put(id("", 1)), "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk"},
		{put(id(strings.Repeat("x", 2049), 1)), "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes"},
		{put(with(id("a", 1), attrs{"n": s("x")})), "One or more parameter values were invalid: Type mismatch for Index Key n Expected: N Actual: S IndexName: by-n"},
		{put(with(id("a", 1), attrs{"color": s("")})), "A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty string value. IndexName: by-color, IndexKey: color"},
		{put(with(id("a", 1), attrs{"x": s(strings.Repeat("x", 400<<10))})), "Item size has exceeded the maximum allowed size"},
		{put(with(id("a", 1), attrs{"x": &types.AttributeValueMemberNS{Value: []string{"1", "1.0"}}})), "Input collection contains duplicates"},
		{update(attrs{"pk": s("a")}, "SET x = :x", attrs{":x": n(1)}), "The provided key element does not match the schema"},
		{update(id("a", 1), "SET sk = :x", attrs{":x": n(1)}), "One or more parameter values were invalid: Cannot update attribute sk. This attribute is part of the key"},
		{update(id("a", 1), "SET x = :x", attrs{":x": n(1), ":y": n(1)}), "Value provided in ExpressionAttributeValues unused in expressions: keys: {:y}"},
		{update(id("a", 1), "SET x = :x", attrs{":x": s(strings.Repeat("x", 400<<10))}), "Item size to update has exceeded the maximum allowed size"},
		{query(func(in *client.QueryInput) { in.KeyConditionExpression = nil }), "ExpressionAttributeValues can only be specified when using expressions: FilterExpression and KeyConditionExpression are null"},
		{query(func(in *client.QueryInput) { in.KeyConditionExpression, in.ExpressionAttributeValues = nil, nil }), "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."},
		{query(func(in *client.QueryInput) { in.KeyConditionExpression = sdk.String("sk = :pk") }), "Query condition missed key schema element: pk"},
		{query(func(in *client.QueryInput) { in.KeyConditionExpression = sdk.String("pk > :pk") }), "Query key condition not supported"},
		{query(func(in *client.QueryInput) { in.KeyConditionExpression = sdk.String("pk = :pk AND sk = :pk") }), "One or more parameter values were invalid: Condition parameter type does not match schema type"},
		{query(func(in *client.QueryInput) { in.KeyConditionExpression = sdk.String("pk = :pk AND n = :pk") }), "Query condition missed key schema element: sk"},
		{query(func(in *client.QueryInput) { in.FilterExpression = sdk.String("sk = :pk") }), "Filter Expression can only contain non-primary key attributes: Primary key attribute: sk"},
		{query(func(in *client.QueryInput) { in.IndexName = sdk.String("nope") }), "The table does not have the specified index: nope"},
		{query(func(in *client.QueryInput) {
			in.IndexName, in.ConsistentRead, in.KeyConditionExpression = sdk.String("by-color"), sdk.Bool(true), sdk.String("color = :pk")
		}), "Consistent reads are not supported on global secondary indexes"},
	} {
		refused(t, c.err, "ValidationException", c.want)
	}
	_, err := b.GetItem(t.Context(), &client.GetItemInput{TableName: sdk.String("nothing"), Key: id("a", 1)})
	refused(t, err, "ResourceNotFoundException", "Requested resource not found")
	_, err = b.DescribeTable(t.Context(), &client.DescribeTableInput{TableName: sdk.String("nothing")})
	refused(t, err, "ResourceNotFoundException", "Requested resource not found: Table: nothing not found")
	_, err = b.CreateTable(t.Context(), &client.CreateTableInput{TableName: sdk.String("things"), BillingMode: "PAY_PER_REQUEST",
		AttributeDefinitions: attributes("pk:S"), KeySchema: keys("pk")})
	refused(t, err, "ResourceInUseException", "Table already exists: things")
	_, err = b.CreateTable(t.Context(), &client.CreateTableInput{TableName: sdk.String("more"), BillingMode: "PAY_PER_REQUEST",
		AttributeDefinitions: attributes("pk:S"), KeySchema: keys("id")})
	refused(t, err, "ValidationException", "Some index key attributes are not defined in AttributeDefinitions. Keys: [id], AttributeDefinitions: [pk]")
	_, err = b.CreateTable(t.Context(), &client.CreateTableInput{TableName: sdk.String("more"),
		AttributeDefinitions: attributes("pk:S"), KeySchema: keys("pk")})
	refused(t, err, "ValidationException", "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED")
	_, err = b.CreateBackup(t.Context(), &client.CreateBackupInput{TableName: sdk.String("things"), BackupName: sdk.String("one")})
	refused(t, err, "NotImplemented", "The operation CreateBackup of DynamoDB is not served here. Those that are: stepback services dynamodb, docs/services.md.")
}

func (b *bench) query(index, condition string, values attrs, change func(*client.QueryInput)) string {
	b.t.Helper()
	name := things
	in := &client.QueryInput{TableName: &name, KeyConditionExpression: &condition, ExpressionAttributeValues: values}
	if index != "" {
		in.IndexName = &index
	}
	if change != nil {
		change(in)
	}
	var all []string
	for {
		out, err := b.Query(b.t.Context(), in)
		if err != nil {
			b.t.Fatal(err)
		}
		if len(out.Items) > 0 {
			all = append(all, texts(out.Items))
		}
		if out.LastEvaluatedKey == nil {
			return strings.Join(all, " | ")
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

func TestQueries(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create()
	for i := range 6 {
		more := attrs{"color": s([]string{"red", "blue"}[i%2]), "n": n(-i), "note": s("n" + strconv.Itoa(i)), "rest": n(i)}
		if i == 5 {
			delete(more, "color") // which removes it from the global index
		}
		b.put(with(id("a", i), more))
	}
	b.put(id("b", 1))
	sks := &[]string{"sk"}[0]
	for _, c := range []struct {
		index, condition string
		values           attrs
		change           func(*client.QueryInput)
		want             string
	}{
		{"", "pk = :a AND sk BETWEEN :two AND :four", attrs{":a": s("a"), ":two": n(2), ":four": n(4)},
			func(in *client.QueryInput) { in.ProjectionExpression = sks }, "sk=2 | sk=3 | sk=4"},
		{"", "pk = :a AND sk >= :two", attrs{":a": s("a"), ":two": n(2)}, func(in *client.QueryInput) {
			in.ProjectionExpression, in.ScanIndexForward, in.Limit = sks, sdk.Bool(false), sdk.Int32(3)
		}, "sk=5 | sk=4 | sk=3 | sk=2"},
		{"", "pk = :a AND sk < :two", attrs{":a": s("a"), ":two": n(2)},
			func(in *client.QueryInput) { in.ProjectionExpression = sks }, "sk=0 | sk=1"},
		{"", "pk = :a", attrs{":a": s("a"), ":red": s("red")}, func(in *client.QueryInput) {
			in.FilterExpression, in.ProjectionExpression, in.Limit = sdk.String("color = :red"), sks, sdk.Int32(2)
		}, "sk=0 | sk=2 | sk=4"},
		{"by-n", "pk = :a AND n <= :n", attrs{":a": s("a"), ":n": n(-3)}, nil, "n=-5 pk=a sk=5 | n=-4 pk=a sk=4 | n=-3 pk=a sk=3"},
		{"by-n", "pk = :a AND n = :n", attrs{":a": s("a"), ":n": n(-3)},
			func(in *client.QueryInput) { in.Select = "ALL_ATTRIBUTES" }, "color=blue n=-3 note=n3 pk=a rest=3 sk=3"},
		{"by-color", "color = :c", attrs{":c": s("red")}, func(in *client.QueryInput) { in.Limit = sdk.Int32(1) },
			"color=red n=-4 note=n4 pk=a sk=4 | color=red n=-2 note=n2 pk=a sk=2 | color=red n=0 note=n0 pk=a sk=0"},
	} {
		if got := b.query(c.index, c.condition, c.values, c.change); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.index, c.condition, got, c.want)
		}
	}
	for _, change := range []types.GlobalSecondaryIndexUpdate{
		{Create: &types.CreateGlobalSecondaryIndexAction{IndexName: sdk.String("by-rest"), KeySchema: keys("rest"),
			Projection: everything()}},
		{Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: sdk.String("by-color")}}} {
		if _, err := b.UpdateTable(t.Context(), &client.UpdateTableInput{TableName: sdk.String("things"),
			AttributeDefinitions: attributes("rest:N"), GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{change}}); err != nil {
			t.Fatal(err)
		}
	}
	b.crash()
	if got := b.query("by-rest", "rest = :r", attrs{":r": n(4)}, nil); got != "color=red n=-4 note=n4 pk=a rest=4 sk=4" {
		t.Errorf("a new index: %s", got)
	}
	d, err := b.DescribeTable(t.Context(), &client.DescribeTableInput{TableName: sdk.String("things")})
	if err != nil || len(d.Table.GlobalSecondaryIndexes) != 1 || *d.Table.GlobalSecondaryIndexes[0].ItemCount != 6 ||
		*d.Table.ItemCount != 7 || len(d.Table.AttributeDefinitions) != 4 {
		t.Errorf("described %+v, %v", d.Table, err)
	}
}

// TestScan scans a table of several pages, by segments and by Limit, and finds each item once.
func TestScan(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create()
	const items = 30
	for i := range items {
		b.put(with(id("p"+strconv.Itoa(i), i), attrs{"color": s("red"), "n": n(1), "fat": s(strings.Repeat("x", 100<<10))}))
	}
	for _, c := range []struct {
		segments, limit int32
		index           string
	}{{1, 0, ""}, {4, 0, ""}, {7, 2, ""}, {1, 7, "by-color"}, {3, 0, "by-n"}} {
		found := map[string]int{}
		pages := 0
		for segment := range c.segments {
			in := &client.ScanInput{TableName: sdk.String("things"), TotalSegments: &c.segments, Segment: &segment}
			if c.limit > 0 {
				in.Limit = &c.limit
			}
			if c.index != "" {
				in.IndexName = &c.index
			}
			for {
				out, err := b.Scan(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				pages++
				for _, i := range out.Items {
					found[valueText(i["pk"])]++
				}
				if in.ExclusiveStartKey = out.LastEvaluatedKey; out.LastEvaluatedKey == nil {
					break
				}
			}
		}
		if len(found) != items || slices.Max(slices.Collect(maps.Values(found))) != 1 {
			t.Errorf("%+v found %v", c, found)
		}
		if c.segments == 1 && c.index == "" && pages != 3 {
			t.Errorf("3 MB came in %d pages", pages)
		}
	}
	out, err := b.Scan(t.Context(), &client.ScanInput{TableName: sdk.String("things"), Select: "COUNT",
		FilterExpression: sdk.String("sk < :n"), ExpressionAttributeValues: attrs{":n": n(0)}, ReturnConsumedCapacity: "TOTAL"})
	if err != nil || out.Count != 0 || out.ScannedCount != 11 || *out.ConsumedCapacity.CapacityUnits != 138 {
		t.Errorf("got %+v %+v, %v", out, out.ConsumedCapacity, err)
	}
}

func TestBatches(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create()
	var writes []types.WriteRequest
	for i := range 3 {
		writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: id("a", i)}})
	}
	if _, err := b.BatchWriteItem(t.Context(), &client.BatchWriteItemInput{
		RequestItems: map[string][]types.WriteRequest{"things": writes}}); err != nil {
		t.Fatal(err)
	}
	_, err := b.BatchWriteItem(t.Context(), &client.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{
		"things": {{DeleteRequest: &types.DeleteRequest{Key: id("a", 1)}}, {PutRequest: &types.PutRequest{Item: id("a", 1)}}}}})
	refused(t, err, "ValidationException", "Provided list of item keys contains duplicates")
	out, err := b.BatchGetItem(t.Context(), &client.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
		"things": {Keys: []attrs{id("a", 2), id("a", 9), id("a", 0)}}}})
	if err != nil || texts(out.Responses["things"]) != "pk=a sk=2 | pk=a sk=0" || len(out.UnprocessedKeys) != 0 {
		t.Errorf("got %v, %v", out, err)
	}
}

func TestTransactions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create()
	b.put(with(id("a", 1), attrs{"n": n(1)}))
	write := func(token string, condition string) error {
		_, err := b.TransactWriteItems(t.Context(), &client.TransactWriteItemsInput{ClientRequestToken: &token,
			TransactItems: []types.TransactWriteItem{
				{Update: &types.Update{TableName: sdk.String("things"), Key: id("a", 1), UpdateExpression: sdk.String("ADD n :one"),
					ExpressionAttributeValues: attrs{":one": n(1)}}},
				{Put: &types.Put{TableName: sdk.String("things"), Item: id("a", 2), ConditionExpression: &condition,
					ReturnValuesOnConditionCheckFailure: "ALL_OLD"}},
				{ConditionCheck: &types.ConditionCheck{TableName: sdk.String("things"), Key: id("z", 0),
					ConditionExpression: sdk.String("attribute_not_exists(pk)")}},
			}})
		return err
	}
	for range 2 { // the second time has no effect
		if err := write("once", "attribute_not_exists(pk)"); err != nil {
			t.Fatal(err)
		}
	}
	if got := text(b.get(id("a", 1))); got != "n=2 pk=a sk=1" {
		t.Errorf("got %s", got)
	}
	refused(t, write("once", "attribute_exists(pk)"), "IdempotentParameterMismatchException", "")
	err := write("again", "attribute_not_exists(pk)")
	refused(t, err, "TransactionCanceledException",
		"Transaction cancelled, please refer cancellation reasons for specific reasons [None, ConditionalCheckFailed, None]")
	var why *types.TransactionCanceledException
	if !errors.As(err, &why) || len(why.CancellationReasons) != 3 || *why.CancellationReasons[1].Code != "ConditionalCheckFailed" ||
		*why.CancellationReasons[1].Message != "The conditional request failed" || text(why.CancellationReasons[1].Item) != "pk=a sk=2" {
		t.Errorf("reasons %+v", why)
	}
	if got := text(b.get(id("a", 1))); got != "n=2 pk=a sk=1" {
		t.Errorf("got %s", got)
	}
	out, err := b.TransactGetItems(t.Context(), &client.TransactGetItemsInput{TransactItems: []types.TransactGetItem{
		{Get: &types.Get{TableName: sdk.String("things"), Key: id("a", 1), ProjectionExpression: sdk.String("n")}},
		{Get: &types.Get{TableName: sdk.String("things"), Key: id("a", 7)}}}})
	if err != nil || text(out.Responses[0].Item) != "n=2" || out.Responses[1].Item != nil {
		t.Errorf("got %+v, %v", out, err)
	}
	b.pass(11 * time.Minute) // after which the token has expired
	refused(t, write("once", "attribute_not_exists(pk)"), "TransactionCanceledException", "")
}

func (b *bench) records(arn *string) (all []streamtypes.Record) {
	b.t.Helper()
	d, err := b.streams.DescribeStream(b.t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: arn})
	if err != nil {
		b.t.Fatal(err)
	}
	it, err := b.streams.GetShardIterator(b.t.Context(), &dynamodbstreams.GetShardIteratorInput{StreamArn: arn,
		ShardId: d.StreamDescription.Shards[0].ShardId, ShardIteratorType: "TRIM_HORIZON"})
	if err != nil {
		b.t.Fatal(err)
	}
	for next := it.ShardIterator; next != nil; {
		out, err := b.streams.GetRecords(b.t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: next,
			Limit: sdk.Int32(2)})
		if err != nil {
			b.t.Fatal(err)
		}
		if len(out.Records) == 0 {
			break
		}
		all = append(all, out.Records...)
		next = out.NextShardIterator
	}
	return all
}

func TestStreamsAndTimeToLive(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create()
	if _, err := b.UpdateTimeToLive(t.Context(), &client.UpdateTimeToLiveInput{TableName: sdk.String("things"),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: sdk.String("ttl"), Enabled: sdk.Bool(true)}}); err != nil {
		t.Fatal(err)
	}
	soon := int(epoch.Add(time.Hour).Unix())
	b.put(with(id("a", 1), attrs{"ttl": n(soon)}))
	b.put(with(id("a", 2), attrs{"ttl": n(soon)}))
	b.put(with(id("a", 2), attrs{"ttl": n(soon + 7200)})) // which extends its life
	b.put(with(id("a", 2), attrs{"ttl": n(soon + 7200)})) // which changes nothing
	b.crash()
	d, err := b.DescribeTable(t.Context(), &client.DescribeTableInput{TableName: sdk.String("things")})
	if err != nil {
		t.Fatal(err)
	}
	b.pass(61 * time.Minute)
	b.service.WaitForSweeps()
	if b.get(id("a", 1)) != nil || b.get(id("a", 2)) == nil {
		t.Error("the wrong item has expired")
	}
	var names []string
	all := b.records(d.Table.LatestStreamArn)
	for _, r := range all {
		names = append(names, string(r.EventName))
	}
	if got := strings.Join(names, " "); got != "INSERT INSERT MODIFY REMOVE" {
		t.Fatalf("recorded %s", got)
	}
	last := all[3]
	if last.UserIdentity == nil || *last.UserIdentity.PrincipalId != "dynamodb.amazonaws.com" || *last.UserIdentity.Type != "Service" ||
		last.Dynamodb.NewImage != nil || len(last.Dynamodb.OldImage) != 3 || len(last.Dynamodb.Keys) != 2 ||
		all[0].UserIdentity != nil {
		t.Errorf("recorded %+v %+v", last, last.Dynamodb)
	}
	if _, err := b.DeleteTable(t.Context(), &client.DeleteTableInput{TableName: sdk.String("things")}); err != nil {
		t.Fatal(err)
	}
	if got := b.records(d.Table.LatestStreamArn); len(got) != 4 {
		t.Errorf("after the table has gone: %d records", len(got))
	}
	b.pass(25 * time.Hour)
	b.service.WaitForSweeps()
	list, err := b.streams.ListStreams(t.Context(), &dynamodbstreams.ListStreamsInput{})
	if err != nil || len(list.Streams) != 0 {
		t.Errorf("after a day: %v, %v", list, err)
	}
}

func TestOlderParameters(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create()
	_, err := b.PutItem(t.Context(), &client.PutItemInput{TableName: sdk.String("things"), Item: with(id("a", 1), attrs{"n": n(1)}),
		Expected: map[string]types.ExpectedAttributeValue{"pk": {Exists: sdk.Bool(false)}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.UpdateItem(t.Context(), &client.UpdateItemInput{TableName: sdk.String("things"), Key: id("a", 1),
		AttributeUpdates: map[string]types.AttributeValueUpdate{"n": {Action: "ADD", Value: n(4)}, "list": {Action: "ADD",
			Value: &types.AttributeValueMemberL{Value: []types.AttributeValue{n(1)}}}},
		Expected: map[string]types.ExpectedAttributeValue{"n": {ComparisonOperator: "LE", AttributeValueList: []types.AttributeValue{n(1)}}}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := b.Query(t.Context(), &client.QueryInput{TableName: sdk.String("things"), AttributesToGet: []string{"n", "list"},
		KeyConditions: map[string]types.Condition{"pk": {ComparisonOperator: "EQ", AttributeValueList: []types.AttributeValue{s("a")}}},
		QueryFilter:   map[string]types.Condition{"list": {ComparisonOperator: "NOT_NULL"}}})
	if err != nil || texts(out.Items) != "list=[1] n=5" {
		t.Errorf("got %v, %v", out, err)
	}
	_, err = b.PutItem(t.Context(), &client.PutItemInput{TableName: sdk.String("things"), Item: id("a", 1),
		ConditionExpression: sdk.String("attribute_exists(pk)"), Expected: map[string]types.ExpectedAttributeValue{"pk": {Exists: sdk.Bool(false)}}})
	refused(t, err, "ValidationException", "Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}")
}

func TestSettings(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create()
	arn := sdk.String("arn:aws:dynamodb:eu-west-1:111111111111:table/things")
	if _, err := b.TagResource(t.Context(), &client.TagResourceInput{ResourceArn: arn, Tags: []types.Tag{
		{Key: sdk.String("b"), Value: sdk.String("2")}, {Key: sdk.String("a"), Value: sdk.String("1")}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.UntagResource(t.Context(), &client.UntagResourceInput{ResourceArn: arn, TagKeys: []string{"b"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.UpdateContinuousBackups(t.Context(), &client.UpdateContinuousBackupsInput{TableName: arn,
		PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: sdk.Bool(true)}}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.UpdateTable(t.Context(), &client.UpdateTableInput{TableName: arn,
		DeletionProtectionEnabled: sdk.Bool(true)}); err != nil {
		t.Fatal(err)
	}
	b.crash()
	tags, err := b.ListTagsOfResource(t.Context(), &client.ListTagsOfResourceInput{ResourceArn: arn})
	if err != nil || len(tags.Tags) != 1 || *tags.Tags[0].Key != "a" {
		t.Errorf("tags %v, %v", tags, err)
	}
	backups, err := b.DescribeContinuousBackups(t.Context(), &client.DescribeContinuousBackupsInput{TableName: arn})
	if err != nil || backups.ContinuousBackupsDescription.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus != "ENABLED" {
		t.Errorf("backups %v, %v", backups, err)
	}
	_, err = b.DeleteTable(t.Context(), &client.DeleteTableInput{TableName: arn})
	refused(t, err, "ValidationException", "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.")
	names, err := b.ListTables(t.Context(), &client.ListTablesInput{})
	if err != nil || !slices.Equal(names.TableNames, []string{"things"}) {
		t.Errorf("tables %v, %v", names, err)
	}
}
