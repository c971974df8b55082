package process_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"stepback/csvimport"
	"stepback/csvimport/process"
)

func draw(t *rapid.T) (csvimport.Source, string, func() *csvimport.Record) {
	text := rapid.StringMatching(`[ !#-\[\]-~あ]{0,12}`)
	record := func() *csvimport.Record {
		return &csvimport.Record{
			UserID: text.Draw(t, "user"), LoginCount: text.Draw(t, "logins"), PostCount: text.Draw(t, "posts"),
			Line: text.Draw(t, "line"), Problem: text.Draw(t, "problem"),
		}
	}
	return csvimport.Source{Bucket: text.Draw(t, "bucket"), Key: text.Draw(t, "key"), ETag: text.Draw(t, "ETag")},
		text.Draw(t, "run"), record
}

// TestReadText compares the parsed event with that of encoding/json.
func TestReadText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var want process.Event
		var record func() *csvimport.Record
		want.Source, want.Run, record = draw(t)
		row := rapid.Int64Range(-999_999_999_999_999_999, 999_999_999_999_999_999)
		want.Offset = csvimport.Offset{Rows: row.Draw(t, "rows before"), Lines: row.Draw(t, "lines before")}
		event := map[string]any{"source": want.Source, "run": want.Run, "offset": want.Offset}
		if rapid.Bool().Draw(t, "several") {
			items := []map[string]any{}
			for range rapid.IntRange(0, 4).Draw(t, "rows") {
				items = append(items, map[string]any{"row": row.Draw(t, "row"), "record": record()})
			}
			event["items"] = items
		} else {
			event["row"], event["record"] = row.Draw(t, "row"), record()
		}
		text, err := json.MarshalIndent(event, "", strings.Repeat(" ", rapid.IntRange(0, 1).Draw(t, "indent")))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), `\`) {
			t.Skip("an escape") // <, > and &
		}
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		var got process.Event
		if !got.ReadText(string(text)) || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s was read as %+v, want %+v", text, got, want)
		}
	})
}

func TestReadTextLeavesTheUnusual(t *testing.T) {
	t.Parallel()
	for _, event := range []string{
		`[]`, `null`, `"x"`, `{"Row":1}`, `{"row":"1"}`, `{"row":1.5}`, `{"row":1e2}`, `{"row":null}`, `{"row":01}`,
		`{"row":-}`, `{"row":1234567890123456789}`, `{"row":1}x`, `{"row":1,}`, `{"row":1,"row":2}`, `{"row":1`, ``,
		`{"source":null}`, `{"source":{"bucket":1}}`, `{"items":null}`, `{"items":[1]}`, `{"items":[{"row":1}]}`,
		`{"items":[{"row":1,"record":{}},{"row":2}]}`, `{"items":[],"row":1}`, `{"row":1,"items":[]}`,
		`{"items":[{"record":{},"record":{}}]}`, "{\"run\":\"a\nb\"}",
		`{"record":[]}`, `{"record":{"user_id":null}}`, `{"record":{"USER_ID":"u"}}`, `{"more":1}`,
	} {
		if new(process.Event).ReadText(event) {
			t.Errorf("%s was read", event)
		}
	}
}

// FuzzReadText checks that ReadText parses an event as encoding/json does.
func FuzzReadText(f *testing.F) {
	for _, event := range []string{
		`{"source":{"bucket":"b","key":"k","etag":"e"},"run":"r","items":[{"row":1,"record":{"user_id":"u"}}]}`,
		`{"row":-0,"record":{"user_id":"u","login_count":"1","post_count":"2","line":"3","problem":"p"}}`,
		` { "items" : [ { "row" : 10 , "record" : { } } ] } `,
	} {
		f.Add(event)
	}
	f.Fuzz(func(t *testing.T, event string) {
		if strings.Contains(event, `\`) || !utf8.ValidString(event) {
			t.Skip()
		}
		var got, want process.Event
		if !got.ReadText(event) {
			return
		}
		if err := json.Unmarshal([]byte(event), &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s was read as %+v; encoding/json reads %+v, %v", event, got, want, err)
		}
	})
}

func TestReadTextReadsPastTheAttempt(t *testing.T) {
	t.Parallel()
	var e process.Event
	const begin = `{"source":{"bucket":"b","key":"k","etag":"e"},"run":"r","row":7,"record":{"user_id":"u"},"attempt":`
	if !e.ReadText(begin+`{"state":"S","retries":2,"entered":"2026-11-22T12:00:00Z","brief":2}}`) || *e.Row != 7 || e.Run != "r" {
		t.Errorf("read as %+v", e)
	}
	if e.ReadText(begin + `{"state":7}}`) {
		t.Error("an unusual attempt was read")
	}
}
