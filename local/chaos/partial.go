package chaos

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"stepback/aws/server"
	"stepback/jsonvalue"
)

// batch describes how an operation accepts entries and reports that some of them failed.
type batch struct {
	// split removes the failing entries from the input. empty is true if none is left, so there is nothing to carry
	// out.
	split func(in jsonvalue.Value, fails func() bool) (rest jsonvalue.Value, failed []jsonvalue.Value, empty bool)
	// merge adds the failed entries to the response for the others.
	merge func(in, out jsonvalue.Value, failed []jsonvalue.Value) jsonvalue.Value
}

// batches are the operations that can fail in part, by MODEL:OPERATION.
var batches = map[string]*batch{
	"sqs:SendMessageBatch":             byID("Entries"),
	"sqs:DeleteMessageBatch":           byID("Entries"),
	"sqs:ChangeMessageVisibilityBatch": byID("Entries"),
	"sns:PublishBatch":                 byID("PublishBatchRequestEntries"),
	"eventbridge:PutEvents":            {split: splitList("Entries"), merge: mergeEvents},
	"dynamodb:BatchWriteItem":          {split: splitTables(writesOf), merge: leftOver("UnprocessedItems")},
	"dynamodb:BatchGetItem":            {split: splitTables(keysOf), merge: leftOver("UnprocessedKeys")},
}

const injectedMessage = "We encountered an internal error. Please try again. (injected by stepback chaos)"

// byID returns the batch for an operation with entries that have an Id and a response that lists Successful and
// Failed.
func byID(member string) *batch {
	return &batch{split: splitList(member), merge: func(_, out jsonvalue.Value, failed []jsonvalue.Value,
	) jsonvalue.Value {
		var all []jsonvalue.Value
		if v, ok := out.Get("Failed"); ok {
			all = slices.Clone(v.Elements())
		}
		for _, e := range failed {
			b := jsonvalue.NewObject(4)
			b.Set("Id", memberOf(e, "Id"))
			b.Set("SenderFault", jsonvalue.OfBool(false))
			b.Set("Code", jsonvalue.OfString("InternalError"))
			b.Set("Message", jsonvalue.OfString(injectedMessage))
			all = append(all, b.Value())
		}
		if _, ok := out.Get("Successful"); !ok {
			out = out.With("Successful", jsonvalue.OfArray(nil))
		}
		return out.With("Failed", jsonvalue.OfArray(all))
	}}
}

func memberOf(v jsonvalue.Value, name string) jsonvalue.Value {
	m, _ := v.Get(name)
	return m
}

// at records the position of an entry, for responses in the order of the entries.
const at = "at"

// splitList returns a split function for a list. A failed entry is an object with its position in the list and the
// entry.
func splitList(member string) func(jsonvalue.Value, func() bool) (jsonvalue.Value, []jsonvalue.Value, bool) {
	return func(in jsonvalue.Value, fails func() bool) (jsonvalue.Value, []jsonvalue.Value, bool) {
		list := memberOf(in, member)
		if list.Kind() != jsonvalue.Array {
			return in, nil, false
		}
		var left, failed []jsonvalue.Value
		for i, e := range list.Elements() {
			if !fails() {
				left = append(left, e)
				continue
			}
			if e.Kind() != jsonvalue.Object {
				e = jsonvalue.NewObject(1).Value()
			}
			failed = append(failed, e.With(at, jsonvalue.OfInt(int64(i))))
		}
		return in.With(member, jsonvalue.OfArray(left)), failed, len(left) == 0
	}
}

// mergeEvents puts failed entries back at their positions: PutEvents responds in the order of its entries.
func mergeEvents(in, out jsonvalue.Value, failed []jsonvalue.Value) jsonvalue.Value {
	answered := memberOf(out, "Entries").Elements()
	all := make([]jsonvalue.Value, 0, len(answered)+len(failed))
	n := memberOf(in, "Entries").Len()
	for i := range n {
		if len(failed) > 0 {
			if place, _ := memberOf(failed[0], at).Int(); place == int64(i) {
				b := jsonvalue.NewObject(2)
				b.Set("ErrorCode", jsonvalue.OfString("InternalFailure"))
				b.Set("ErrorMessage", jsonvalue.OfString(injectedMessage))
				all, failed = append(all, b.Value()), failed[1:]
				continue
			}
		}
		if len(answered) > 0 {
			all, answered = append(all, answered[0]), answered[1:]
		}
	}
	count := int64(0)
	for _, e := range all {
		if _, ok := e.Get("ErrorCode"); ok {
			count++
		}
	}
	return out.With("Entries", jsonvalue.OfArray(all)).With("FailedEntryCount", jsonvalue.OfInt(count))
}

