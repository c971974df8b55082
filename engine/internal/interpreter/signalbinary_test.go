package interpreter_test

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/jsonvalue"
)

func TestSignalsReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		events := make([]interpreter.Signal, rapid.IntRange(0, 5).Draw(t, "events"))
		for i := range events {
			e := &events[i]
			e.Kind = interpreter.SignalKind(rapid.IntRange(int(interpreter.Start), int(interpreter.Redrive)).Draw(t,
				"kind"))
			e.At = time.Unix(0, rapid.Int64().Draw(t, "at")).UTC()
			e.Seed, e.ID, e.Worker = rapid.Uint64().Draw(t, "seed"), rapid.Int64().Draw(t, "id"), text.Draw(t, "worker")
			e.Secret, e.ByToken = text.Draw(t, "secret"), rapid.Bool().Draw(t, "by token")
			if rapid.Bool().Draw(t, "answered") {
				e.Output = jsonvalue.TextDocument(text.Draw(t, "output"))
			}
			if rapid.Bool().Draw(t, "error") {
				e.Failure.SetName(text.Draw(t, "name"))
			}
			if rapid.Bool().Draw(t, "cause") {
				e.Failure.SetCause(text.Draw(t, "why"))
			}
		}
		stored := interpreter.AppendSignals([]byte("before"), events)
		got, rest, err := interpreter.DecodeSignals(append(stored[len("before"):], "after"...))
		if err != nil || string(rest) != "after" || !reflect.DeepEqual(got, events) {
			t.Fatalf("%+v, %q, %v; want %+v", got, rest, err, events)
		}
	})
}

func FuzzDecodeEvents(f *testing.F) {
	f.Add(interpreter.AppendSignals(nil, []interpreter.Signal{
		{Kind: interpreter.TaskSucceeded, ID: 3, At: epoch, Seed: 9, Output: jsonvalue.TextDocument(`{"a":1}`)},
		{Kind: interpreter.TaskFailed, ID: 4, At: epoch, Failure: history.NewFailure("E", "c"), Worker: "w"},
	}))
	f.Fuzz(func(t *testing.T, stored []byte) {
		events, rest, err := interpreter.DecodeSignals(stored)
		if err != nil {
			return
		}
		again, left, err := interpreter.DecodeSignals(interpreter.AppendSignals(nil, events))
		if err != nil || len(left) != 0 || len(again) != len(events) || !bytes.HasSuffix(stored, rest) {
			t.Fatalf("%+v reads back as %+v, %v", events, again, err)
		}
	})
}
