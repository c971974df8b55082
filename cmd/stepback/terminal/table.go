package terminal

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"stepback/asl/source"
)

// Table prints aligned columns: numbers to the right, everything else to the left.
type Table struct {
	head  []string
	right []bool
	rows  [][]string
}

// NewTable returns a table with the given column heads. If a head begins with ">", its column is aligned to the
// right.
func NewTable(heads ...string) *Table {
	t := &Table{}
	for _, h := range heads {
		name, right := strings.CutPrefix(h, ">")
		t.head = append(t.head, name)
		t.right = append(t.right, right)
	}
	return t
}

// Add adds a row. Control characters in its cells are shown; see Visible.
func (t *Table) Add(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = Visible(fmt.Sprint(c))
	}
	t.rows = append(t.rows, row)
}

// Print prints the table. On a screen, it keeps within the width: long cells of left-aligned columns continue on
// the next line. If the table still does not fit, or only with names broken in the middle, it is printed row by
// row, with the numbers below the texts.
func (t *Table) Print(w io.Writer, indent string) {
	on := ScreenOf(w)
	widths, words := make([]int, len(t.head)), make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, c := range row {
			widths[i], words[i] = max(widths[i], source.Cells(c)), max(words[i], longestWord(c))
		}
	}
	if on.width > 0 && !t.narrow(widths, words, on.width-len(indent)-1) {
		if slices.Contains(t.right, true) {
			t.stack(w, on, indent)
			return
		}
		t.narrow(widths, make([]int, len(words)), on.width-len(indent)-1)
	}
	for n, row := range append([][]string{t.head}, t.rows...) {
		for _, line := range broken(row, widths) {
			var b strings.Builder
			b.WriteString(indent)
			for i, c := range line {
				pad := strings.Repeat(" ", max(0, widths[i]-source.Cells(c)))
				if n > 0 {
					c = on.Status(c)
				}
				if t.right[i] {
					b.WriteString(pad + c)
				} else {
					b.WriteString(c + pad)
				}
				b.WriteString("  ")
			}
			fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
		}
	}
}

// stack prints each row in two parts: its texts, and below them its numbers with their column heads. Lines that would
// be wider than the screen continue on an indented line, between cells if possible.
func (t *Table) stack(w io.Writer, on Screen, indent string) {
	var heads []string
	for i, h := range t.head {
		if !t.right[i] && h != "" {
			heads = append(heads, h)
		}
	}
	lines(w, Screen{width: on.width}, indent, heads)
	for _, row := range t.rows {
		var texts, numbers []string
		for i, c := range row {
			switch {
			case c == "":
			case t.right[i]:
				numbers = append(numbers, t.head[i]+" "+c)
			default:
				texts = append(texts, c)
			}
		}
		lines(w, on, indent, texts)
		for len(numbers) > 0 {
			line, n := numbers[0], 1
			for n < len(numbers) && source.Cells(line+", "+numbers[n]) < on.width-len(indent)-5 {
				line += ", " + numbers[n]
				n++
			}
			fmt.Fprintln(w, indent+"    "+line)
			numbers = numbers[n:]
		}
	}
}

// lines prints cells side by side, as many on a line as fit on the screen. Every line but the first is indented by two
// cells more. A cell that is wider than a line is broken as cells of tables are.
func lines(w io.Writer, on Screen, indent string, cells []string) {
	const gap = 2
	line, used := "", 0
	end := func() {
		if line != "" {
			fmt.Fprintln(w, line)
		}
		line, used = "", 0
	}
	for i, c := range cells {
		if used > 0 && used+gap+source.Cells(c) >= on.width {
			end()
		}
		for first := true; first || c != ""; first = false {
			if used > 0 && first {
				line, used = line+strings.Repeat(" ", gap), used+gap
			} else {
				end()
				line, used = indent, len(indent)
				if i > 0 || !first {
					line, used = line+strings.Repeat(" ", gap), used+gap
				}
			}
			var part string
			part, c = head(c, max(narrowest, on.width-used-1))
			line, used = line+on.Status(part), used+source.Cells(part)
		}
	}
	end()
}

// narrowest is the least width of a column, in cells.
const narrowest = 12

// narrow reduces the widest left-aligned columns until the table fits into room cells, and reports whether it does.
// No column becomes narrower than its longest word.
func (t *Table) narrow(widths, words []int, room int) bool {
	const gap = 2
	total := -gap
	for _, w := range widths {
		total += w + gap
	}
	for total > room {
		widest := -1
		for i, w := range widths {
			if !t.right[i] && w > max(narrowest, words[i]) && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return false
		}
		widths[widest]--
		total--
	}
	return true
}

// longestWord returns the width in cells of a text's longest unbreakable part; see broken.
func longestWord(text string) int {
	longest := 0
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(breaks, r) }) {
		longest = max(longest, source.Cells(word)+1)
	}
	return longest
}

// breaks are the characters after which a line may be broken.
const breaks = " ,/"

// broken splits a row into lines whose cells fit their widths. Cells are broken after a blank, a comma or a slash if
// possible, otherwise anywhere.
func broken(row []string, widths []int) [][]string {
	var lines [][]string
	for i, cell := range row {
		for n := 0; n == 0 || cell != ""; n++ {
			if n == len(lines) {
				lines = append(lines, make([]string, len(row)))
			}
			lines[n][i], cell = head(cell, widths[i])
		}
	}
	return lines
}

// head returns the part of a text that fits on a line, and the rest.
func head(text string, width int) (first, rest string) {
	if source.Cells(text) <= width || width <= 0 {
		return text, ""
	}
	end, good := 0, 0
	room := width
	for i, r := range text {
		if room -= source.Cells(string(r)); room < 0 {
			if r == ' ' {
				good = i
			}
			break
		}
		end = i + len(string(r))
		if strings.ContainsRune(breaks, r) {
			good = end
		}
	}
	if good > 0 {
		end = good
	}
	return strings.TrimRight(text[:end], " "), strings.TrimLeft(text[end:], " ")
}
