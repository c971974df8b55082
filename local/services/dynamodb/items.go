package dynamodb

import (
	"context"
	"errors"
	"strings"

	"stepback/aws"
	"stepback/jsonvalue"
	"stepback/local/services/documents"
	"stepback/local/services/dynamodb/expression"
	"stepback/local/services/dynamodb/item"
)

// writing holds the parameters common to all writes of one item.
type writing struct {
	tableRequest
	conditional
	Return   string `json:"ReturnValues"`
	Capacity string `json:"ReturnConsumedCapacity"`
	Metrics  string `json:"ReturnItemCollectionMetrics"`

	parsed *expression.Condition
}

type written struct {
	Attributes item.Item   `json:"Attributes,omitzero"`
	Capacity   *consumed   `json:"ConsumedCapacity,omitempty"`
	Collection *collection `json:"ItemCollectionMetrics,omitempty"`
}

type putItem struct {
	writing
	Item jsonvalue.Value
}

func (s *Service) putItem(_ context.Context, scope aws.Scope, in *putItem) (*written, error) {
	i, err := in.parseWith(in.Item)
	if err != nil {
		return nil, enveloped(err)
	}
	t, err := s.open(scope, in.Name)
	if err != nil {
		return nil, err
	}
	m, err := putMutation(t, i)
	if err != nil {
		return nil, err
	}
	return s.write(&in.writing, m)
}

// envelope precedes the messages about invalid parameters of PutItem, UpdateItem and DeleteItem, and some of Query,
// that DynamoDB finds before it looks at the table; no other operation has it.
const envelope = "1 validation error detected: "

// enveloped returns err with the envelope if it is about an invalid parameter.
func enveloped(err error) error {
	var message item.Invalid
	if errors.As(err, &message) && !strings.HasPrefix(string(message), envelope) {
		return envelope + message
	}
	return err
}

// parseWith checks and parses what a PutItem or DeleteItem request consists of besides its table: its item or key, and
// its condition.
func (in *writing) parseWith(given jsonvalue.Value) (item.Item, error) {
	if err := allOldOrNone(in.Return); err != nil {
		return nil, err
	}
	params, err := in.check(in.expressions(), in.legacy())
	if err != nil {
		return nil, err
	}
	i, err := item.AttributesFromJSON(given)
	if err != nil {
		return nil, err
	}
	if in.parsed, err = in.condition(params); err != nil {
		return nil, err
	}
	return i, params.Unused()
}

// expressions returns the expressions of a write.
func (in *writing) expressions() []given {
	return []given{{"ConditionExpression", in.Condition != nil}}
}

// putMutation returns the mutation that puts an item.
func putMutation(t *table, i item.Item) (*mutation, error) {
	if err := t.checkItem(i); err != nil {
		return nil, err
	}
	return &mutation{table: t, place: t.place(i), key: t.keyOf(i), put: i}, nil
}

// write executes a mutation under the request's condition, which has been parsed.
func (s *Service) write(in *writing, m *mutation) (*written, error) {
	m.condition, m.tellOld = in.parsed, in.tellsOld()
	if err := s.carryOut(m); err != nil {
		return nil, err
	}
	out := &written{Attributes: returned(m, in.Return), Collection: m.collection(in.Metrics)}
	if in.Capacity != "" {
		u := usage{table: m.table}
		u.addWrite(m)
		out.Capacity = u.answer(in.Capacity)
	}
	return out, nil
}

// carryOut executes a single mutation.
func (s *Service) carryOut(m *mutation) error {
	return s.change(func(now int64, b *documents.Batch) error {
		if err := s.current(m); err != nil {
			return err
		}
		if err := s.decide(m); err != nil {
			return err
		}
		return s.apply(now, b, m)
	})
}

// current updates a mutation to the present state of its table, which may have changed between building the
// mutation and taking the lock. The caller holds mu.
func (s *Service) current(m *mutation) error {
	t := s.tables[address{m.table.scope(), m.table.Name}]
	if t == m.table {
		return nil
	}
	if t == nil || t.number != m.table.number {
		return errNoTable
	}
	m.table = t
	if m.put != nil {
		return t.checkItem(m.put)
	}
	return nil
}

type deleteItem struct {
	writing
	Key jsonvalue.Value
}

func (s *Service) deleteItem(_ context.Context, scope aws.Scope, in *deleteItem) (*written, error) {
	k, err := in.parseWith(in.Key)
	if err != nil {
		return nil, enveloped(err)
	}
	m, err := s.mutationOf(scope, in.Name, k)
	if err != nil {
		return nil, err
	}
	m.remove = true
	return s.write(&in.writing, m)
}

// newMutation returns a mutation of the item with a key. It changes nothing until an update, a put or a deletion is
// added.
func (s *Service) newMutation(scope aws.Scope, name string, given jsonvalue.Value) (*mutation, error) {
	k, err := item.AttributesFromJSON(given)
	if err != nil {
		return nil, err
	}
	return s.mutationOf(scope, name, k)
}

// mutationOf is like newMutation, with a parsed key.
func (s *Service) mutationOf(scope aws.Scope, name string, k item.Item) (*mutation, error) {
	t, err := s.open(scope, name)
	if err != nil {
		return nil, err
	}
	if err := t.checkKey(k); err != nil {
		return nil, err
	}
	return &mutation{table: t, place: t.place(k), key: k}, nil
}

