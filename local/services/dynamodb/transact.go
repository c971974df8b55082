package dynamodb

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/jsonvalue"
	"stepback/local/services/documents"
	"stepback/local/services/dynamodb/expression"
	"stepback/local/services/dynamodb/item"
)

// cancelled returns the error of a cancelled transaction, with a reason for each of its actions.
func cancelled(reasons []reason) *aws.Error {
	codes := make([]string, len(reasons))
	for i, r := range reasons {
		codes[i] = r.Code
	}
	return &aws.Error{Code: "TransactionCanceledException",
		Message: "Transaction cancelled, please refer cancellation reasons for specific reasons [" +
			strings.Join(codes, ", ") + "]",
		Members: map[string]any{"CancellationReasons": reasons}}
}

// reason is the reason why an action cancelled its transaction.
type reason struct {
	Code    string
	Message string    `json:",omitempty"`
	Item    item.Item `json:",omitempty"`
}

const (
	noReason         = "None"
	conditionCode    = "ConditionalCheckFailed"
	validationCode   = "ValidationError"
	duplicateCode    = "DuplicateItem"
	transactionUnits = 2
)

// reasonOf returns the cancellation reason for an action's error; ok is false for errors that are not caused by an
// action.
func reasonOf(err error) (r reason, ok bool) {
	var e *aws.Error
	var message item.Invalid
	switch {
	case errors.As(err, &e) && e.Code == "ConditionalCheckFailedException":
		r = reason{Code: conditionCode, Message: e.Message}
		r.Item, _ = e.Members["Item"].(item.Item)
	case errors.As(err, &e) && e.Code == duplicateItem:
		r = reason{Code: duplicateCode, Message: e.Message}
	case errors.As(err, &message):
		r = reason{Code: validationCode, Message: string(message)}
	default:
		return r, false
	}
	return r, true
}

const duplicateItem = "DuplicateItemException"

type transactWrite struct {
	Items    []transactAction `json:"TransactItems"`
	Token    string           `json:"ClientRequestToken"`
	Capacity string           `json:"ReturnConsumedCapacity"`
	Metrics  string           `json:"ReturnItemCollectionMetrics"`
}

type transactAction struct {
	Check  *action `json:"ConditionCheck"`
	Put    *action
	Delete *action
	Update *action
}

type action struct {
	tableRequest
	conditional
	Item   jsonvalue.Value
	Key    jsonvalue.Value
	Update *string `json:"UpdateExpression"`
}

type transacted struct {
	Capacity    []*consumed              `json:"ConsumedCapacity,omitempty"`
	Collections map[string][]*collection `json:"ItemCollectionMetrics,omitempty"`
}

// transactWriteItems takes the raw request, because it recognises a repeated transaction by its token and its text.
func (s *Service) transactWriteItems(ctx context.Context, r *server.Request) (*server.Answer, error) {
	in := &transactWrite{}
	if err := server.Fill(in, r.Input); err != nil {
		return nil, err
	}
	var all []*mutation
	size := 0
	for n, a := range in.Items {
		m, err := s.newAction(r.Scope, a)
		if bad := (*badItem)(nil); errors.As(err, &bad) {
			return nil, bad.cancels(n, len(in.Items))
		}
		if err != nil {
			return nil, err
		}
		size += m.put.Size()
		all = append(all, m)
	}
	if size > mostTransacted {
		return nil, item.Invalid("Transaction request size cannot exceed 4 MB")
	}
	again, err := s.transact(r.Scope, in.Token, string(canonical(nil, r.Input)), all)
	if err != nil {
		return nil, err
	}
	out := &transacted{Capacity: transactionCapacity(all, again, in.Capacity)}
	for _, m := range all {
		if c := m.collection(in.Metrics); c != nil {
			if out.Collections == nil {
				out.Collections = map[string][]*collection{}
			}
			out.Collections[m.table.Name] = append(out.Collections[m.table.Name], c)
		}
	}
	return &server.Answer{Output: out}, nil
}

// mostTransacted is the maximum size of the items of a transaction, in bytes.
const mostTransacted = 4 << 20

// badItem reports that the item or the key of an action does not fit its table. The first one cancels the transaction.
type badItem struct{ error }

// Unwrap returns the error of the item.
func (b *badItem) Unwrap() error { return b.error }

// cancels returns the error of a transaction whose action with the index n has the bad item.
func (b *badItem) cancels(n, actions int) error {
	reasons := make([]reason, actions)
	for i := range reasons {
		reasons[i].Code = noReason
	}
	r, ok := reasonOf(b.error)
	if !ok {
		return b.error
	}
	reasons[n] = r
	return cancelled(reasons)
}

