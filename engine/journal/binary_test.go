package journal_test

import (
	"reflect"
	"testing"
	"time"

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
	})
}

func FuzzDecode(f *testing.F) {
	f.Add((&journal.Execution{Info: history.Info{ARN: "a", Origin: history.Origin{Input: "{}"}}}).AppendBinary(nil))
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = journal.Decode(b) })
}
