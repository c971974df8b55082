package process

import (
	"encoding/json"

	"stepback/jsonvalue"
)

// Split splits an event of several rows into an event for each row, as the state machine would write them; ok is
// false for any other event.
func Split(event []byte) (rows [][]byte, ok bool) {
	tree, err := jsonvalue.Parse(string(event))
	if err != nil {
		return nil, false
	}
	items, ok := tree.Get("items")
	if !ok || items.Kind() != jsonvalue.Array {
		return nil, false
	}
	for i := range items.Len() {
		one := jsonvalue.NewObject(4)
		for _, name := range []string{"source", "run", "offset"} {
			if v, ok := tree.Get(name); ok {
				one.Set(name, v)
			}
		}
		for _, name := range []string{"row", "record"} {
			if v, ok := items.At(i).Get(name); ok {
				one.Set(name, v)
			}
		}
		rows = append(rows, []byte(one.Value().JSON()))
	}
	return rows, true
}

// Without removes rows from an event of several rows. failed holds the index of each removed row and the name of
// its error. After the remaining event has been answered, add adds the removed rows to the response, as rows left
// to be processed individually. If the event cannot be parsed, it is returned unchanged.
func Without(event []byte, failed map[int]string) (rest []byte, add func(answer []byte) []byte) {
	same := func(answer []byte) []byte { return answer }
	var in BatchInput
	if json.Unmarshal(event, &in) != nil {
		return event, same
	}
	kept := in
	kept.Items = []Item{}
	for i, item := range in.Items {
		if _, hit := failed[i]; !hit {
			kept.Items = append(kept.Items, item)
		}
	}
	rest, err := json.Marshal(kept)
	if err != nil {
		return event, same
	}
	return rest, func(answer []byte) []byte {
		var out BatchOutput
		if json.Unmarshal(answer, &out) != nil {
			return answer
		}
		for i, item := range in.Items {
			if name, hit := failed[i]; hit {
				out.leave(item, name)
			}
		}
		text, err := json.Marshal(out)
		if err != nil {
			return answer
		}
		return text
	}
}