// transactionCapacity returns what a transaction consumes on each of its tables. A repetition (again is true) only
// reads the items, which have been written before.
func transactionCapacity(all []*mutation, again bool, asked string) (told []*consumed) {
	if asked == "" || asked == "NONE" {
		return nil
	}
	of := map[*table]*usage{}
	var order []*table
	for _, m := range all {
		u := of[m.table]
		if u == nil {
			u = &usage{table: m.table, transaction: true}
			of[m.table] = u
			order = append(order, m.table)
		}
		if again {
			u.own += transactionUnits * readUnits(m.old.Size(), true)
		} else {
			u.addWrite(m)
		}
	}
	for _, t := range order {
		told = append(told, of[t].answer(asked))
	}
	return told
}

// newAction returns the mutation for an action.
func (s *Service) newAction(scope aws.Scope, a transactAction) (m *mutation, err error) {
	var one *action
	kinds := 0
	for _, given := range []*action{a.Check, a.Put, a.Delete, a.Update} {
		if given != nil {
			one = given
			kinds++
		}
	}
	if kinds != 1 {
		return nil, item.Invalid("TransactItems can only contain one of Check, Put, Update or Delete")
	}
	params, err := one.check([]given{{"UpdateExpression", one.Update != nil},
		{"ConditionExpression", one.Condition != nil}}, nil)
	if err != nil {
		return nil, err
	}
	if m, err = s.newTransacted(scope, one, a.Put != nil); err != nil {
		return nil, err
	}
	if a.Update != nil {
		u, err := parseUpdate(one.Update, jsonvalue.Value{}, params)
		if err != nil {
			return nil, err
		}
		if m.update, err = m.table.checkUpdate(u); err != nil {
			return nil, err
		}
	}
	m.remove = a.Delete != nil
	m.tellOld = one.tellsOld()
	if m.condition, err = one.condition(params); err != nil {
		return nil, err
	}
	return m, params.Unused()
}

// newTransacted returns the mutation for the item of a Put, or for the key of another action. If it does not fit the
// table, the error is a badItem.
func (s *Service) newTransacted(scope aws.Scope, one *action, put bool) (m *mutation, err error) {
	given := one.Key
	if put {
		given = one.Item
	}
	i, err := item.AttributesFromJSON(given)
	if err != nil {
		return nil, err
	}
	t, err := s.open(scope, one.Name)
	if err != nil {
		return nil, err
	}
	if put {
		m, err = putMutation(t, i)
	} else if err = t.checkKey(i); err == nil {
		m = &mutation{table: t, place: t.place(i), key: i}
	}
	if errors.As(err, new(emptyKey)) {
		return nil, err
	}
	if err != nil {
		return nil, &badItem{err}
	}
	return m, nil
}

// tokenLife is the time for which the client token of a transaction is remembered.
const tokenLife = 10 * time.Minute

// transact executes all mutations or none. If token is not empty, a repetition of the same request has no effect: again
// is true, and the mutations only have the items as they are.
func (s *Service) transact(scope aws.Scope, token, request string, all []*mutation) (again bool, err error) {
	seen := map[string]bool{}
	for _, m := range all {
		k := string(m.table.itemKey(m.place))
		if seen[k] {
			return false, item.Invalid("Transaction request cannot include multiple operations on one item")
		}
		seen[k] = true
	}
	err = s.change(func(now int64, b *documents.Batch) (err error) {
		if token != "" {
			if again, err = s.remember(now, b, scope, token, request); err != nil {
				return err
			}
		}
		if again {
			for _, m := range all {
				if m.old, err = s.read(m.table, m.place); err != nil {
					return err
				}
			}
			return nil
		}
		reasons := make([]reason, len(all))
		failed := false
		for i, m := range all {
			if err := s.current(m); err != nil {
				return err
			}
			reasons[i].Code = noReason
			err := s.decide(m)
			if err == nil {
				continue
			}
			r, ok := reasonOf(err)
			if !ok {
				return err
			}
			reasons[i], failed = r, true
		}
		if failed {
			return cancelled(reasons)
		}
		for _, m := range all {
			if err := s.apply(now, b, m); err != nil {
				return err
			}
		}
		return nil
	})
	return again, err
}

