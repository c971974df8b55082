package handlers_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambda/messages"
	"pgregory.net/rapid"

	"stepback/csvimport"
	"stepback/csvimport/csvfile"
	"stepback/csvimport/database"
	"stepback/csvimport/handlers"
	"stepback/csvimport/objectstest"
	"stepback/csvimport/process"
	"stepback/csvimport/validate"
	"stepback/retry"
)

func openStore(t testing.TB) csvimport.Store {
	t.Helper()
	store := database.NewLazy("sqlite:" + filepath.Join(t.TempDir(), "users.db"))
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func TestProcess(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h := lambda.NewHandler(handlers.Process(openStore(t), slog.New(slog.NewJSONHandler(&log, nil))))
	for _, step := range []struct{ run, outcome string }{
		{`"run":"one",`, "applied"}, {`"run":"one",`, "applied"}, {`"run":"two",`, "alreadyApplied"},
		{"", "alreadyApplied"},
	} {
		event := `{"source":{"bucket":"b","key":"k","etag":"e"},` + step.run +
			`"row":7,"record":{"user_id":" u1 ","login_count":"3","post_count":"2"}}`
		want := `{"outcome":"` + step.outcome + `","row":7,"userId":"u1"}`
		got, err := h.Invoke(t.Context(), []byte(event))
		if err != nil || string(got) != want {
			t.Errorf("run %s: answer is %s, %v; want %s", step.run, got, err, want)
		}
	}
	if n := strings.Count(log.String(), "\n"); n != 4 {
		t.Errorf("%d log lines, want 4:\n%s", n, log.String())
	}
}

func TestProcessErrors(t *testing.T) {
	t.Parallel()
	h := lambda.NewHandler(handlers.Process(openStore(t), nil))
	const source = `"source":{"bucket":"b","key":"k","etag":"e"}`
	for event, want := range map[string]messages.InvokeResponse_Error{
		`{}`: {Type: "InvalidInput",
			Message: `the event lacks source.bucket, source.key, source.etag; expected "source":{"bucket":…,"key":…,"etag":…} of the uploaded object`},
		`[]`: {Type: "InvalidInput",
			Message: "the event's  is a array, expected process.Event (byte 1)"},
		`{` + source + `}`: {Type: "InvalidInput",
			Message: "the event lacks row, the number of the record in the file, from 0"},
		`{` + source + `,"row":1}`: {Type: "InvalidInput",
			Message: "the event lacks record, the columns user_id, login_count and post_count as text"},
		`{` + source + `,"row":-1}`: {Type: "InvalidInput", Message: "row is -1; rows are numbered from 0"},
		`{` + source + `,"row":1,"record":{}}`: {Type: "ValidationError",
			Message: "user_id is empty: give the user's id; login_count is empty: write 0 if there was none; post_count is empty: write 0 if there was none"},
		`{` + source + `,"row":1,"record":{"user_id":"u","login_count":"1","post_count":"2","line":"9","problem":"the row is odd"}}`: {Type: "ValidationError", Message: "line 9: the row is odd"},
	} {
		_, err := h.Invoke(t.Context(), []byte(event))
		//nolint:errorlint // the Lambda runtime looks at the outermost value too
		got, ok := err.(messages.InvokeResponse_Error)
		if !ok || got.Type != want.Type || got.Message != want.Message {
			t.Errorf("%s:\n%#v\nwant\n%#v", event, err, want)
		}
	}
}

func TestDatabaseOutOfReach(t *testing.T) {
	t.Parallel()
	h := handlers.Process(database.NewLazy("postgres://u:secret@127.0.0.1:1/db"), nil)
	_, err := h(t.Context(), json.RawMessage(`{"source":{"bucket":"b","key":"k","etag":"e"},"row":7,"record":{"user_id":"u","login_count":"3","post_count":"2"}}`))
	var got messages.InvokeResponse_Error
	if !errors.As(err, &got) || got.Type != retry.DatabaseConnectionError || strings.Contains(got.Message,
		"secret") {
		t.Errorf("error is %#v, want DatabaseConnectionError without the password", err)
	}
}

// TestEveryRowIsAccountedFor sends random files through validate, and each row of the resulting file through process.
// Every row is applied or rejected, the rejected rows are those that validate counted, and the users table equals an
// independent computation.
func TestEveryRowIsAccountedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var run int
	rapid.Check(t, func(rt *rapid.T) {
		run++
		store, err := database.Open(t.Context(), "sqlite:"+filepath.Join(dir, strconv.Itoa(run)+".db"))
		if err != nil {
			rt.Fatal(err)
		}
		defer store.Close()
		ids := rapid.SampledFrom([]string{"u1", "u2", "利用者", `a\b`, `say "hi"`, "two\nlines", "x,y;z", "=1", ""})
		counts := rapid.SampledFrom([]string{"0", "1", "17", "007", "-1", "x", "", "9223372036854775808"})
		var file strings.Builder
		out := csv.NewWriter(&file)
		out.UseCRLF = rapid.Bool().Draw(rt, "CRLF")
		out.Comma = rapid.SampledFrom([]rune{',', ';', '\t'}).Draw(rt, "delimiter")
		_ = out.Write([]string{"user_id", "post_count", "login_count"})
		want := map[string][2]int64{}
		rejected := 0
		for range rapid.IntRange(1, 30).Draw(rt, "rows") {
			id, logins, posts := ids.Draw(rt, "id"), counts.Draw(rt, "logins"), counts.Draw(rt, "posts")
			_ = out.Write([]string{id, posts, logins})
			l, errL := strconv.ParseUint(logins, 10, 63)
			p, errP := strconv.ParseUint(posts, 10, 63)
			if id == "" || errL != nil || errP != nil {
				rejected++
				continue
			}
			if out.UseCRLF { // encoding/csv writes a line break inside quotes as CRLF too
				id = strings.ReplaceAll(id, "\n", "\r\n")
			}
			want[id] = [2]int64{want[id][0] + int64(l), want[id][1] + int64(p)}
		}
		out.Flush()
		var objects objectstest.Memory
		source := objects.Set(csvimport.Location{Bucket: "b", Key: "k"}, file.String(), "")
		checked, err := (&validate.Validator{Objects: &objects}).Validate(t.Context(), validate.Input{Source: source,
			WorkBucket: "w"})
		if err != nil {
			rt.Fatal(err)
		}
		if checked.ProblemRows != int64(rejected) {
			rt.Fatalf("%d rows have problems, want %d", checked.ProblemRows, rejected)
		}
		if !checked.Valid {
			return
		}
		applied, refused := processAll(t, rt, &objects, store, source, checked)
		if applied+refused != checked.Rows || refused != int64(rejected) {
			rt.Fatalf("%d applied and %d rejected of %d rows, want %d rejected", applied, refused, checked.Rows,
				rejected)
		}
		got := map[string][2]int64{}
		_ = store.Export(t.Context(), func(u csvimport.User) error {
			got[u.UserID] = [2]int64{u.LoginCount, u.PostCount}
			return nil
		})
		if fmt.Sprint(got) != fmt.Sprint(want) {
			rt.Fatalf("the users are %v, want %v", got, want)
		}
	})
}

