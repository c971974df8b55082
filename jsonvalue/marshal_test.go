package jsonvalue_test

import (
	"encoding/json"
	"testing"

	"stepback/jsonvalue"
)

func TestMarshal(t *testing.T) {
	t.Parallel()
	type order struct {
		ID string `json:"id"`
	}
	for _, c := range []struct {
		value any
		want  string
	}{
		{json.RawMessage(`{"a" : 1.0}`), `{"a" : 1.0}`},
		{[]byte(`[1]`), `[1]`},
		{`{"a":1}`, `"{\"a\":1}"`},
		{order{"<17>"}, `{"id":"<17>"}`},
		{map[string]any{"b": []byte("x"), "a": nil}, `{"a":null,"b":"eA=="}`},
		{nil, `null`},
		{jsonvalue.OfInt(3), `3`},
	} {
		if got, err := jsonvalue.Marshal(c.value); err != nil || got != c.want {
			t.Errorf("%v: %s, %v; want %s", c.value, got, err, c.want)
		}
	}
	if got, err := jsonvalue.Marshal(func() {}); err == nil {
		t.Errorf("a function is %s", got)
	}
}
