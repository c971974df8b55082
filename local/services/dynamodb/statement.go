package dynamodb

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/jsonvalue"
	"stepback/local/services/dynamodb/expression"
	"stepback/local/services/dynamodb/item"
	"stepback/local/services/dynamodb/partiql"
)

// statement is a PartiQL statement in a request.
type statement struct {
	Text       string `json:"Statement"`
	Parameters []jsonvalue.Value
	Consistent bool   `json:"ConsistentRead"`
	OnFailure  string `json:"ReturnValuesOnConditionCheckFailure"`
}

// parse parses the statement.
func (in *statement) parse() (*partiql.Statement, error) {
	params := make([]item.Value, len(in.Parameters))
	for i, p := range in.Parameters {
		var err error
		if params[i], err = item.FromJSON(p); err != nil {
			return nil, err
		}
	}
	return partiql.Parse(in.Text, params)
}

type executeStatement struct {
	statement
	Next     string `json:"NextToken"`
	Capacity string `json:"ReturnConsumedCapacity"`
	Limit    int
}

type executed struct {
	Items    []item.Item
	Next     string    `json:"NextToken,omitempty"`
	Capacity *consumed `json:"ConsumedCapacity,omitempty"`
	Last     item.Item `json:"LastEvaluatedKey,omitempty"`
}

func (s *Service) executeStatement(ctx context.Context, scope aws.Scope, in *executeStatement) (*executed, error) {
	st, err := in.parse()
	if err != nil {
		return nil, err
	}
	switch st.Verb {
	case partiql.Select:
		return s.selectItems(ctx, scope, in, st)
	case partiql.Exists:
		return nil, item.Invalid("EXISTS can only be used within ExecuteTransaction")
	case partiql.Insert, partiql.Update, partiql.Delete:
	}
	if in.Next != "" || in.Limit != 0 {
		return nil, item.Invalid("NextToken and Limit can only be given with SELECT statements")
	}
	m, err := s.statementMutation(scope, &in.statement, st)
	if err != nil {
		return nil, err
	}
	if err := statementResult(st, s.carryOut(m)); err != nil {
		return nil, err
	}
	out := &executed{Items: []item.Item{}}
	if shown := returned(m, st.Returning); shown != nil {
		out.Items = append(out.Items, shown)
	}
	if in.Capacity != "" {
		u := usage{table: m.table}
		u.addWrite(m)
		out.Capacity = u.answer(in.Capacity)
	}
	return out, nil
}

// statementResult converts the error of a writing statement. Deleting a missing item is not an error.
func statementResult(st *partiql.Statement, err error) error {
	var e *aws.Error
	if !errors.As(err, &e) || e.Code != "ConditionalCheckFailedException" {
		return err
	}
	if st.Verb == partiql.Delete {
		return nil
	}
	return err
}

const mandatoryKey = "Where clause does not contain a mandatory equality on all key attributes"

// statementMutation returns the mutation of an INSERT, UPDATE, DELETE or EXISTS.
func (s *Service) statementMutation(scope aws.Scope, in *statement, st *partiql.Statement) (*mutation, error) {
	t, err := s.open(scope, st.Table)
	if err != nil {
		return nil, err
	}
	if st.Index != "" && st.Verb != partiql.Exists {
		return nil, item.Invalid("Statement wasn't well formed, can't be processed: Expected a table, not an index")
	}
	e := &partiql.Expressions{}
	if st.Verb == partiql.Insert {
		m, err := putMutation(t, st.Item)
		if err != nil {
			return nil, err
		}
		m.tellOld, m.insert = in.OnFailure == returnAllOld, true
		absent := &partiql.Node{Op: "attribute_not_exists", Kids: []*partiql.Node{{Op: "path",
			Path: expression.Attribute(t.Keys.Hash)}}}
		return m, condition(m, e, []*partiql.Node{absent})
	}
	key, rest := st.Split(t.Keys.names())
	if key == nil {
		return nil, item.Invalid(mandatoryKey)
	}
	if err := t.checkKey(key); err != nil {
		return nil, err
	}
	m := &mutation{table: t, place: t.place(key), key: key, tellOld: in.OnFailure == returnAllOld}
	there := &partiql.Node{Op: "attribute_exists", Kids: []*partiql.Node{{Op: "path",
		Path: expression.Attribute(t.Keys.Hash)}}}
	if st.Verb == partiql.Update {
		text := e.Update(st)
		params, err := expression.NewParameters(e.Names, e.Values)
		if err != nil {
			return nil, err
		}
		u, err := parseUpdate(&text, jsonvalue.Value{}, params)
		if err != nil {
			return nil, err
		}
		if m.update, err = t.checkUpdate(u); err != nil {
			return nil, err
		}
		e = &partiql.Expressions{}
	}
	m.remove = st.Verb == partiql.Delete
	if m.remove && st.Returning != "" && st.Returning != returnAllOld {
		return nil, item.Invalid("DELETE statements can only return ALL OLD *")
	}
	return m, condition(m, e, append([]*partiql.Node{there}, rest...))
}