func processAll(t *testing.T, rt *rapid.T, objects csvimport.Objects, store csvimport.Store, source csvimport.Source,
	checked validate.Output) (applied, rejected int64) {
	object, err := objects.Get(t.Context(), checked.Data.Location, "")
	if err != nil {
		rt.Fatal(err)
	}
	items, err := csvfile.NewItems(object.Body)
	if err != nil {
		rt.Fatal(err)
	}
	for row := int64(0); ; row++ {
		record, err := items.Next()
		if errors.Is(err, io.EOF) {
			return applied, rejected
		}
		if err != nil {
			rt.Fatal(err)
		}
		_, err = process.Process(t.Context(), store, process.Input{Source: source, Row: &row, Record: &record})
		switch {
		case err == nil:
			applied++
		case csvimport.AsFailure(err).Name == retry.ValidationError:
			rejected++
		default:
			rt.Fatal(err)
		}
	}
}

func BenchmarkProcess(b *testing.B) {
	store := openStore(b)
	h := handlers.Process(store, nil)
	b.SetParallelism(128)
	rows := make(chan int, 1024)
	go func() {
		defer close(rows)
		for i := range b.N {
			rows <- i
		}
	}()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			i := <-rows
			event := fmt.Appendf(nil, `{"source":{"bucket":"b","key":"k","etag":"e"},"row":%d,"record":{"user_id":"user-%d","login_count":"3","post_count":"2"}}`, i, i%10000)
			if _, err := h(b.Context(), event); err != nil {
				b.Error(err)
			}
		}
	})
}
