package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"stepback/asl/source"
)

// table prints columns aligned: numbers to the right, the rest to the left.
type table struct {
	head  []string
	right []bool
	rows  [][]string
}

// newTable takes the column heads; one that begins with ">" is aligned to the right.
func newTable(heads ...string) *table {
	t := &table{}
	for _, h := range heads {
		name, right := strings.CutPrefix(h, ">")
		t.head = append(t.head, name)
		t.right = append(t.right, right)
	}
	return t
}

func (t *table) add(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = fmt.Sprint(c)
	}
	t.rows = append(t.rows, row)
}

func (t *table) print(w io.Writer, indent string) {
	widths := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, c := range row {
			widths[i] = max(widths[i], source.Cells(c))
		}
	}
	for _, row := range append([][]string{t.head}, t.rows...) {
		var line strings.Builder
		line.WriteString(indent)
		for i, c := range row {
			pad := strings.Repeat(" ", widths[i]-source.Cells(c))
			if t.right[i] {
				line.WriteString(pad + c)
			} else {
				line.WriteString(c + pad)
			}
			line.WriteString("  ")
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// grouped writes a number with commas between thousands.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
