package process_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"stepback/csvimport"
	"stepback/csvimport/process"
	"stepback/jsonvalue"
)

// TestReadTree compares what is read of an event with what encoding/json reads.
func TestReadTree(t *testing.T) {
	t.Parallel()
	text := rapid.StringMatching(`[ -~あ]{0,12}`)
	rapid.Check(t, func(t *rapid.T) {
		var want process.Input
		want.Source = csvimport.Source{Bucket: text.Draw(t, "bucket"), Key: text.Draw(t, "key"),
			ETag: text.Draw(t, "ETag")}
		want.Run = text.Draw(t, "run")
		row := rapid.Int64().Draw(t, "row")
		want.Row = &row
		want.Record = &csvimport.Record{
			UserID: text.Draw(t, "user"), LoginCount: text.Draw(t, "logins"), PostCount: text.Draw(t, "posts"),
			Line: text.Draw(t, "line"), Problem: text.Draw(t, "problem"),
		}
		event, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := jsonvalue.Parse(string(event))
		if err != nil {
			t.Fatal(err)
		}
		var got process.Input
		if !got.ReadTree(tree) || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s was read as %+v", event, got)
		}
	})
}

func TestReadTreeLeavesTheUnusual(t *testing.T) {
	t.Parallel()
	for _, event := range []string{
		`[]`, `null`, `"x"`, `{"Row":1}`, `{"row":"1"}`, `{"row":1.5}`, `{"row":1e2}`, `{"row":null}`,
		`{"source":null}`, `{"source":{"bucket":1}}`,
		`{"record":[]}`, `{"record":{"user_id":null}}`, `{"record":{"USER_ID":"u"}}`, `{"more":1}`,
	} {
		tree, err := jsonvalue.Parse(event)
		if err != nil {
			t.Fatal(err)
		}
		if new(process.Input).ReadTree(tree) {
			t.Errorf("%s was read", event)
		}
	}
}
