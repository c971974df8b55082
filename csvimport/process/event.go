package process

import (
	"strconv"

	"stepback/csvimport"
	"stepback/jsonvalue"
)

// ReadTree is Input.ReadTree for events of several rows, too.
func (e *Event) ReadTree(event jsonvalue.Value) bool {
	items, several := event.Get("items")
	if !several {
		return e.Input.ReadTree(event)
	}
	if items.Kind() != jsonvalue.Array {
		return false
	}
	e.Items = make([]Item, items.Len())
	rows, records := make([]int64, items.Len()), make([]csvimport.Record, items.Len())
	return members(event, func(name string, v jsonvalue.Value) bool {
		switch name {
		case "source":
			return readSource(&e.Source, v)
		case "run":
			return read(&e.Run, v)
		case "items":
			for i := range e.Items {
				if !e.Items[i].readTree(v.At(i), &rows[i], &records[i]) {
					return false
				}
			}
			return true
		case attempt:
			return true
		}
		return false
	})
}

// attempt is the member that tells which attempt it is: for the guard in front of the step, which needs it if the
// step fails.
const attempt = "attempt"

// readTree reads an item, with memory for what it points to.
func (i *Item) readTree(item jsonvalue.Value, row *int64, record *csvimport.Record) bool {
	return members(item, func(name string, v jsonvalue.Value) bool {
		switch name {
		case "row":
			n, err := strconv.ParseInt(v.Text(), 10, 64)
			*row, i.Row = n, row
			return v.Kind() == jsonvalue.Number && err == nil
		case "record":
			i.Record, i.came = record, v
			return readRecord(record, v)
		}
		return false
	})
}

// ReadTree reads an event whose members all have the usual names and kinds, and reports whether it was one. There is
// one event for each row, and this takes a fraction of the time of encoding/json, which reads, or refuses, every other.
func (in *Input) ReadTree(event jsonvalue.Value) bool {
	return members(event, func(name string, v jsonvalue.Value) bool {
		switch name {
		case "source":
			return readSource(&in.Source, v)
		case "run":
			return read(&in.Run, v)
		case "row":
			row, err := strconv.ParseInt(v.Text(), 10, 64)
			in.Row = &row
			return v.Kind() == jsonvalue.Number && err == nil
		case "record":
			in.Record = new(csvimport.Record)
			return readRecord(in.Record, v)
		case attempt:
			return true
		}
		return false
	})
}

func readSource(s *csvimport.Source, v jsonvalue.Value) bool {
	return members(v, func(name string, v jsonvalue.Value) bool {
		switch name {
		case "bucket":
			return read(&s.Bucket, v)
		case "key":
			return read(&s.Key, v)
		case "etag":
			return read(&s.ETag, v)
		}
		return false
	})
}

func readRecord(r *csvimport.Record, v jsonvalue.Value) bool {
	return members(v, func(name string, v jsonvalue.Value) bool {
		switch name {
		case "user_id":
			return read(&r.UserID, v)
		case "login_count":
			return read(&r.LoginCount, v)
		case "post_count":
			return read(&r.PostCount, v)
		case "line":
			return read(&r.Line, v)
		case "problem":
			return read(&r.Problem, v)
		}
		return false
	})
}

func read(to *string, v jsonvalue.Value) bool {
	*to = v.Text()
	return v.Kind() == jsonvalue.String
}

// members hands over the members of an object until one is not taken.
func members(v jsonvalue.Value, take func(name string, v jsonvalue.Value) bool) bool {
	for i, name := range v.Keys() {
		if !take(name, v.At(i)) {
			return false
		}
	}
	return v.Kind() == jsonvalue.Object
}
