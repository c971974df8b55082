package dynamodb

import (
	"encoding/json"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/internal/lazyregexp"
	"stepback/local/services/documents"
	"stepback/local/services/dynamodb/item"
)

// schema holds the key attributes of a table or an index; Range is empty if there is no sort key. The partition key and
// the sort key of a global index may have more attributes, up to four each.
type schema struct {
	Hash       string
	Range      string   `json:",omitempty"`
	MoreHashes []string `json:",omitempty"`
	MoreRanges []string `json:",omitempty"`
}

// hashes returns the names of the partition key's attributes.
func (s schema) hashes() []string { return append([]string{s.Hash}, s.MoreHashes...) }

// ranges returns the names of the sort key's attributes; none if there is no sort key.
func (s schema) ranges() []string {
	if s.Range == "" {
		return nil
	}
	return append([]string{s.Range}, s.MoreRanges...)
}

// several reports whether the partition key or the sort key has several attributes.
func (s schema) several() bool { return len(s.MoreHashes)+len(s.MoreRanges) > 0 }

// names returns the names of the key attributes.
func (s schema) names() []string { return append(s.hashes(), s.ranges()...) }

// record is the stored description of a table, without its items.
type record struct {
	Account, Region, Name string
	ID                    string
	Keys                  schema
	Definitions           []attributeDefinition
	Created               int64 // milliseconds since 1970
	Billing               string
	BillingSince          int64               `json:",omitempty"` // start of PAY_PER_REQUEST
	Throughput            throughput          // as requested
	Indexes               []index             `json:",omitempty"`
	NextIndex             uint64              `json:",omitempty"`
	Stream                uint64              `json:",omitempty"` // its number; 0 if there is none
	TimeToLive            string              `json:",omitempty"` // the attribute; empty if items do not expire
	Tags                  map[string]string   `json:",omitempty"`
	Class                 string              `json:",omitempty"`
	ClassSince            int64               `json:",omitempty"`
	Protected             bool                `json:",omitempty"`
	Encryption            *encryption         `json:",omitempty"`
	OnDemand              *onDemandThroughput `json:",omitempty"`
	Warm                  *warmThroughput     `json:",omitempty"` // as requested
	Policy                string              `json:",omitempty"`
	PolicyRevision        string              `json:",omitempty"`
	Recovery              *recovery           `json:",omitempty"`
}

// index is a secondary index.
type index struct {
	Number     uint64
	Name       string
	Local      bool `json:",omitempty"`
	Keys       schema
	Projection projection
	Throughput throughput
	OnDemand   *onDemandThroughput `json:",omitempty"`
	Warm       *warmThroughput     `json:",omitempty"` // as requested
}

// stats is the number of items and bytes in a table or an index.
type stats struct{ Items, Bytes int64 }

// table is an open table. It never changes, except for its counts: an operation that changes it replaces it.
type table struct {
	record
	number uint64
	kinds  map[string]item.Kind // kinds of the key attributes
	counts *counts
}

// counts is guarded by the service's mutex, and shared by all versions of a table.
type counts struct {
	Table   stats
	Indexes map[uint64]stats // by number
}

func newTable(number uint64, r record, c *counts) *table {
	t := &table{record: r, number: number, kinds: map[string]item.Kind{}, counts: c}
	for _, d := range r.Definitions {
		t.kinds[d.Name] = item.KindOf(d.Type)
	}
	if c.Indexes == nil {
		c.Indexes = map[uint64]stats{}
	}
	return t
}

func (t *table) scope() aws.Scope { return aws.Scope{Account: t.Account, Region: t.Region} }
func (t *table) arn() string      { return t.scope().ARN("dynamodb", "table/"+t.Name) }

// index returns the index with a name; nil if there is none.
func (t *table) index(name string) *index {
	i := slices.IndexFunc(t.Indexes, func(x index) bool { return x.Name == name })
	if i < 0 {
		return nil
	}
	return &t.Indexes[i]
}