// condition sets the condition of a mutation.
func condition(m *mutation, e *partiql.Expressions, all []*partiql.Node) error {
	text := e.All(all)
	params, err := expression.NewParameters(e.Names, e.Values)
	if err == nil {
		m.condition, err = expression.ParseCondition("ConditionExpression", text, params)
	}
	return err
}

// selectItems executes a SELECT: as a query if an equality of the partition key allows it, otherwise as a scan.
func (s *Service) selectItems(ctx context.Context, scope aws.Scope, in *executeStatement,
	st *partiql.Statement) (*executed, error) {
	t, err := s.open(scope, st.Table)
	if err != nil {
		return nil, err
	}
	keys := t.Keys
	if st.Index != "" {
		x := t.index(st.Index)
		if x == nil {
			return nil, item.Invalid("The table does not have the specified index: " + st.Index)
		}
		keys = x.Keys
	}
	e := &partiql.Expressions{}
	list := listing{tableRequest: tableRequest{st.Table}, Index: st.Index, Limit: in.Limit, Capacity: in.Capacity,
		flat:    true,
		reading: reading{Consistent: in.Consistent}}
	if st.Paths != nil {
		paths := make([]string, len(st.Paths))
		for i, p := range st.Paths {
			paths[i] = e.Path(p)
		}
		text := strings.Join(paths, ", ")
		list.Projection = &text
	}
	if list.Start, err = startOf(in.Next); err != nil {
		return nil, err
	}
	key, filter := keyConditions(st, keys)
	if st.Order != "" && (key == nil || st.Order != keys.Range && st.Order != keys.Hash) {
		return nil, item.Invalid("Must have WHERE clause in the statement when using ORDER BY clause.")
	}
	if text := e.All(filter); text != "" {
		list.Filter = &text
	}
	var found *listed
	if key == nil {
		if err = list.fill(e); err == nil {
			found, err = s.scan(ctx, scope, &scan{listing: list})
		}
	} else {
		text, forward := e.All(key), !st.Descending
		if err = list.fill(e); err == nil {
			found, err = s.query(ctx, scope, &query{listing: list, Key: &text, Forward: &forward})
		}
	}
	if err != nil {
		return nil, err
	}
	out := &executed{Items: found.Items, Capacity: found.Capacity, Last: found.Last}
	if out.Items == nil {
		out.Items = []item.Item{}
	}
	if found.Last != nil {
		out.Next = base64.StdEncoding.EncodeToString(found.Last.AppendJSON(nil))
	}
	return out, nil
}

// fill sets the placeholders of a listing's expressions.
func (l *listing) fill(e *partiql.Expressions) (err error) {
	l.Names = e.Names
	if len(e.Values) > 0 {
		l.Values, err = jsonvalue.Parse(string(e.Values.AppendJSON(nil)))
	}
	return err
}

// startOf decodes the key in a token.
func startOf(token string) (start jsonvalue.Value, err error) {
	if token == "" {
		return start, nil
	}
	text, err := base64.StdEncoding.DecodeString(token)
	if err == nil {
		start, err = jsonvalue.Parse(string(text))
	}
	if err != nil {
		return start, item.Invalid("Given NextToken is not valid")
	}
	return start, nil
}

// keyConditions divides the conditions of a SELECT into a query's key conditions and its filter. key is nil if no
// condition determines the partition, or if the filter uses key attributes too.
func keyConditions(st *partiql.Statement, keys schema) (key, filter []*partiql.Node) {
	if keys.several() {
		return nil, st.Where
	}
	var partition, sort *partiql.Node
	for _, n := range st.Where {
		name, op, _, ok := n.Key()
		switch {
		case ok && name == keys.Hash && op == "=" && partition == nil:
			partition = n
		case ok && name == keys.Range && sort == nil && keys.Range != "":
			sort = n
		default:
			filter = append(filter, n)
		}
	}
	if partition == nil || slices.ContainsFunc(filter, func(n *partiql.Node) bool { return about(n, keys.names()) }) {
		return nil, st.Where
	}
	if key = []*partiql.Node{partition}; sort != nil {
		key = append(key, sort)
	}
	return key, filter
}

// about reports whether a condition uses one of the attributes.
func about(n *partiql.Node, attributes []string) bool {
	return len(n.Path) > 0 && slices.Contains(attributes, n.Path[0].Name) ||
		slices.ContainsFunc(n.Kids, func(k *partiql.Node) bool { return about(k, attributes) })
}
