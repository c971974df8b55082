package csvfile

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stepback/csvimport"
)

// values draws user ids with everything that CSV, spreadsheets and the ItemReader treat specially.
var values = rapid.StringOf(rapid.RuneFrom([]rune("ab=+-@'\"\\,;\t\r\n あ𝄞")))

// TestCorrectionsKeepValues writes drawn values to a corrections file, reads them as the list of letters does and as
// an import does, and as an import of the file that a redrive writes.
func TestCorrectionsKeepValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var all []Correction
		for n := range rapid.IntRange(1, 5).Draw(t, "rows") {
			all = append(all, Correction{UserID: "u" + values.Draw(t, "user"), LoginCount: values.Draw(t, "logins"),
				PostCount: values.Draw(t, "posts"), Line: int64(n + 2), Error: "E", Reason: values.Draw(t, "reason"),
				Letter: csvimport.LetterID(csvimport.Letters(csvimport.Source{Key: "a.csv", ETag: "e"}), int64(n+2))})
		}
		var file, redriven bytes.Buffer
		w, err := NewCorrections(&file)
		if err != nil {
			t.Fatal(err)
		}
		records := make([]csvimport.Record, len(all))
		for i, x := range all {
			if err := w.Write(x); err != nil {
				t.Fatal(err)
			}
			records[i] = csvimport.Record{UserID: x.UserID, LoginCount: x.LoginCount, PostCount: x.PostCount,
				Letter: x.Letter}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := LettersFile(&redriven, records); err != nil {
			t.Fatal(err)
		}
		n := 0
		if err := ReadCorrections(bytes.NewReader(file.Bytes()), func(x Correction) error {
			if x != all[n] {
				t.Errorf("the list reads %+v, written was %+v", x, all[n])
			}
			n++
			return nil
		}); err != nil || n != len(all) {
			t.Fatalf("%d rows, %v", n, err)
		}
		for _, text := range []string{file.String(), redriven.String()} {
			r, err := NewReader(strings.NewReader(text), "")
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range all {
				row, err := r.Next()
				if err != nil {
					t.Fatal(err)
				}
				if row.UserID != want.UserID || row.LoginCount != want.LoginCount || row.PostCount != want.PostCount ||
					row.Letter != want.Letter {
					t.Errorf("the import reads %+v, written was %+v", row, want)
				}
			}
		}
	})
}

// TestCorrectionsOfEarlierVersions reads a file without the column letter, whose backslashes are doubled.
func TestCorrectionsOfEarlierVersions(t *testing.T) {
	t.Parallel()
	var got []Correction
	err := ReadCorrections(strings.NewReader("user_id,login_count,post_count,line,error,reason\nCORP\\\\tanaka,'-1,2,3,E,\"a, b\"\n"),
		func(x Correction) error {
			got = append(got, x)
			return nil
		})
	want := Correction{UserID: `CORP\tanaka`, LoginCount: "-1", PostCount: "2", Line: 3, Error: "E", Reason: "a, b"}
	if err != nil || len(got) != 1 || got[0] != want {
		t.Errorf("read %+v, %v; want %+v", got, err, want)
	}
	if err := ReadCorrections(strings.NewReader("user_id,login_count\n"), nil); err == nil {
		t.Error("a file with another header was read")
	}
}
