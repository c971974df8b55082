package journal_test

import (
	"reflect"
	"slices"
	"strings"
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
		got, err := journal.Decode(x.AppendBinary(nil, nil), nil)
		if err != nil || !reflect.DeepEqual(got, x) {
			t.Fatalf("%+v, %v; want %+v", got, err, x)
		}
		like := *x // has some texts in common
		like.MachineARN, like.Status, like.Definition = text("machine"), history.Status(text("status")), ""
		got, err = journal.DecodeLike(x.AppendBinary(nil, nil), nil, &like)
		if err != nil || !reflect.DeepEqual(got, x) {
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
		return x.AppendBinary(nil, nil)
	}
	first, err := journal.Decode(of("one"), nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := journal.DecodeLike(of("two"), nil, first)
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

// The long texts of the first step are found once each, and an input that is one of them is not in the description.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	input, other, short := strings.Repeat("i", 4096), strings.Repeat("o", 4096), strings.Repeat("s", 4095)
	events := []history.Event{{Data: input}, {Data: short}, {Data: other}, {Data: input}, {Data: strings.Repeat("l", 5000)}}
	x := &journal.Execution{Info: history.Info{ARN: "a", Origin: history.Origin{Input: input}}, Status: history.Running}
	if texts := x.LongTexts(events); texts != nil {
		t.Errorf("the length of the first step is not known: %d texts", len(texts))
	}
	x.FirstStep = 4
	texts := x.LongTexts(events)
	if !slices.Equal(texts, []string{input, other}) {
		t.Errorf("%d texts", len(texts))
	}
	apart := func(number int) (string, error) { return texts[number], nil }
	stored := x.AppendBinary(nil, texts)
	if got, err := journal.Decode(stored, apart); err != nil || !reflect.DeepEqual(got, x) || len(stored) > 100 {
		t.Errorf("%d bytes: %+v, %v", len(stored), got, err)
	}
	if _, err := journal.Decode(stored, nil); err == nil {
		t.Error("it is read without its input")
	}
	if got, err := journal.DecodeListed(stored, &journal.Execution{}); err != nil || got.FirstStep != 4 || got.Input != "" {
		t.Errorf("listed: %+v, %v", got, err)
	}
	x.Input = short
	texts = x.LongTexts(events[2:])
	if got, err := journal.Decode(x.AppendBinary(nil, texts), nil); err != nil || !reflect.DeepEqual(got, x) {
		t.Errorf("a short input: %+v, %v", got, err)
	}
	if got, err := journal.DecodeTexts(journal.AppendTexts(nil, texts)); err != nil || !slices.Equal(got, texts) {
		t.Errorf("%d texts, %v", len(got), err)
	}
	if _, err := journal.DecodeTexts(journal.AppendTexts(nil, texts)[:3000]); err == nil {
		t.Error("truncated texts are read")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add((&journal.Execution{Info: history.Info{ARN: "a", Origin: history.Origin{Input: "{}"}}}).AppendBinary(nil, nil))
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = journal.Decode(b, nil) })
}
