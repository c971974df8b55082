package journal_test

import (
	"reflect"
	"testing"
	"time"
	"unsafe"

	"pgregory.net/rapid"

	"stepback/engine/history"
	"stepback/engine/journal"
)

func TestDescriptionReadsBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string { return rapid.String().Draw(t, name) }
		x := &journal.Execution{
			Info: history.Info{
				ARN: text("arn"), MachineARN: text("machine"), Express: rapid.Bool().Draw(t, "express"),
				Origin: history.Origin{
					Name: text("name"), VersionARN: text("version"), AliasARN: text("alias"),
					Revision:    text("revision"),
					TraceHeader: text("trace"), Sync: rapid.Bool().Draw(t, "sync"), Input: text("input"),
					TestCase: text("case"),
				},
				Definition: text("definition"), MapRunARN: text("run"), FirstItem: rapid.Int64().Draw(t, "first"),
				Items: rapid.Int64().Draw(t, "items"), LastItem: text("last"),
			},
			Status: history.Status(text("status")),
			Start:  time.Unix(0, rapid.Int64Min(1).Draw(t, "start")).UTC(), Output: text("output"),
			HistorySize:  rapid.Int64().Draw(t, "size"),
			RedriveCount: rapid.Int64Range(0, 3).Draw(t, "redrives"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "tokens") {
			at := time.Unix(0, rapid.Int64Min(1).Draw(t, "at")).UTC()
			x.RedriveTokens = append(x.RedriveTokens, journal.RedriveToken{Token: text("token"), At: at})
		}
		if rapid.Bool().Draw(t, "failed") {
			x.Failure = history.NewFailure(text("error"), text("cause"))
		}
		got, err := journal.Decode(x.AppendBinary(nil))
		if err != nil || !reflect.DeepEqual(got, x) {
			t.Fatalf("%+v, %v; want %+v", got, err, x)
		}
		like := *x // has some texts in common
		like.MachineARN, like.Status, like.Definition = text("machine"), history.Status(text("status")), ""
		if got, err = journal.DecodeLike(x.AppendBinary(nil), &like); err != nil || !reflect.DeepEqual(got, x) {
			t.Fatalf("like %+v: %+v, %v; want %+v", like, got, err, x)
		}
	})
}

// Executions of one state machine share the memory of what they have in common.
func TestDecodeLike(t *testing.T) {
	t.Parallel()
	of := func(name string) []byte {
		x := &journal.Execution{Status: history.Running, Start: time.Unix(1, 0)}
		x.ARN, x.Name, x.MachineARN, x.Definition, x.Input = "arn:"+name, name, "arn:machine", "definition", `{"a":1}`
		return x.AppendBinary(nil)
	}
	first, err := journal.Decode(of("one"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := journal.DecodeLike(of("two"), first)
	if err != nil || second.ARN != "arn:two" || second.Name != "two" || second.Input != `{"a":1}` {
		t.Fatalf("%+v, %v", second, err)
	}
	for _, texts := range [][2]string{{first.MachineARN, second.MachineARN}, {first.Definition, second.Definition},
		{string(first.Status), string(second.Status)}} {
		if texts[0] != texts[1] || unsafe.StringData(texts[0]) != unsafe.StringData(texts[1]) {
			t.Errorf("%q and %q have memory of their own", texts[0], texts[1])
		}
	}
	if unsafe.StringData(first.Input) == unsafe.StringData(second.Input) {
		t.Error("the inputs share memory")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add((&journal.Execution{Info: history.Info{ARN: "a", Origin: history.Origin{Input: "{}"}}}).AppendBinary(nil))
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = journal.Decode(b) })
}
