package dynamodb

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/jsonvalue"
	"stepback/local/services/documents"
	"stepback/local/services/dynamodb/expression"
	"stepback/local/services/dynamodb/item"
)

// pageBytes is the maximum size that a query or a scan reads at a time.
const pageBytes = 1 << 20

// listing holds the parameters common to queries and scans.
type listing struct {
	tableRequest
	placeholders
	reading
	Index    string          `json:"IndexName"`
	Select   string          `json:"Select"`
	Limit    int             `json:"Limit"`
	Filter   *string         `json:"FilterExpression"`
	Joined   *string         `json:"ConditionalOperator"`
	Start    jsonvalue.Value `json:"ExclusiveStartKey"`
	Capacity string          `json:"ReturnConsumedCapacity"`
	flat     bool            // the projection is that of a PartiQL statement
}

type listed struct {
	Items    []item.Item `json:"Items,omitzero"`
	Count    int
	Scanned  int       `json:"ScannedCount"`
	Last     item.Item `json:"LastEvaluatedKey,omitempty"`
	Capacity *consumed `json:"ConsumedCapacity,omitempty"`
}

// page is a parsed query or scan: the range to read, and what to return of it.
type page struct {
	table      *table
	index      *index // nil for the table itself
	first, end []byte // keys in the store
	backward   bool
	start      []byte // the key after which to start; nil for the first one
	filter     *expression.Condition
	projection *expression.Projection
	whole      bool // items of an index with all attributes, including those that it does not project
	countOnly  bool
	limit      int
	consistent bool
	single     bool // a query of a table without a sort key, which has one item at most
	wholeTable bool // a scan that may read the whole table
}

// prefix returns the common prefix of all keys of the page's table or index.
func (p *page) prefix() []byte {
	if p.index == nil {
		return key(itemKey, p.table.number)
	}
	return key(indexKey, p.table.number, p.index.Number)
}

// keys returns the schema by which the page is ordered.
func (p *page) keys() schema {
	if p.index == nil {
		return p.table.Keys
	}
	return p.index.Keys
}

// newPage parses the parameters that queries and scans share. filter is the name of the legacy filter parameter.
// legacyFilter is its value.
func (s *Service) newPage(scope aws.Scope, in *listing, params *expression.Parameters, filter string,
	legacyFilter jsonvalue.Value) (*page, error) {
	t, err := s.open(scope, in.Name)
	if err != nil {
		return nil, err
	}
	p := &page{table: t, limit: in.Limit, consistent: in.Consistent, countOnly: in.Select == "COUNT"}
	if in.Index != "" {
		if p.index = t.index(in.Index); p.index == nil {
			return nil, item.Invalid("The table does not have the specified index: " + in.Index)
		}
		if !p.index.Local && in.Consistent {
			return nil, item.Invalid("Consistent reads are not supported on global secondary indexes")
		}
	}
	switch {
	case in.Filter != nil:
		if p.filter, err = expression.ParseCondition("FilterExpression", *in.Filter, params); err != nil {
			return nil, err
		}
		var paths []expression.Path
		p.filter.Paths(func(path expression.Path) { paths = append(paths, path) })
		if err := t.checkPaths(paths); err != nil {
			return nil, err
		}
	case !legacyFilter.IsNull():
		if p.filter, err = expression.AttributeConditions(legacyFilter, in.Joined); err != nil {
			return nil, err
		}
	case in.Joined != nil && filter == "ScanFilter":
		return nil, item.Invalid("ConditionalOperator cannot be used without Filter or Expected")
	}
	if p.projection, err = in.parse(t, params); err != nil {
		return nil, err
	}
	if p.projection != nil {
		p.projection.Flat = in.flat
	}
	if err := p.checkSelect(in); err != nil {
		if filter == "QueryFilter" && !strings.HasPrefix(err.Error(), invalidParameter) {
			err = enveloped(err)
		}
		return nil, err
	}
	return p, p.checkProjected()
}

func (p *page) checkSelect(in *listing) error {
	projected := in.Projection != nil || in.Attributes != nil
	switch in.Select {
	case "ALL_ATTRIBUTES":
		p.whole = true
		if p.index != nil && !p.index.Local && p.index.Projection.Type != projectAll {
			return item.Invalid(invalidParameter + "Select type ALL_ATTRIBUTES is not supported for global secondary index " +
				p.index.Name + " because its projection type is not ALL")
		}
	case "ALL_PROJECTED_ATTRIBUTES":
		if p.index == nil {
			return item.Invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
		}
	case "SPECIFIC_ATTRIBUTES":
		if !projected {
			return item.Invalid("Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES")
		}
	}
	if projected && in.Select != "" && in.Select != "SPECIFIC_ATTRIBUTES" {
		what := "AttributesToGet"
		if in.Projection != nil {
			what = "ProjectionExpression"
		}
		if in.Select == "COUNT" {
			return item.Invalid("Cannot specify the " + what + " when choosing to get only the Count")
		}
		return item.Invalid("Cannot specify the " + what + " when choosing to get " + in.Select)
	}
	return nil
}