// changed returns a copy of the table with a record that change has modified.
func (t *table) changed(change func(*record)) *table {
	r := t.record
	r.Indexes, r.Definitions = slices.Clone(r.Indexes), slices.Clone(r.Definitions)
	change(&r)
	return newTable(t.number, r, t.counts)
}

var tableName = lazyregexp.New(`^[a-zA-Z0-9_.-]+$`)

const shortestTable, longestTable = 3, 255

// nameOf returns the scope and the name of the table that a request gives by name or ARN.
func nameOf(scope aws.Scope, text string) (aws.Scope, string, error) {
	if arn, ok := aws.ParseARN(text); ok {
		name, isTable := strings.CutPrefix(arn.Resource, "table/")
		if arn.Service != "dynamodb" || !isTable {
			return scope, "", invalidf("Invalid TableArn: Invalid ResourceArn provided as input %s", text)
		}
		scope, text = arn.Scope(), name
	}
	switch {
	case len(text) > longestTable:
		return scope, "", invalidf("1 validation error detected: Value '%s' at 'tableName' failed to satisfy constraint: "+
			"Member must have length less than or equal to %d", text, longestTable)
	case len(text) < shortestTable:
		return scope, "", invalid("TableName must be at least 3 characters long and at most 255 characters long")
	case !tableName.MatchString(text):
		return scope, "", invalidf("1 validation error detected: Value '%s' at 'tableName' failed to satisfy constraint: "+
			"Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+", text)
	}
	return scope, text, nil
}

// find returns the table in a request. If it does not exist, the error is worded as in operations on tables.
func (s *Service) find(scope aws.Scope, name string) (*table, error) {
	scope, name, err := nameOf(scope, name)
	if err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if t := s.tables[address{scope, name}]; t != nil {
		return t, nil
	}
	return nil, noTable(name)
}

// open returns the table in a request. If it does not exist, the error is worded as in operations on items.
func (s *Service) open(scope aws.Scope, name string) (*table, error) {
	t, err := s.find(scope, name)
	if e, ok := err.(*aws.Error); ok && e.Code == errNoTable.Code { //nolint:errorlint // find makes it
		return nil, errNoTable
	}
	return t, err
}

// keep adds the record of a table to a batch, and replaces the previous version of the table. The caller holds mu.
func (s *Service) keep(b *documents.Batch, t *table) error {
	text, err := json.Marshal(t.record)
	if err != nil {
		return err
	}
	b.Set(key(tableKey, t.number), text)
	s.tables[address{t.scope(), t.Name}] = t
	return nil
}

// checkKey checks that a key has exactly the attributes of the table's key, with the right types.
func (t *table) checkKey(k item.Item) error {
	names := t.Keys.names()
	if len(k) != len(names) {
		return item.Invalid("The provided key element does not match the schema")
	}
	for _, name := range names {
		if k[name].Kind != t.kinds[name] {
			return item.Invalid("The provided key element does not match the schema")
		}
	}
	return t.checkKeySizes(k)
}

const maxHashBytes, maxRangeBytes = 2048, 1024

func (t *table) checkKeySizes(i item.Item) error {
	for _, name := range t.Keys.names() {
		if v := i[name]; v.Text == "" {
			return emptyKey{item.Invalid("One or more parameter values are not valid. The AttributeValue for a key attribute " +
				"cannot contain an empty " + emptyKind(v) + " value. Key: " + name)}
		}
	}
	if i[t.Keys.Hash].Size() > maxHashBytes {
		return item.Invalid(invalidParameter + "Size of hashkey has exceeded the maximum size limit of2048 bytes")
	}
	if t.Keys.Range != "" && i[t.Keys.Range].Size() > maxRangeBytes {
		return item.Invalid(invalidParameter + "Aggregated size of all range keys has exceeded the size limit of 1024 bytes")
	}
	return nil
}

// emptyKey reports an empty value of a key attribute. Unlike a value of another type, it does not cancel a transaction:
// DynamoDB rejects the request.
type emptyKey struct{ item.Invalid }

