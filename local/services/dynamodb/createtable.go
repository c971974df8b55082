package dynamodb

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"stepback/aws"
	"stepback/jsonvalue"
	"stepback/local/services/documents"
	"stepback/local/services/dynamodb/item"
)

type createTable struct {
	Name        string                `json:"TableName"`
	Definitions []attributeDefinition `json:"AttributeDefinitions"`
	Keys        []keySchemaElement    `json:"KeySchema"`
	Local       []newIndex            `json:"LocalSecondaryIndexes"`
	Global      []newIndex            `json:"GlobalSecondaryIndexes"`
	Billing     string                `json:"BillingMode"`
	Throughput  *throughput           `json:"ProvisionedThroughput"`
	Stream      *streamSpecification  `json:"StreamSpecification"`
	Encryption  *encryptionRequest    `json:"SSESpecification"`
	Tags        []tag
	Class       string              `json:"TableClass"`
	Protected   bool                `json:"DeletionProtectionEnabled"`
	Policy      string              `json:"ResourcePolicy"`
	OnDemand    *onDemandThroughput `json:"OnDemandThroughput"`
	Warm        *warmThroughput     `json:"WarmThroughput"`
	Source      jsonvalue.Value     `json:"GlobalTableSourceArn"`
	Replication jsonvalue.Value     `json:"GlobalTableSettingsReplicationMode"`
}

type encryptionRequest struct {
	Enabled bool
	Type    string `json:"SSEType"`
	Key     string `json:"KMSMasterKeyId"`
}

type newIndex struct {
	Name       string             `json:"IndexName"`
	Keys       []keySchemaElement `json:"KeySchema"`
	Projection projection
	Throughput *throughput         `json:"ProvisionedThroughput"`
	OnDemand   *onDemandThroughput `json:"OnDemandThroughput"`
	Warm       *warmThroughput     `json:"WarmThroughput"`
}

type describedNew struct {
	Table *tableDescription `json:"TableDescription"`
}

func (s *Service) createTable(_ context.Context, scope aws.Scope, in *createTable) (*describedNew, error) {
	if len(in.Name) < shortestTable {
		return nil, invalidf("1 validation error detected: Value '%s' at 'tableName' failed to satisfy constraint: "+
			"Member must have length greater than or equal to %d", in.Name, shortestTable)
	}
	scope, name, err := nameOf(scope, in.Name)
	if err != nil {
		return nil, err
	}
	if !in.Source.IsNull() || !in.Replication.IsNull() {
		return nil, unsupported("A replica of a global table (GlobalTableSourceArn)")
	}
	r := record{Account: scope.Account, Region: scope.Region, Name: name, ID: aws.NewID(), Definitions: in.Definitions,
		Billing: in.Billing, OnDemand: in.OnDemand, Warm: in.Warm, Class: in.Class, Protected: in.Protected,
		Policy: in.Policy}
	if r.Billing == "" {
		r.Billing = provisioned
	}
	if r.Throughput, err = checkThroughput(r.Billing, in.Throughput, ""); err != nil {
		return nil, err
	}
	if r.Keys, err = checkKeys(in.Keys, in.Definitions, 1); err != nil {
		return nil, err
	}
	if err := r.addIndexes(in.Local, in.Global); err != nil {
		return nil, err
	}
	if err := r.checkDefinitions(); err != nil {
		return nil, err
	}
	if r.Tags, err = withTags(nil, in.Tags); err != nil {
		return nil, err
	}
	if err := in.Stream.check(); err != nil {
		return nil, err
	}
	if r.Encryption, err = s.encryption(scope, in.Encryption); err != nil {
		return nil, err
	}
	var made *table
	err = s.change(func(now int64, b *documents.Batch) error {
		if s.tables[address{scope, name}] != nil {
			return inUse("Table already exists: " + name)
		}
		r.Created = now
		if r.Billing == payPerRequest {
			r.BillingSince = now
		}
		if r.Policy != "" {
			r.PolicyRevision = aws.NewID()
		}
		number := s.number(b)
		if in.Stream != nil && in.Stream.Enabled {
			if r.Stream, err = s.startStream(now, b, &r, in.Stream.View); err != nil {
				return err
			}
		}
		made = newTable(number, r, &counts{})
		return s.keep(b, made)
	})
	if err != nil {
		return nil, err
	}
	return &describedNew{s.describe(made, statusCreating)}, nil
}

const mostUnits = 1_000_000_000_000