// canonical appends the text of a document with the members of objects sorted by name, because clients write maps in
// any order.
func canonical(dst []byte, v jsonvalue.Value) []byte {
	switch v.Kind() {
	case jsonvalue.Object:
		dst = append(dst, '{')
		for _, name := range slices.Sorted(slices.Values(v.Keys())) {
			member, _ := v.Get(name)
			dst = append(canonical(append(jsonvalue.AppendQuoted(dst, name), ':'), member), ',')
		}
		return append(dst, '}')
	case jsonvalue.Array:
		dst = append(dst, '[')
		for _, e := range v.Elements() {
			dst = append(canonical(dst, e), ',')
		}
		return append(dst, ']')
	default:
		return v.AppendJSON(dst)
	}
}

// remember stores the token of a transaction. It reports whether the same request has already been executed with
// this token. The caller holds mu.
func (s *Service) remember(now int64, b *documents.Batch, scope aws.Scope, token, request string) (bool, error) {
	const stamp = 8
	k := append(key(tokenKey), scope.Account+"/"+scope.Region+"/"+token...)
	hash := sha256.Sum256([]byte(request))
	kept, found, err := s.store.Get(k)
	if err != nil {
		return false, err
	}
	if found && len(kept) > stamp && now-int64(binary.BigEndian.Uint64(kept)) < tokenLife.Milliseconds() {
		if string(kept[stamp:]) != string(hash[:]) {
			return false, &aws.Error{Code: "IdempotentParameterMismatchException",
				Message: "Client token has been used with different parameters"}
		}
		return true, nil
	}
	b.Set(k, append(binary.BigEndian.AppendUint64(nil, uint64(now)), hash[:]...))
	s.sweepBy(now + tokenLife.Milliseconds())
	return false, nil
}

type transactGet struct {
	Items []struct {
		Get *struct {
			tableRequest
			Key        jsonvalue.Value
			Projection *string           `json:"ProjectionExpression"`
			Names      map[string]string `json:"ExpressionAttributeNames"`
		}
	} `json:"TransactItems"`
	Capacity string `json:"ReturnConsumedCapacity"`
}

type transactGotten struct {
	Responses []itemAnswer
	Capacity  []*consumed `json:"ConsumedCapacity,omitempty"`
}

type itemAnswer struct {
	Item item.Item `json:",omitzero"`
}

func (s *Service) transactGetItems(_ context.Context, scope aws.Scope, in *transactGet) (*transactGotten, error) {
	gets := make([]*mutation, len(in.Items))
	projections := make([]*expression.Projection, len(in.Items))
	seen := map[string]bool{}
	for i, one := range in.Items {
		get := one.Get
		params, err := (&placeholders{Names: get.Names}).check([]given{{"ProjectionExpression", get.Projection != nil}}, nil)
		if err != nil {
			return nil, err
		}
		gets[i], err = s.newTransacted(scope, &action{tableRequest: get.tableRequest, Key: get.Key}, false)
		if bad := (*badItem)(nil); errors.As(err, &bad) {
			return nil, bad.cancels(i, len(in.Items))
		}
		if err != nil {
			return nil, err
		}
		if projections[i], err = (&reading{Projection: get.Projection}).parse(gets[i].table, params); err != nil {
			return nil, err
		}
		if err := params.Unused(); err != nil {
			return nil, err
		}
		k := string(gets[i].table.itemKey(gets[i].place))
		if seen[k] {
			return nil, item.Invalid("Transaction request cannot include multiple operations on one item")
		}
		seen[k] = true
	}
	out := &transactGotten{Responses: make([]itemAnswer, len(gets))}
	if err := s.readAll(gets); err != nil {
		return nil, err
	}
	of := map[*table]*usage{}
	var order []*table
	for i, m := range gets {
		u := of[m.table]
		if u == nil {
			u = &usage{table: m.table, transaction: true}
			of[m.table] = u
			order = append(order, m.table)
		}
		u.own += transactionUnits * readUnits(m.old.Size(), true)
		if out.Responses[i].Item = m.old; m.old != nil && projections[i] != nil {
			out.Responses[i].Item = projections[i].Of(m.old)
		}
	}
	for _, t := range order {
		if c := of[t].answer(in.Capacity); c != nil {
			out.Capacity = append(out.Capacity, c)
		}
	}
	return out, s.waitForVisible()
}

// readAll reads several items at a single point in time.
func (s *Service) readAll(all []*mutation) (err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, m := range all {
		if m.old, err = s.read(m.table, m.place); err != nil {
			return err
		}
	}
	return nil
}