type updateItem struct {
	writing
	Key     jsonvalue.Value
	Update  *string         `json:"UpdateExpression"`
	Updates jsonvalue.Value `json:"AttributeUpdates"`
}

func (s *Service) updateItem(_ context.Context, scope aws.Scope, in *updateItem) (*written, error) {
	k, u, err := in.parse()
	if err != nil {
		return nil, enveloped(err)
	}
	m, err := s.mutationOf(scope, in.Name, k)
	if err != nil {
		return nil, err
	}
	if m.update, err = m.table.checkUpdate(u); err != nil {
		return nil, err
	}
	return s.write(&in.writing, m)
}

// parse checks and parses what the request consists of besides its table: its key, its update and its condition.
func (in *updateItem) parse() (k item.Item, u *expression.Update, err error) {
	params, err := in.check(append([]given{{"UpdateExpression", in.Update != nil}}, in.expressions()...),
		append([]given{{"AttributeUpdates", !in.Updates.IsNull()}}, in.legacy()...))
	if err != nil {
		return nil, nil, err
	}
	if k, err = item.AttributesFromJSON(in.Key); err != nil {
		return nil, nil, err
	}
	if u, err = parseUpdate(in.Update, in.Updates, params); err != nil {
		return nil, nil, err
	}
	if in.parsed, err = in.condition(params); err != nil {
		return nil, nil, err
	}
	return k, u, params.Unused()
}

// parseUpdate parses an update in its new or its legacy form.
func parseUpdate(text *string, old jsonvalue.Value, params *expression.Parameters) (*expression.Update, error) {
	switch {
	case text != nil:
		return expression.ParseUpdate(*text, params)
	case !old.IsNull():
		return expression.AttributeUpdates(old)
	}
	return &expression.Update{}, nil
}

// checkUpdate checks that an update does not change the key, and returns it.
func (t *table) checkUpdate(u *expression.Update) (*expression.Update, error) {
	for _, path := range u.Paths() {
		for _, name := range t.Keys.names() {
			if path[0].Name == name {
				return nil, item.Invalid(invalidParameter + "Cannot update attribute " + name + ". This attribute is part of the key")
			}
		}
	}
	return u, nil
}

// reading holds the parameters common to all reads of items.
type reading struct {
	Projection *string  `json:"ProjectionExpression"`
	Attributes []string `json:"AttributesToGet"`
	Consistent bool     `json:"ConsistentRead"`
}

// parse returns the projection; nil for whole items.
func (r *reading) parse(t *table, params *expression.Parameters) (*expression.Projection, error) {
	switch {
	case r.Projection != nil:
		p, err := expression.ParseProjection(*r.Projection, params)
		if err != nil {
			return nil, err
		}
		return p, t.checkPaths(p.Paths())
	case r.Attributes != nil:
		var paths []expression.Path
		seen := map[string]bool{}
		for _, name := range r.Attributes {
			if err := item.CheckName(name); err != nil {
				return nil, err
			}
			if seen[name] {
				return nil, item.Invalid(invalidParameter + "Duplicate value in attribute name: " + name)
			}
			seen[name] = true
			paths = append(paths, expression.Attribute(name))
		}
		return expression.NewProjection(paths...), nil
	}
	return nil, nil
}

// checkPaths rejects paths into key attributes, which are scalars.
func (t *table) checkPaths(paths []expression.Path) error {
	for _, path := range paths {
		if len(path) == 1 {
			continue
		}
		const scalars = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
		for _, name := range t.Keys.names() {
			if path[0].Name == name {
				return item.Invalid(scalars + "Key: " + name)
			}
		}
		if _, ok := t.kinds[path[0].Name]; ok {
			return item.Invalid(scalars + "IndexKey: " + path[0].Name)
		}
	}
	return nil
}

type getItem struct {
	tableRequest
	reading
	Names    map[string]string `json:"ExpressionAttributeNames"`
	Key      jsonvalue.Value
	Capacity string `json:"ReturnConsumedCapacity"`
}

type gotten struct {
	Item     item.Item `json:"Item,omitzero"`
	Capacity *consumed `json:"ConsumedCapacity,omitempty"`
}

func (s *Service) getItem(_ context.Context, scope aws.Scope, in *getItem) (*gotten, error) {
	params, err := (&placeholders{Names: in.Names}).check([]given{{"ProjectionExpression", in.Projection != nil}},
		[]given{{"AttributesToGet", in.Attributes != nil}})
	if err != nil {
		return nil, err
	}
	m, err := s.newMutation(scope, in.Name, in.Key)
	if err != nil {
		return nil, err
	}
	p, err := in.parse(m.table, params)
	if err != nil {
		return nil, err
	}
	if err := params.Unused(); err != nil {
		return nil, err
	}
	i, err := s.read(m.table, m.place)
	if err == nil {
		err = s.waitForVisible()
	}
	if err != nil {
		return nil, err
	}
	u := usage{table: m.table, own: readUnits(i.Size(), in.Consistent)}
	out := &gotten{Item: i, Capacity: u.answer(in.Capacity)}
	if p != nil && i != nil {
		out.Item = p.Of(i)
	}
	return out, nil
}