// Unwrap returns the message.
func (e emptyKey) Unwrap() error { return e.Invalid }

func emptyKind(v item.Value) string {
	if v.Kind == item.KindBinary {
		return "binary"
	}
	return "string"
}

// MaxItemBytes is the maximum size of an item.
const MaxItemBytes = 400 << 10

// checkItem checks an item to be put.
func (t *table) checkItem(i item.Item) error {
	for _, name := range t.Keys.names() {
		switch v, ok := i[name]; {
		case !ok:
			return item.Invalid(invalidParameter + "Missing the key " + name + " in the item")
		case v.Kind != t.kinds[name]:
			return item.Invalid(invalidParameter + "Type mismatch for key " + name + " expected: " + t.kinds[name].String() +
				" actual: " + v.Kind.String())
		}
	}
	if err := t.checkKeySizes(i); err != nil {
		return err
	}
	if err := t.checkIndexKeys(i); err != nil {
		return err
	}
	if i.Size() > MaxItemBytes {
		return item.Invalid("Item size has exceeded the maximum allowed size")
	}
	return nil
}

// checkIndexKeys checks the attributes of an item that are keys in indexes.
func (t *table) checkIndexKeys(i item.Item) error {
	for n := range t.Indexes {
		x := &t.Indexes[n]
		for _, name := range x.Keys.names() {
			v, ok := i[name]
			switch {
			case !ok:
			case v.Kind != t.kinds[name]:
				return item.Invalid(invalidParameter + "Type mismatch for Index Key " + name + " Expected: " +
					t.kinds[name].String() + " Actual: " + v.Kind.String() + " IndexName: " + x.Name)
			case v.Text == "":
				return emptyKey{item.Invalid("One or more parameter values are not valid. A value specified for a secondary index " +
					"key is not supported. The AttributeValue for a key attribute cannot contain an empty " + emptyKind(v) +
					" value. IndexName: " + x.Name + ", IndexKey: " + name)}
			}
		}
		if total(i, x.Keys.hashes()) > maxHashBytes {
			return item.Invalid(invalidParameter + "Size of hashkey has exceeded the maximum size limit of2048 bytes")
		}
		if total(i, x.Keys.ranges()) > maxRangeBytes {
			return item.Invalid(invalidParameter + "Aggregated size of all range keys has exceeded the size limit of 1024 bytes")
		}
	}
	return nil
}

// total returns the size of some attributes of an item.
func total(i item.Item, names []string) (n int) {
	for _, name := range names {
		if v, ok := i[name]; ok {
			n += v.Size()
		}
	}
	return n
}

// place returns the place of an item or a key in the table.
func (t *table) place(k item.Item) []byte { return appendPlace(nil, t.Keys, k) }

// itemKey returns the store's key for a place in the table.
func (t *table) itemKey(place []byte) []byte { return append(key(itemKey, t.number), place...) }

// has reports whether an item is in the index: indexes are sparse and exclude items without their keys.
func (x *index) has(i item.Item) bool {
	for _, name := range x.Keys.names() {
		if _, ok := i[name]; !ok {
			return false
		}
	}
	return i != nil
}

// entry returns the store's key for an item's entry in an index.
func (t *table) entry(x *index, i item.Item, place []byte) []byte {
	return append(appendPlace(key(indexKey, t.number, x.Number), x.Keys, i), place...)
}

// project returns the part of an item that an index projects.
func (t *table) project(x *index, i item.Item) item.Item {
	if x.Projection.Type == projectAll {
		return i
	}
	shown := item.Item{}
	for _, names := range [][]string{t.Keys.names(), x.Keys.names(), x.Projection.NonKey} {
		for _, name := range names {
			if v, ok := i[name]; ok {
				shown[name] = v
			}
		}
	}
	return shown
}

// keyOf returns the key of an item.
func (t *table) keyOf(i item.Item) item.Item {
	k := item.Item{}
	for _, name := range t.Keys.names() {
		k[name] = i[name]
	}
	return k
}
