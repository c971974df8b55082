package dynamodb

import (
	"context"
	"strings"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/dynamodb/expression"
	"stepback/local/services/dynamodb/item"
	"stepback/local/services/dynamodb/partiql"
)

type batchExecute struct {
	Statements []statement
	Capacity   string `json:"ReturnConsumedCapacity"`
}

type batchExecuted struct {
	Responses []batchStatementAnswer
	Capacity  []*consumed `json:"ConsumedCapacity,omitempty"`
}

type batchStatementAnswer struct {
	Error *batchStatementError `json:",omitempty"`
	Table string               `json:"TableName,omitempty"`
	Item  item.Item            `json:",omitzero"`
}

type batchStatementError struct {
	Code    string
	Message string
	Item    item.Item `json:",omitzero"`
}

// batchExecuteStatement executes statements independently: if one is rejected, the others are not affected.
func (s *Service) batchExecuteStatement(_ context.Context, scope aws.Scope, in *batchExecute) (*batchExecuted, error) {
	statements := make([]*partiql.Statement, len(in.Statements))
	errs := make([]error, len(in.Statements))
	reads := 0
	for i := range in.Statements {
		if statements[i], errs[i] = in.Statements[i].parse(); errs[i] == nil && statements[i].Verb == partiql.Select {
			reads++
		}
	}
	for i, st := range statements {
		if errs[i] == nil && (st.Verb == partiql.Select) != (reads > 0) {
			return nil, item.Invalid("Batch Statement requests may only contain all read or all write statements.")
		}
	}
	out := &batchExecuted{Responses: make([]batchStatementAnswer, len(statements))}
	of := map[*table]*usage{}
	var order []*table
	for i, st := range statements {
		a := &out.Responses[i]
		var m *mutation
		err := errs[i]
		if err == nil {
			a.Table = st.Table
			m, err = s.oneOfBatch(scope, &in.Statements[i], st, a)
		}
		if err != nil {
			if a.Error = batchError(err); a.Error == nil {
				return nil, err
			}
			continue
		}
		u := of[m.table]
		if u == nil {
			u = &usage{table: m.table}
			of[m.table] = u
			order = append(order, m.table)
		}
		if st.Verb == partiql.Select {
			u.own += readUnits(m.old.Size(), in.Statements[i].Consistent)
		} else {
			u.addWrite(m)
		}
	}
	for _, t := range order {
		if c := of[t].answer(in.Capacity); c != nil {
			out.Capacity = append(out.Capacity, c)
		}
	}
	return out, nil
}

// oneOfBatch executes one statement of a batch.
func (s *Service) oneOfBatch(scope aws.Scope, in *statement, st *partiql.Statement,
	a *batchStatementAnswer) (*mutation, error) {
	if st.Verb == partiql.Select {
		g, err := s.statementGet(scope, st)
		if err != nil {
			return nil, err
		}
		if g.old, err = s.read(g.table, g.place); err == nil {
			err = s.waitForVisible()
		}
		a.Item = g.shown()
		return g.mutation, err
	}
	m, err := s.statementMutation(scope, in, st)
	if err != nil {
		return nil, err
	}
	if err := statementResult(st, s.carryOut(m)); err != nil {
		return nil, err
	}
	a.Item = returned(m, st.Returning)
	return m, nil
}

// batchError returns a statement's error in the form for batches; nil for a failure of the service.
func batchError(err error) *batchStatementError {
	if r, ok := reasonOf(err); ok {
		return &batchStatementError{r.Code, r.Message, r.Item}
	}
	e := failureOf(err)
	if e == nil || e.ByServer() {
		return nil
	}
	code := strings.TrimSuffix(e.Code, "Exception")
	if code == "Validation" {
		code = validationCode
	}
	return &batchStatementError{Code: code, Message: e.Message}
}

// statementGet is a SELECT of a single item by its key.
type statementGet struct {
	*mutation
	filter     *expression.Condition
	projection *expression.Projection
}

// shown returns the part of the item that the SELECT asks for. It returns nil if the item is missing or the filter
// excludes it.
func (g *statementGet) shown() item.Item {
	switch {
	case g.old == nil || g.filter != nil && !g.filter.Holds(g.old):
		return nil
	case g.projection != nil:
		return g.projection.Of(g.old)
	}
	return g.old
}

func (s *Service) statementGet(scope aws.Scope, st *partiql.Statement) (*statementGet, error) {
	t, err := s.open(scope, st.Table)
	if err != nil {
		return nil, err
	}
	key, rest := st.Split(t.Keys.names())
	if key == nil || st.Index != "" {
		return nil, item.Invalid("Select statements within BatchExecuteStatement must specify the primary key in the where clause.")
	}
	if err := t.checkKey(key); err != nil {
		return nil, err
	}
	g := &statementGet{mutation: &mutation{table: t, place: t.place(key), key: key}}
	if len(rest) > 0 {
		if err := condition(g.mutation, &partiql.Expressions{}, rest); err != nil {
			return nil, err
		}
		g.filter, g.condition = g.condition, nil
	}
	if st.Paths != nil {
		g.projection = expression.NewProjection(st.Paths...)
		g.projection.Flat = true
	}
	return g, nil
}

type executeTransaction struct {
	Statements []statement `json:"TransactStatements"`
	Token      string      `json:"ClientRequestToken"`
	Capacity   string      `json:"ReturnConsumedCapacity"`
}

// executeTransaction takes the raw request, because it recognises a repeated transaction by its token and its text.
func (s *Service) executeTransaction(_ context.Context, r *server.Request) (*server.Answer, error) {
	in := &executeTransaction{}
	if err := server.Fill(in, r.Input); err != nil {
		return nil, err
	}
	all := make([]*mutation, len(in.Statements))
	gets := make([]*statementGet, len(in.Statements))
	reads := 0
	for i := range in.Statements {
		st, err := in.Statements[i].parse()
		if err != nil {
			return nil, err
		}
		if st.Verb == partiql.Select {
			if gets[i], err = s.statementGet(r.Scope, st); err == nil {
				all[i] = gets[i].mutation
			}
			reads++
		} else {
			all[i], err = s.statementMutation(r.Scope, &in.Statements[i], st)
		}
		if err != nil {
			return nil, err
		}
	}
	out := &transactGotten{Responses: make([]itemAnswer, len(all))}
	switch reads {
	case 0:
		again, err := s.transact(r.Scope, in.Token, string(canonical(nil, r.Input)), all)
		if err != nil {
			return nil, err
		}
		out.Responses, out.Capacity = []itemAnswer{}, transactionCapacity(all, again, in.Capacity)
	case len(all):
		if err := s.readAll(all); err != nil {
			return nil, err
		}
		for i, g := range gets {
			out.Responses[i].Item = g.shown()
		}
		out.Capacity = transactionCapacity(all, true, in.Capacity)
	default:
		return nil, item.Invalid("Transactional statements may only contain all read or all write statements.")
	}
	return &server.Answer{Output: out}, nil
}