// checkThroughput checks the capacity of a table or, if index is not empty, of an index.
func checkThroughput(billing string, given *throughput, index string) (throughput, error) {
	of := ""
	if index != "" {
		of = " for index: " + index
	}
	switch {
	case billing == payPerRequest && given != nil && index != "":
		return throughput{}, invalid(invalidParameter + "ProvisionedThroughput should not be specified" + of +
			" when BillingMode is PAY_PER_REQUEST")
	case billing == payPerRequest && given != nil:
		return throughput{}, invalid(invalidParameter +
			"Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST")
	case billing == payPerRequest:
		return throughput{}, nil
	case given == nil && index != "":
		return throughput{}, invalid(invalidParameter + "ProvisionedThroughput must be specified" + of)
	case given == nil:
		return throughput{}, invalid(invalidParameter +
			"ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED")
	case given.Read > mostUnits:
		return throughput{}, invalidf("Given value %d for ReadCapacityUnits is out of bounds%s", given.Read, of)
	case given.Write > mostUnits:
		return throughput{}, invalidf("Given value %d for WriteCapacityUnits is out of bounds%s", given.Write, of)
	}
	return *given, nil
}

func bracketed[T any](all []T, name func(T) string) string {
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = name(e)
	}
	return "[" + strings.Join(names, ", ") + "]"
}

// The types of key schema elements.
const (
	hashKey  = "HASH"
	rangeKey = "RANGE"
)

