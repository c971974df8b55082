package dynamodb

import (
	"context"

	"stepback/aws"
	"stepback/jsonvalue"
	"stepback/local/services/documents"
	"stepback/local/services/dynamodb/expression"
	"stepback/local/services/dynamodb/item"
)

const (
	mostGets      = 100
	mostWrites    = 25
	batchGetBytes = 16 << 20
)

type batchGet struct {
	Items    map[string]*keysAndAttributes `json:"RequestItems"`
	Capacity string                        `json:"ReturnConsumedCapacity"`
}

type keysAndAttributes struct {
	Keys []jsonvalue.Value `json:"Keys"`
	reading
	Names map[string]string `json:"ExpressionAttributeNames"`
}

type batchGotten struct {
	Responses   map[string][]item.Item
	Unprocessed map[string]unprocessedKeys `json:"UnprocessedKeys"`
	Capacity    []*consumed                `json:"ConsumedCapacity,omitempty"`
}

// unprocessedKeys holds the keys that did not fit into the response, in the form of a request that reads them.
type unprocessedKeys struct {
	Keys       []item.Item
	Projection *string           `json:"ProjectionExpression,omitempty"`
	Attributes []string          `json:"AttributesToGet,omitempty"`
	Consistent bool              `json:"ConsistentRead,omitempty"`
	Names      map[string]string `json:"ExpressionAttributeNames,omitempty"`
}

// tableGets holds the reads of a batch from one table.
type tableGets struct {
	name       string
	asked      *keysAndAttributes
	table      *table
	keys       []*mutation
	projection *expression.Projection
}

