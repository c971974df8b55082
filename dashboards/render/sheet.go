package render

import (
	"bytes"
	"cmp"
	"fmt"
	"image/png"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"stepback/retrymetrics/metricmath"
)

// sheet is the page laid out as a single picture: heading, alarms and the metric widgets. Text widgets are only in
// the HTML page.
type sheet struct {
	page    Page
	widgets []widget
	grid    metricmath.Grid
	first   int // the grid row at which the widgets start
	rows    int
}

const (
	sheetHead = 60.0
	alarmLine = 18.0
	// alarmLetters is the approximate number of letters that fit next to an alarm's name. alarmRows is the maximum
	// number of lines shown for its text.
	alarmLetters = 138
	alarmRows    = 4
)

func (p Page) sheet() (sheet, error) {
	b, err := parse(p.Body)
	if err != nil {
		return sheet{}, err
	}
	s := sheet{page: p, grid: p.Data.Grid()}
	s.widgets = slices.DeleteFunc(b.Widgets, func(w widget) bool { return w.Type != "metric" })
	if p.WithData {
		if s.widgets, err = p.closedUp(s.widgets); err != nil {
			return sheet{}, err
		}
	}
	for i, w := range s.widgets {
		if i == 0 || w.Y < s.first {
			s.first = w.Y
		}
		s.rows = max(s.rows, w.Y+w.Height)
	}
	return s, nil
}

// gridColumns is the number of columns in a dashboard's grid.
const gridColumns = 24

// closedUp returns the widgets that have data, in their order, placed in rows without gaps. Widgets of the same row
// stay together.
func (p Page) closedUp(all []widget) ([]widget, error) {
	slices.SortStableFunc(all, func(a, b widget) int { return cmp.Or(cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X)) })
	var left []widget
	x, y, row, high := 0, 0, 0, 0
	for _, w := range all {
		empty, err := p.empty(w)
		if err != nil {
			return nil, err
		}
		if empty {
			continue
		}
		if x > 0 && (w.Y != row || x+w.Width > gridColumns) {
			x, y, high = 0, y+high, 0
		}
		row, high = w.Y, max(high, w.Height)
		w.X, w.Y = x, y
		x += w.Width
		left = append(left, w)
	}
	return left, nil
}

// top returns the position at which the widgets start.
func (s sheet) top() float64 {
	if len(s.page.Alarms) == 0 {
		return sheetHead
	}
	lines := 0
	for _, a := range s.page.Alarms {
		lines += len(wrap(a.Text, alarmLetters, alarmRows))
	}
	return sheetHead + float64(lines)*alarmLine + 2*gap
}

func (s sheet) size() (width, height float64) {
	return 24*column + gap, s.top() + float64(s.rows-s.first)*unitHeight + gap
}

func (s sheet) draw(on canvas) error {
	on.text(point{gap, 30}, begins, heading, s.page.Name)
	on.text(point{gap, 48}, begins, small, s.page.span(s.grid))
	s.drawAlarms(on)
	for _, w := range s.widgets {
		width, height := w.size()
		at := on.moved(point{float64(w.X)*column + gap, s.top() + float64(w.Y-s.first)*unitHeight})
		at.card(box{0, 0, width, height})
		if err := w.draw(at, s.page.Data, s.grid); err != nil {
			return err
		}
	}
	return nil
}

// drawAlarms lists the alarms. Those that fired come first.
func (s sheet) drawAlarms(on canvas) {
	if len(s.page.Alarms) == 0 {
		return
	}
	on.card(box{gap, sheetHead, 24*column - gap, s.top() - sheetHead - gap})
	y := sheetHead
	for _, a := range s.page.sortedAlarms() {
		look := fine
		switch {
		case a.Tripped:
			look = alarming
		case a.State != ok:
			look = small
		}
		on.text(point{gap + 12, y + alarmLine}, begins, look, a.State)
		on.text(point{gap + 190, y + alarmLine}, begins, title, a.Name)
		for _, line := range wrap(a.Text, alarmLetters, alarmRows) {
			y += alarmLine
			on.text(point{gap + 520, y}, begins, small, line)
		}
	}
}

// wrap breaks a text between words into at most lines lines, each of at most letters letters. It shortens what does
// not fit. It returns at least one line.
func wrap(text string, letters, lines int) []string {
	var out []string
	line := ""
	words := strings.Fields(text)
	for i, word := range words {
		if joined := strings.TrimSpace(line + " " + word); utf8.RuneCountInString(joined) <= letters {
			line = joined
			continue
		}
		if len(out) == lines-1 {
			line = strings.TrimSpace(line + " " + strings.Join(words[i:], " "))
			break
		}
		if line != "" {
			out = append(out, line)
		}
		line = word
	}
	return append(out, clip(line, letters))
}

// clip shortens a text to at most letters letters.
func clip(text string, letters int) string {
	if r := []rune(text); len(r) > letters {
		return string(r[:letters-1]) + "…"
	}
	return text
}

// SVG draws the page as one self-contained SVG file.
func (p Page) SVG(out io.Writer) error {
	s, err := p.sheet()
	if err != nil {
		return err
	}
	width, height := s.size()
	var page bytes.Buffer
	fmt.Fprintf(&page, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\"><style>%s</style>\n"+
		`<rect class="ground" width="100%%" height="100%%"/>`, width, height, width, height, colors)
	if err := s.draw(svg{out: &page}); err != nil {
		return err
	}
	page.WriteString("\n</svg>\n")
	_, err = out.Write(page.Bytes())
	return err
}

// PNG draws the page as a bitmap, on a light background. The bitmap has two dots, in each direction, for each pixel
// of the SVG file.
func (p Page) PNG(out io.Writer) error {
	s, err := p.sheet()
	if err != nil {
		return err
	}
	b, err := newBitmap(s.size())
	if err != nil {
		return err
	}
	if err := s.draw(b); err != nil {
		return err
	}
	return png.Encode(out, b.image)
}
