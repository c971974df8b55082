package plan

import (
	"reflect"
	"testing"

	"stepback/asl"
	"stepback/jsonvalue"
)

func TestDirect(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]DirectMember{
		`{"row.$":"$$.Map.Item.Index","record.$":"$$.Map.Item.Value"}`: {{"row", true}, {"record", false}},
		`{"v.$":"$$.Map.Item.Value"}`:                                  {{"v", false}},
		`{}`:                                                           nil,
		`{"v":"$$.Map.Item.Value"}`:                                    nil,
		`{"v.$":"$$.Map.Item.Value","x":1}`:                            nil,
		`{"v.$":"$$.Map.Item.Value.id"}`:                               nil,
		`{"v.$":"$.x"}`:                                                nil,
		`{"v":{"w.$":"$$.Map.Item.Value"}}`:                            nil,
		`{"a.$":"$$.Map.Item.Value","b.$":"$$.Map.Item.Value","c.$":"$$.Map.Item.Value","d.$":"$$.Map.Item.Value","e.$":"$$.Map.Item.Value"}`: nil,
	} {
		v, err := jsonvalue.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		s := &asl.State{QueryLanguage: asl.JSONPath, Map: &asl.MapFields{ItemSelector: &v}}
		if got := direct(s); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
		s.QueryLanguage = asl.JSONata
		if got := direct(s); got != nil {
			t.Errorf("%s in JSONata: %v", text, got)
		}
	}
}
