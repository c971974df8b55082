package csvfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"stepback/csvimport"
)

// readRow is a row as it was read from a file or from a range of it.
type readRow struct {
	index, line         int64
	user, logins, posts string
	problems            string
}

// rowsOf returns all rows of a reader. first and lines are the numbers of rows and lines before it.
func rowsOf(t *testing.T, r *Reader, first, lines int64) ([]readRow, error) {
	t.Helper()
	var all []readRow
	for {
		row, err := r.Next()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, readRow{index: first + row.Index, line: lines + row.Line, user: row.UserID,
			logins: row.LoginCount,
			posts:  row.PostCount, problems: csvimport.JoinProblems(row.Problems)})
	}
}

// wholly reads a file as a whole, as validation does.
func wholly(t *testing.T, data string) ([]readRow, error) {
	t.Helper()
	for _, assume := range []Encoding{"", ShiftJIS} {
		r, err := NewReader(strings.NewReader(data), assume)
		if err != nil {
			return nil, err
		}
		rows, err := rowsOf(t, r, 0, 0)
		if err == nil || r.Format().Encoding != UTF8 {
			return rows, err
		}
	}
	panic("the second reading has another encoding")
}

// inRanges reads a file in ranges, as rounds of parallel validation do.
func inRanges(t *testing.T, data string, ranges func(Layout) []Range) ([]readRow, error) {
	t.Helper()
	layout, err := Inspect(strings.NewReader(data), "")
	if err != nil {
		return nil, err
	}
	for {
		all := ranges(layout)
		reports := make([]RangeReport, len(all))
		for redo := allOf(all); len(redo) > 0; redo = Misplaced(reports) {
			for _, x := range redo {
				reports[x.Range], err = CheckRange(rangeReader(t, layout, data, all[x.Range], x.Start))
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		var evidence []Evidence
		for _, r := range reports {
			evidence = append(evidence, r.Evidence)
		}
		assume, err := layout.Judge(evidence)
		if assume != "" {
			if layout, err = Inspect(strings.NewReader(data), assume); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		var rows []readRow
		first, lines := int64(0), layout.Lines
		for i, r := range reports {
			reader := rangeReader(t, layout, data, all[i], r.Start)
			part, err := rowsOf(t, &reader.Reader, first, lines)
			if err != nil || int64(len(part)) != r.Rows {
				t.Fatalf("%d rows, the report says %d (%v)", len(part), r.Rows, err)
			}
			checkVerbatim(t, data, r, part, lines)
			rows = append(rows, part...)
			first, lines = first+r.Rows, lines+r.Lines
		}
		return rows, nil
	}
}

func allOf(ranges []Range) []Restart {
	var all []Restart
	for i := range ranges {
		all = append(all, Restart{i, Unknown})
	}
	return all
}

func rangeReader(t *testing.T, l Layout, data string, at Range, start int64) *RangeReader {
	t.Helper()
	r, err := l.NewRangeReader(strings.NewReader(data[l.Offset(at):]), at, start)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// checkVerbatim checks that a regular range can be copied as it is: below a header, the same rows are read from it, one
// in each line.
func checkVerbatim(t *testing.T, data string, r RangeReport, want []readRow, lines int64) {
	t.Helper()
	if !r.Regular {
		return
	}
	items, err := NewItems(strings.NewReader(head + data[r.Start:r.Next]))
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		got, err := items.Next()
		if err != nil || got.UserID != w.user || got.LoginCount != w.logins || got.PostCount != w.posts ||
			w.line != lines+int64(i)+1 {
			t.Fatalf("row %d of a copied range is %+v, want %+v (%v)", i, got, w, err)
		}
	}
	if _, err := items.Next(); err != io.EOF {
		t.Fatalf("a copied range has more than %d rows", len(want))
	}
}

// sameInRanges compares the readings of a file as a whole and in ranges.
func sameInRanges(t *testing.T, data string, ranges func(Layout) []Range) {
	t.Helper()
	want, wantErr := wholly(t, data)
	got, gotErr := inRanges(t, data, ranges)
	var w, g *csvimport.Failure
	errors.As(wantErr, &w)
	errors.As(gotErr, &g)
	switch {
	case (wantErr == nil) != (gotErr == nil) || w != nil && (g == nil || w.Name != g.Name):
		t.Fatalf("in ranges the error is %v, as a whole it is %v", gotErr, wantErr)
	case wantErr == nil && !slices.Equal(got, want):
		for i := range want {
			if i >= len(got) || !reflect.DeepEqual(got[i], want[i]) {
				t.Fatalf("row %d of %d differs:\n%+v\nwant\n%+v", i, len(got), got[min(i, len(got)-1)], want[i])
			}
		}
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
}

func cutAt(cuts ...int64) func(Layout) []Range {
	return func(l Layout) []Range {
		var all []Range
		from := l.Begin
		for _, cut := range cuts {
			if cut > from {
				all = append(all, Range{from, cut})
				from = cut
			}
		}
		return all
	}
}

// TestCutAnywhere cuts files at every byte, and reads the same rows, lines and problems as in the whole file.
func TestCutAnywhere(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"plain":              head + "u1,1,2\nu2,3,4\nu3,5,6",
		"CRLF":               strings.ReplaceAll(head+"u1,1,2\nu2,3,4\n\nu3,5,6\n", "\n", "\r\n"),
		"CR":                 strings.ReplaceAll(head+"u1,1,2\nu2,3,4\n\nu3,5,6\n", "\n", "\r"),
		"mixed line ends":    head + "u1,1,2\r\nu2,3,4\ru3,5,6\n\r\nu4,7,8\n\ru5,9,10\r\n",
		"line breaks inside": head + "\"a\nb\",1,2\n\"c\r\nd\r\n\",3,4\n\"\n\n\",5,6\nu,7,8\n",
		"quotes inside":      head + "\"a\"\"\n\"\"b\",1,2\n\"\n\"\"\n\"\"\n\",3,4\n\"x\n\"\"b\"\"\n\",5,6\nu,7,8\nv,9,1\n",
		"bare quotes":        head + "a\"b,1,2\nc\"\n\"d\"e,3,4\n\"f\" ,5,6\nu,7,8\n",
		"never closed":       head + "u,1,2\n\"open,3,4\nv,5,6\nw,7,8\n",
		"BOM, semicolons":    byteOrderMark + "投稿回数;ユーザーID;ログイン回数\r\n1;\"あ\r\n;い\";2\r\n3;う;4\r\n",
		"blank lines above":  "\n\nsep=;\nuser_id;login_count;post_count\nu;1;2\n\n \nv;3;4\n\n",
		"empty last column":  "user_id,login_count,post_count,\nu1,1,2,\nu2,3,4\nu3,5,6,\n",
		"empty last field":   head + "u1,1,2,\nu2,3,4,\nu3,5,6\n",
		"wrong fields":       head + "u1,1\nu2,1,2,3\n,x,-1\n\\,1,2\nu\x00,1,2\n",
		"Shift_JIS":          shiftJIS(t, "ユーザーID,ログイン回数,投稿回数\n表示ソ能,1,2\n\"表\n示\",3,4\nｱｲｳ,5,6\n田中,7,8\n"),
		"UTF-8":              head + "田中,1,2\n\"鈴\n木\",3,4\n佐藤,7,8\n",
		"damaged":            head + "田中,1,2\n鈴木,3,4\n\xE4\xB8,5,6\n佐藤,7,8\n",
		"cut off":            head + "田中,1,2\n鈴\xE6\x9C",
		"header alone":       head,
		"no line end":        "user_id,login_count,post_count",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			size := int64(len(data))
			for a := range size {
				sameInRanges(t, data, cutAt(a, size))
				for b := a + 1; b < size; b += 1 + size/7 {
					sameInRanges(t, data, cutAt(a, b, size))
				}
			}
			sameInRanges(t, data, func(l Layout) []Range { return l.Ranges(size, 7) })
			every := make([]int64, size)
			for i := range every {
				every[i] = int64(i) + 1
			}
			sameInRanges(t, data, cutAt(every...))
		})
	}
}

// TestCutLongRows cuts rows that are longer than a row may be, and quotes that are not closed within that length.
func TestCutLongRows(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", MaxRowBytes)
	lines := strings.Repeat("u,1,2\n", MaxRowBytes/4)
	for name, data := range map[string]string{
		"a long row":            head + "u,1,2\n" + long + long + long + ",1,2\nv,3,4\nw,5,6\n",
		"a long quoted row":     head + "u,1,2\n\"" + long + "\n" + long + "\",1,2\nv,3,4\nw,5,6\n",
		"an open quote":         head + "u,1,2\n\"v,1,2\n" + lines + "w\",5,6\nx,1,2\n",
		"just as long as a row": head + "u,1,2\n\"" + strings.Repeat("\n", MaxRowBytes-8) + "\",1,2\nv,3,4\n",
		"long rows, Shift_JIS":  shiftJIS(t, head+"田中,1,2\n"+strings.Repeat("表ｱ", MaxRowBytes/3)+",1,2\n鈴木,3,4\n"+lines+"佐藤,1,2\n"),
		"late Shift_JIS":        head + lines + shiftJIS(t, "表示,1,2\n田中,3,4\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			size := int64(len(data))
			for _, n := range []int{2, 5, 17} {
				sameInRanges(t, data, func(l Layout) []Range { return l.Ranges(size, n) })
			}
			random := rand.New(rand.NewPCG(1, uint64(size)))
			for range 8 {
				a, b := random.Int64N(size), random.Int64N(size)
				sameInRanges(t, data, cutAt(min(a, b), max(a, b), size))
			}
		})
	}
}