// checkProjected handles requested attributes that the index does not project. A query of a local index fetches
// them from the table; for a global index the error is returned.
func (p *page) checkProjected() error {
	if p.index == nil || p.projection == nil || p.index.Projection.Type == projectAll {
		return nil
	}
	has := item.Item{}
	for _, names := range [][]string{p.table.Keys.names(), p.index.Keys.names(), p.index.Projection.NonKey} {
		for _, name := range names {
			has[name] = item.Value{}
		}
	}
	for _, path := range p.projection.Paths() {
		name := path[0].Name
		if _, ok := has[name]; ok {
			continue
		}
		if p.index.Local {
			p.whole = true
			continue
		}
		return item.Invalid(invalidParameter + "Global secondary index " + p.index.Name + " does not project [" + name + "]")
	}
	return nil
}

// startAt parses the key after which the page starts. It must have the key attributes of the table and of the
// index.
func (p *page) startAt(given jsonvalue.Value) (item.Item, error) {
	if given.IsNull() {
		return nil, nil
	}
	const wrong = item.Invalid("The provided starting key is invalid")
	start, err := item.AttributesFromJSON(given)
	if err != nil {
		return nil, wrong + ": " + item.Invalid(err.Error())
	}
	want := map[string]bool{}
	for _, names := range [][]string{p.table.Keys.names(), p.keys().names()} {
		for _, name := range names {
			want[name] = true
			if start[name].Kind != p.table.kinds[name] {
				if p.index == nil {
					return nil, wrong + ": The provided key element does not match the schema"
				}
				return nil, wrong
			}
		}
	}
	if len(start) != len(want) {
		return nil, wrong
	}
	if err := p.table.checkKeySizes(start); err != nil {
		return nil, wrong + ": " + item.Invalid(err.Error())
	}
	if p.single {
		name := p.table.Keys.Hash
		return nil, item.Invalid("The provided exclusive start key is invalid: ExclusiveStartKey: {" + name + "=AttributeValue: {" +
			start[name].Kind.String() + ":" + start[name].Text + "}}")
	}
	place := p.table.place(start)
	if p.index == nil {
		p.start = p.table.itemKey(place)
	} else {
		p.start = p.table.entry(p.index, start, place)
	}
	return start, nil
}

// newPartitions is the number of partitions of a new on-demand table. A scan of the table pays for each.
const newPartitions = 4

// errEnough stops the reading of a full page.
var errEnough = errors.New("the page is full")

// list reads the page.
func (s *Service) list(p *page, asked string) (*listed, error) {
	first, end := p.first, p.end
	if p.start != nil {
		if p.backward {
			if end == nil || bytes.Compare(p.start, end) < 0 {
				end = p.start
			}
		} else if behind := slices.Concat(p.start, []byte{0}); bytes.Compare(behind, first) > 0 {
			first = behind
		}
	}
	out := &listed{}
	if !p.countOnly {
		out.Items = []item.Item{}
	}
	size, fetched := 0, 0
	var last item.Item
	err := error(nil)
	if end == nil || bytes.Compare(first, end) < 0 {
		err = s.store.Range(first, end, p.backward, func(k, value []byte) error {
			i, err := s.entryItem(p, k, value)
			if err != nil || i == nil {
				return err
			}
			shown := i
			if p.index != nil {
				shown = p.table.project(p.index, i)
				if p.whole && p.index.Projection.Type != projectAll {
					fetched += i.Size()
				}
			}
			size += shown.Size()
			out.Scanned++
			if p.whole {
				shown = i
			}
			if p.filter == nil || p.filter.Holds(shown) {
				out.Count++
				if !p.countOnly {
					if p.projection != nil {
						shown = p.projection.Of(shown)
					}
					out.Items = append(out.Items, shown)
				}
			}
			if p.limit > 0 && out.Scanned >= p.limit || size >= pageBytes {
				last = i
				return errEnough
			}
			return nil
		})
	}
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	if last != nil && !p.single {
		out.Last = p.table.keyOf(last)
		for _, name := range p.keys().names() {
			out.Last[name] = last[name]
		}
	}
	u := usage{table: p.table}
	if p.index == nil {
		u.own = readUnits(size, p.consistent)
		if p.wholeTable && out.Last == nil && p.table.Billing == payPerRequest {
			u.own = max(u.own, newPartitions*readUnits(0, p.consistent))
		}
	} else {
		u.addIndex(p.index.Name, readUnits(size, p.consistent))
		if fetched > 0 {
			u.own = readUnits(fetched, p.consistent)
		}
	}
	out.Capacity = u.answer(asked)
	return out, s.waitForVisible()
}

// entryItem returns the item for a key of the page. It returns nil if the item has changed since the index entry
// was read.
func (s *Service) entryItem(p *page, k, value []byte) (item.Item, error) {
	if p.index == nil {
		return item.Decode(value)
	}
	i, err := s.read(p.table, value)
	if err != nil || !p.index.has(i) || !bytes.Equal(p.table.entry(p.index, i, value), k) {
		return nil, err
	}
	return i, nil
}

// within sets the bounds of the page to all keys with a prefix.
func (p *page) within(prefix []byte) { p.first, p.end = prefix, documents.After(prefix) }