func (s *Service) batchGetItem(_ context.Context, scope aws.Scope, in *batchGet) (*batchGotten, error) {
	n := 0
	for _, asked := range in.Items {
		n += len(asked.Keys)
	}
	if n > mostGets {
		return nil, item.Invalid("Too many items requested for the BatchGetItem call")
	}
	var all []*tableGets
	for name, asked := range in.Items {
		g, err := s.newGets(scope, name, asked)
		if err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	out := &batchGotten{Responses: map[string][]item.Item{}, Unprocessed: map[string]unprocessedKeys{}}
	size := 0
	for _, g := range all {
		u := usage{table: g.table}
		out.Responses[g.name] = []item.Item{}
		for _, m := range g.keys {
			if size > batchGetBytes {
				left := out.Unprocessed[g.name]
				left = unprocessedKeys{append(left.Keys, m.key), g.asked.Projection, g.asked.Attributes,
					g.asked.Consistent,
					g.asked.Names}
				out.Unprocessed[g.name] = left
				continue
			}
			i, err := s.read(g.table, m.place)
			if err != nil {
				return nil, err
			}
			size += i.Size()
			u.own += readUnits(i.Size(), g.asked.Consistent)
			if i == nil {
				continue
			}
			if g.projection != nil {
				i = g.projection.Of(i)
			}
			out.Responses[g.name] = append(out.Responses[g.name], i)
		}
		if c := u.answer(in.Capacity); c != nil {
			out.Capacity = append(out.Capacity, c)
		}
	}
	return out, s.waitForVisible()
}

func (s *Service) newGets(scope aws.Scope, name string, asked *keysAndAttributes) (*tableGets, error) {
	g := &tableGets{name: name, asked: asked}
	params, err := (&placeholders{Names: asked.Names}).check(
		[]given{{"ProjectionExpression", asked.Projection != nil}},
		[]given{{"AttributesToGet", asked.Attributes != nil}})
	if err != nil {
		return nil, err
	}
	if g.table, err = s.open(scope, name); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, k := range asked.Keys {
		m, err := s.newMutation(scope, name, k)
		if err != nil {
			return nil, err
		}
		if seen[string(m.place)] {
			return nil, item.Invalid("Provided list of item keys contains duplicates")
		}
		seen[string(m.place)] = true
		g.keys = append(g.keys, m)
	}
	if g.projection, err = asked.parse(g.table, params); err != nil {
		return nil, err
	}
	return g, params.Unused()
}

type batchWrite struct {
	Items    map[string][]writeRequest `json:"RequestItems"`
	Capacity string                    `json:"ReturnConsumedCapacity"`
	Metrics  string                    `json:"ReturnItemCollectionMetrics"`
}

type writeRequest struct {
	Put *struct {
		Item jsonvalue.Value
	} `json:"PutRequest"`
	Delete *struct {
		Key jsonvalue.Value
	} `json:"DeleteRequest"`
}

type batchWritten struct {
	Unprocessed map[string][]writeRequest `json:"UnprocessedItems"`
	Collections map[string][]*collection  `json:"ItemCollectionMetrics,omitempty"`
	Capacity    []*consumed               `json:"ConsumedCapacity,omitempty"`
}

func (s *Service) batchWriteItem(_ context.Context, scope aws.Scope, in *batchWrite) (*batchWritten, error) {
	var all []*mutation
	of := map[string][]*mutation{}
	seen := map[string]bool{}
	n := 0
	for _, requests := range in.Items {
		n += len(requests)
	}
	if n > mostWrites {
		return nil, item.Invalid("Too many items requested for the BatchWriteItem call")
	}
	for name, requests := range in.Items {
		if len(requests) == 0 {
			return nil, item.Invalid("The batch write request list for a table cannot be null or empty: " + name)
		}
		for _, r := range requests {
			var m *mutation
			var err error
			switch {
			case r.Put != nil && r.Delete == nil:
				m, err = s.newBatchPut(scope, name, r.Put.Item)
			case r.Delete != nil && r.Put == nil:
				if m, err = s.newMutation(scope, name, r.Delete.Key); err == nil {
					m.remove = true
				}
			default:
				err = item.Invalid("Supplied AttributeValue has more than one datatypes set, must contain exactly one of the " +
					"supported datatypes")
			}
			if err != nil {
				return nil, err
			}
			k := string(m.table.itemKey(m.place))
			if seen[k] {
				return nil, item.Invalid("Provided list of item keys contains duplicates")
			}
			seen[k] = true
			all = append(all, m)
			of[name] = append(of[name], m)
		}
	}
	if err := s.change(func(now int64, b *documents.Batch) error { return s.applyAll(now, b, all) }); err != nil {
		return nil, err
	}
	out := &batchWritten{Unprocessed: map[string][]writeRequest{}}
	for name, ms := range of {
		u := usage{table: ms[0].table}
		for _, m := range ms {
			u.addWrite(m)
			if c := m.collection(in.Metrics); c != nil {
				if out.Collections == nil {
					out.Collections = map[string][]*collection{}
				}
				out.Collections[name] = append(out.Collections[name], c)
			}
		}
		if c := u.answer(in.Capacity); c != nil {
			out.Capacity = append(out.Capacity, c)
		}
	}
	return out, nil
}

// newBatchPut returns the mutation that puts an item of a batch. Its errors about the key are not those of PutItem.
func (s *Service) newBatchPut(scope aws.Scope, name string, given jsonvalue.Value) (*mutation, error) {
	i, err := item.AttributesFromJSON(given)
	if err != nil {
		return nil, err
	}
	t, err := s.open(scope, name)
	if err != nil {
		return nil, err
	}
	for _, name := range t.Keys.names() {
		if i[name].Kind != t.kinds[name] {
			return nil, item.Invalid("The provided key element does not match the schema")
		}
	}
	return putMutation(t, i)
}

// applyAll executes mutations of different items. The caller holds mu.
func (s *Service) applyAll(now int64, b *documents.Batch, all []*mutation) error {
	for _, m := range all {
		if err := s.current(m); err != nil {
			return err
		}
		if err := s.decide(m); err != nil {
			return err
		}
	}
	for _, m := range all {
		if err := s.apply(now, b, m); err != nil {
			return err
		}
	}
	return nil
}