// TestCutRandomFiles cuts random files at random places.
func TestCutRandomFiles(t *testing.T) {
	t.Parallel()
	for seed := range uint64(150) {
		random := rand.New(rand.NewPCG(seed, 1))
		pieces := []string{"u", "\"", "\"\"", ",", ",1", ",2", "\n", "\r\n", "\r", "\\", " ", "é", "表", "\",", "\n\"", ",1,2\n", "a,1,2\n", "\"a\nb\",1,2\n"}
		var data strings.Builder
		if random.IntN(4) == 0 {
			data.WriteString(byteOrderMark)
		}
		data.WriteString(head)
		for range 10 + random.IntN(80) {
			data.WriteString(pieces[random.IntN(len(pieces))])
		}
		text := data.String()
		if random.IntN(4) == 0 {
			text = shiftJIS(t, strings.NewReplacer("é", "ｱ", byteOrderMark, "").Replace(text))
		}
		size := int64(len(text))
		for range 10 {
			var cuts []int64
			for range 1 + random.IntN(8) {
				cuts = append(cuts, random.Int64N(size))
			}
			slices.Sort(cuts)
			t.Run(fmt.Sprint(seed, cuts), func(t *testing.T) { sameInRanges(t, text, cutAt(append(cuts, size)...)) })
		}
	}
}

// FuzzCut looks for a file and cuts for which the ranges do not give the rows of the whole file.
func FuzzCut(f *testing.F) {
	f.Add([]byte(head+"\"a\nb\"\"c\",1,2\r\n\nu,1,2\n"), uint16(40), uint16(45))
	f.Fuzz(func(t *testing.T, data []byte, a, b uint16) {
		size := int64(len(data))
		sameInRanges(t, string(data), cutAt(min(int64(min(a, b)), size), min(int64(max(a, b)), size), size))
	})
}

// TestLetteredFilesAreNotCut: the rows of a corrections file are matched with their letters before any is imported.
func TestLetteredFilesAreNotCut(t *testing.T) {
	t.Parallel()
	_, err := Inspect(bytes.NewReader([]byte("user_id,login_count,post_count,letter\nu,1,2,row:a:1\n")), "")
	const want = "CSVFileTooLarge: a file with the column letter is imported as a whole, and is too large for that: split it, or remove the columns line, error, reason and letter to import all rows as new ones"
	if err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}