// writesOf returns the entries of a table in BatchWriteItem, and a function with that builds such a table from
// other entries. keysOf does the same for BatchGetItem.
func writesOf(table jsonvalue.Value) (entries []jsonvalue.Value, with func([]jsonvalue.Value) jsonvalue.Value) {
	return table.Elements(), jsonvalue.OfArray
}

func keysOf(table jsonvalue.Value) (entries []jsonvalue.Value, with func([]jsonvalue.Value) jsonvalue.Value) {
	return memberOf(table, "Keys").Elements(), func(left []jsonvalue.Value) jsonvalue.Value {
		return table.With("Keys", jsonvalue.OfArray(left))
	}
}

// splitTables splits RequestItems. The failed part is one object: RequestItems with the unprocessed entries.
func splitTables(of func(jsonvalue.Value) ([]jsonvalue.Value, func([]jsonvalue.Value) jsonvalue.Value)) func(
	jsonvalue.Value, func() bool) (jsonvalue.Value, []jsonvalue.Value, bool) {
	return func(in jsonvalue.Value, fails func() bool) (jsonvalue.Value, []jsonvalue.Value, bool) {
		tables := memberOf(in, "RequestItems")
		if tables.Kind() != jsonvalue.Object {
			return in, nil, false
		}
		rest, over := jsonvalue.NewObject(tables.Len()), jsonvalue.NewObject(tables.Len())
		n, m := 0, 0
		for i, name := range tables.Keys() {
			entries, with := of(tables.At(i))
			var left, failed []jsonvalue.Value
			for _, e := range entries {
				if fails() {
					failed = append(failed, e)
				} else {
					left = append(left, e)
				}
			}
			if len(left) > 0 {
				rest.Set(name, with(left))
				n++
			}
			if len(failed) > 0 {
				over.Set(name, with(failed))
				m++
			}
		}
		if m == 0 {
			return in, nil, false
		}
		return in.With("RequestItems", rest.Value()), []jsonvalue.Value{over.Value()}, n == 0
	}
}

// leftOver adds the failed entries to the response member that lists unprocessed ones.
func leftOver(member string) func(_, _ jsonvalue.Value, _ []jsonvalue.Value) jsonvalue.Value {
	return func(_, out jsonvalue.Value, failed []jsonvalue.Value) jsonvalue.Value {
		have := memberOf(out, member)
		if have.Kind() != jsonvalue.Object {
			have = jsonvalue.NewObject(0).Value()
		}
		for _, over := range failed {
			for i, name := range over.Keys() {
				more := over.At(i)
				if old, ok := have.Get(name); ok {
					more = joined(old, more)
				}
				have = have.With(name, more)
			}
		}
		return out.With(member, have)
	}
}

// joined combines the unprocessed entries of one table: those of the service and those of a fault.
func joined(a, b jsonvalue.Value) jsonvalue.Value {
	if a.Kind() == jsonvalue.Array {
		return jsonvalue.OfArray(slices.Concat(a.Elements(), b.Elements()))
	}
	return a.With("Keys", jsonvalue.OfArray(slices.Concat(memberOf(a, "Keys").Elements(), memberOf(b, "Keys").Elements())))
}

// part is a fault that applies to the entries of a batch.
type part struct {
	fault *fault
	batch *batch
}

// inPart carries out a request without the entries that faults apply to, and responds that these have failed.
func inPart(ctx context.Context, h http.Header, parts []part, r *server.Request, next server.Call) (*server.Answer, error) {
	if len(parts) == 0 {
		return next(ctx, r)
	}
	in := r.Input
	rest, failed, empty := parts[0].batch.split(in, func() bool {
		for _, p := range parts {
			if hit, _, _ := p.fault.draw(); hit {
				p.fault.injected.Add(1)
				h.Set(header, strconv.Itoa(p.fault.id))
				return true
			}
		}
		return false
	})
	if len(failed) == 0 {
		return next(ctx, r)
	}
	out := jsonvalue.NewObject(0).Value()
	if !empty {
		fewer := *r
		fewer.Input = rest
		a, err := next(ctx, &fewer)
		if err != nil {
			return nil, err
		}
		if out, err = a.Document(); err != nil {
			return nil, err
		}
	}
	return &server.Answer{Output: parts[0].batch.merge(in, out, failed)}, nil
}
