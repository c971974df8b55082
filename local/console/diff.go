package console

import "strings"

// DiffLine is a line of a comparison. Kind is '+' (added), '-' (removed), ' ' (unchanged), or '@', which replaces
// lines that are equal.
type DiffLine struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// Class returns the line's class in the style sheet.
func (d DiffLine) Class() string {
	return map[string]string{"+": "plus", "-": "minus", "@": "skip"}[d.Kind]
}

// maxCompared limits the work of a comparison: the product of the numbers of lines.
const maxCompared = 4_000_000

// diff compares two texts line by line, with three lines of context around each change.
func diff(old, now string) []DiffLine {
	a, b := strings.Split(old, "\n"), strings.Split(now, "\n")
	var head, tail []string
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		head, a, b = append(head, a[0]), a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail, a, b = append(tail, a[len(a)-1]), a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) == 0 && len(b) == 0 {
		return nil
	}
	var out []DiffLine
	for _, s := range head {
		out = append(out, DiffLine{" ", s})
	}
	if len(a)*len(b) > maxCompared { // all lines of one, then all of the other
		for _, s := range a {
			out = append(out, DiffLine{"-", s})
		}
		for _, s := range b {
			out = append(out, DiffLine{"+", s})
		}
	} else {
		out = append(out, longestCommon(a, b)...)
	}
	for i := len(tail) - 1; i >= 0; i-- {
		out = append(out, DiffLine{" ", tail[i]})
	}
	return around(out)
}

// longestCommon compares by the longest common subsequence.
func longestCommon(a, b []string) []DiffLine {
	length := make([][]int32, len(a)+1)
	for i := range length {
		length[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	var out []DiffLine
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, DiffLine{" ", a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && length[i+1][j] >= length[i][j+1]:
			out = append(out, DiffLine{"-", a[i]})
			i++
		default:
			out = append(out, DiffLine{"+", b[j]})
			j++
		}
	}
	return out
}

// around replaces equal lines that are far from a change.
func around(all []DiffLine) []DiffLine {
	const context = 3
	near := make([]bool, len(all))
	for i := range all {
		if all[i].Kind != " " {
			for j := max(0, i-context); j <= min(len(all)-1, i+context); j++ {
				near[j] = true
			}
		}
	}
	var out []DiffLine
	for i, line := range all {
		switch {
		case near[i]:
			out = append(out, line)
		case i == 0 || near[i-1]:
			out = append(out, DiffLine{"@", "⋯"})
		}
	}
	return out
}
