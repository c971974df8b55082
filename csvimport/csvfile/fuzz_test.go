package csvfile

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"testing"

	"stepback/csvimport"
)

// readLikeAWS parses CSV by the rules that AWS documents for the ItemReader, written independently of this package's
// scanner: a backslash escapes a backslash, a quote or a comma and is removed before anything else, `""` is a quote
// inside quotes, a row ends with a newline.
func readLikeAWS(text string) [][]string {
	var table [][]string
	var row []string
	var field strings.Builder
	quoted, any := false, false
	endField := func() { row = append(row, field.String()); field.Reset() }
	for i := 0; i < len(text); i++ {
		c := text[i]
		any = true
		switch {
		case c == '\\':
			if i++; i < len(text) && strings.IndexByte(`\",`, text[i]) >= 0 {
				field.WriteByte(text[i])
			} else {
				i--
			}
		case c == '"' && quoted && i+1 < len(text) && text[i+1] == '"':
			field.WriteByte('"')
			i++
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			endField()
		case c == '\n' && !quoted:
			endField()
			table, row, any = append(table, row), nil, false
		default:
			field.WriteByte(c)
		}
	}
	if any {
		endField()
		table = append(table, row)
	}
	return table
}

func FuzzNormalise(f *testing.F) {
	for _, seed := range []string{
		head + "u1,1,2\n", head + "\"a\nb\"\"c\",1,2\r\n\n" + `back\slash\\,"x\"",3` + "\nshort\n", byteOrderMark +
			"post_count;user_id;login_count\n1;\"u;,\";2",
		"ユーザーID\tログイン回数\t投稿回数\nあ\t1\t2", "user_id,login_count,post_count,line,error,reason,letter\n'=x,'-1,2,3,e,r,row:a-1:3\n",
		head + "\"open,1,2\nu,1,1", head + "u\x00,1,2\r\r\nv,1,1\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		type kept struct{ user, logins, posts, line, problem string }
		var want []kept
		r, err := NewReader(bytes.NewReader(data), "")
		if err != nil {
			return
		}
		for {
			row, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				return
			}
			want = append(want, kept{row.UserID, row.LoginCount, row.PostCount, strconv.FormatInt(row.Line, 10),
				csvimport.JoinProblems(row.Problems)})
		}
		var file bytes.Buffer
		again, err := NewReader(bytes.NewReader(data), r.Format().Encoding)
		if err != nil {
			t.Fatalf("the second pass: %v", err)
		}
		n, err := Normalise(again, &file, nil)
		if err != nil || n != int64(len(want)) {
			t.Fatalf("Normalise wrote %d rows (%v), Next gave %d", n, err, len(want))
		}
		table := readLikeAWS(file.String())
		if len(table) != len(want)+1 {
			t.Fatalf("AWS reads %d rows, want %d\n%q", len(table)-1, len(want), file.String())
		}
		items, err := NewItems(bytes.NewReader(file.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range want {
			if got := table[i+1]; len(got) < 5 || (kept{got[0], got[1], got[2], got[3], got[4]}) != w {
				t.Fatalf("row %d: AWS reads %q, want %q", i, got, w)
			}
			item, err := items.Next()
			if err != nil || (kept{item.UserID, item.LoginCount, item.PostCount, item.Line, item.Problem}) != w {
				t.Fatalf("row %d: Items reads %q, want %q (%v)", i, item, w, err)
			}
		}
		if r.Regular() {
			checkRegular(t, data, len(want), func(i int) []string {
				return []string{want[i].user, want[i].logins,
					want[i].posts}
			})
		}
	})
}

// checkRegular checks that AWS reads the same rows from a file that is used without a copy.
func checkRegular(t *testing.T, data []byte, rows int, row func(int) []string) {
	table := readLikeAWS(string(data))
	if len(table) != rows+1 {
		t.Fatalf("regular, but AWS reads %d rows, want %d", len(table)-1, rows)
	}
	for i := range rows {
		if got, want := table[i+1], row(i); strings.Join(got, "\x00") != strings.Join(want, "\x00") {
			t.Fatalf("regular, but AWS reads %q, want %q", got, want)
		}
	}
}

// FuzzGuard checks that a value in a corrections file is read back unchanged.
func FuzzGuard(f *testing.F) {
	f.Add("''=x")
	f.Fuzz(func(t *testing.T, value string) {
		if got := string(unguard([]byte(Guard(value)))); got != value {
			t.Errorf("unguard(Guard(%q)) is %q", value, got)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	const rows = 100000
	var file bytes.Buffer
	file.WriteString(head)
	for i := range rows {
		file.WriteString("user-" + strconv.Itoa(i) + ",3,2\n")
	}
	b.SetBytes(int64(file.Len()))
	b.ReportAllocs()
	for b.Loop() {
		r, err := NewReader(bytes.NewReader(file.Bytes()), "")
		if err != nil {
			b.Fatal(err)
		}
		report, err := Check(r)
		if err != nil || report.Rows != rows || !report.Regular {
			b.Fatalf("%+v, %v", report, err)
		}
	}
}