// checkKeys checks and builds the schema of a table or an index. The partition key and the sort key have at most the
// given number of attributes.
func checkKeys(keys []keySchemaElement, definitions []attributeDefinition, attributes int) (schema, error) {
	most := 2 * attributes
	for _, k := range keys {
		if !slices.ContainsFunc(definitions, func(d attributeDefinition) bool { return d.Name == k.Name }) {
			return schema{}, invalidf(invalidParameter+"Some index key attributes are not defined in AttributeDefinitions. "+
				"Keys: %s, AttributeDefinitions: %s", bracketed(keys, func(k keySchemaElement) string { return k.Name }),
				bracketed(definitions, func(d attributeDefinition) string { return d.Name }))
		}
	}
	switch {
	case len(keys) == 0:
		return schema{}, invalid("1 validation error detected: Value '[]' at 'keySchema' failed to satisfy constraint: " +
			"Member must have length greater than or equal to 1")
	case len(keys) > most:
		return schema{}, invalid("1 validation error detected: Value at 'keySchema' failed to satisfy constraint: " +
			"Member must have length less than or equal to " + strconv.Itoa(most))
	}
	seen := map[string]bool{}
	for _, k := range keys {
		if seen[k.Name] {
			return schema{}, invalid("Both the Hash Key and the Range Key element in the KeySchema have the same name")
		}
		seen[k.Name] = true
	}
	switch {
	case keys[0].Type != hashKey:
		return schema{}, invalid("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
	case attributes == 1 && len(keys) == most && keys[1].Type != rangeKey:
		return schema{}, invalid("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")
	}
	var hashes, ranges []string
	for _, k := range keys {
		switch {
		case k.Type == rangeKey:
			ranges = append(ranges, k.Name)
		case len(ranges) > 0:
			return schema{}, invalid("Invalid KeySchema: All HASH key elements must precede the RANGE key elements")
		default:
			hashes = append(hashes, k.Name)
		}
	}
	for kind, names := range map[string][]string{hashKey: hashes, rangeKey: ranges} {
		if len(names) > attributes {
			return schema{}, invalidf("Invalid KeySchema: The number of %s key elements exceeds the limit of %d", kind, attributes)
		}
	}
	made := schema{Hash: hashes[0]}
	if len(hashes) > 1 {
		made.MoreHashes = hashes[1:]
	}
	if len(ranges) > 0 {
		made.Range = ranges[0]
	}
	if len(ranges) > 1 {
		made.MoreRanges = ranges[1:]
	}
	return made, nil
}

// The kinds of projections.
const (
	projectAll     = "ALL"
	projectInclude = "INCLUDE"
)

const mostLocal, mostGlobal, mostProjected = 5, 20, 100

// mostKeyAttributes is the maximum number of attributes of the partition key, and of the sort key, of a global index.
const mostKeyAttributes = 4

func (r *record) addIndexes(local, global []newIndex) error {
	if local != nil {
		switch {
		case len(local) == 0:
			return invalid(invalidParameter + "List of LocalSecondaryIndexes is empty")
		case r.Keys.Range == "":
			return invalid(invalidParameter +
				"Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex")
		}
	}
	if global != nil && len(global) == 0 {
		return invalid(invalidParameter + "List of GlobalSecondaryIndexes is empty")
	}
	for _, given := range local {
		if err := r.addIndex(given, true); err != nil {
			return err
		}
	}
	if len(local) > mostLocal {
		return invalid(invalidParameter + "Number of LocalSecondaryIndexes exceeds per-table limit of 5")
	}
	for _, given := range global {
		if err := r.addIndex(given, false); err != nil {
			return err
		}
	}
	if len(global) > mostGlobal {
		return invalid(invalidParameter + "GlobalSecondaryIndex count exceeds the per-table limit of 20")
	}
	projected := 0
	for _, x := range r.Indexes {
		projected += len(x.Projection.NonKey)
	}
	if projected > mostProjected {
		return invalid(invalidParameter + "Number of attributes in all indexes' projections exceeds the limit of 100")
	}
	return nil
}

func (r *record) addIndex(given newIndex, local bool) (err error) {
	x := index{Name: given.Name, Local: local, Projection: given.Projection, OnDemand: given.OnDemand, Warm: given.Warm}
	attributes := mostKeyAttributes
	if local {
		attributes = 1
	}
	if x.Keys, err = checkKeys(given.Keys, r.Definitions, attributes); err != nil {
		return err
	}
	switch {
	case local && x.Keys.Range == "":
		return invalid(invalidParameter + "Index KeySchema does not have a range key for index: " + x.Name)
	case local && x.Keys.Hash != r.Keys.Hash:
		return invalid(invalidParameter + "Index KeySchema does not have the same leading hash key as table KeySchema " +
			"for index: " + x.Name + ". index hash key: " + x.Keys.Hash + ", table hash key: " + r.Keys.Hash)
	case x.Projection.Type == "":
		return invalid(invalidParameter + "Unknown ProjectionType: null")
	case x.Projection.NonKey != nil && x.Projection.Type != projectInclude:
		return invalid(invalidParameter + "ProjectionType is " + x.Projection.Type + ", but NonKeyAttributes is specified")
	case x.Projection.NonKey == nil && x.Projection.Type == projectInclude:
		return invalid(invalidParameter + "ProjectionType is " + x.Projection.Type + ", but NonKeyAttributes is not specified")
	case slices.ContainsFunc(r.Indexes, func(other index) bool { return other.Name == x.Name }):
		return invalid(invalidParameter + "Duplicate index name: " + x.Name)
	}
	for n, name := range x.Projection.NonKey {
		if slices.Contains(x.Projection.NonKey[:n], name) {
			return invalid(invalidParameter + "Duplicate attribute name in NonKeyAttributes: " + name)
		}
	}
	if !local {
		if x.Throughput, err = checkThroughput(r.Billing, given.Throughput, x.Name); err != nil {
			return err
		}
	}
	r.NextIndex++
	x.Number = r.NextIndex
	r.Indexes = append(r.Indexes, x)
	return nil
}

// checkDefinitions checks that exactly the attributes of keys are defined.
func (r *record) checkDefinitions() error {
	used := map[string]bool{}
	for _, name := range r.Keys.names() {
		used[name] = true
	}
	for _, x := range r.Indexes {
		for _, name := range x.Keys.names() {
			used[name] = true
		}
	}
	seen := map[string]bool{}
	for _, d := range r.Definitions {
		if seen[d.Name] {
			return invalid(invalidParameter + "Duplicate AttributeName in AttributeDefinitions: " + d.Name)
		}
		seen[d.Name] = true
		if item.KindOf(d.Type) == item.KindNone {
			return invalid(invalidParameter + "Unknown AttributeType: " + d.Type)
		}
	}
	if len(seen) == len(used) {
		return nil
	}
	if len(r.Indexes) == 0 {
		return invalid(invalidParameter + "Number of attributes in KeySchema does not exactly match number of attributes " +
			"defined in AttributeDefinitions")
	}
	names := make([]string, 0, len(used))
	for name := range used {
		names = append(names, name)
	}
	slices.Sort(names)
	return invalidf(invalidParameter+"Some AttributeDefinitions are not used. AttributeDefinitions: %s, keys used: [%s]",
		bracketed(r.Definitions, func(d attributeDefinition) string { return d.Name }), strings.Join(names, ", "))
}

// encryption returns the encryption that a request asks for; nil means the default.
func (s *Service) encryption(scope aws.Scope, e *encryptionRequest) (*encryption, error) {
	if e == nil || !e.Enabled {
		return nil, nil
	}
	arn := e.Key
	switch {
	case arn == "":
		arn = scope.ARN("kms", usualKey)
		if s.opts.Key != nil {
			var err error
			if arn, err = s.opts.Key(scope, usualKey); err != nil {
				return nil, err
			}
		}
	case !strings.HasPrefix(arn, "arn:"):
		if !strings.HasPrefix(arn, "alias/") {
			arn = "key/" + arn
		}
		arn = scope.ARN("kms", arn)
	}
	return &encryption{Status: "ENABLED", Type: "KMS", KeyARN: arn}, nil
}

// usualKey is the alias of the key of tables that are encrypted and name no key.
const usualKey = "alias/aws/dynamodb"
