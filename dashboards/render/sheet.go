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
)

// sheet is the page laid out as a single picture: heading, alarms and the widgets.
type sheet struct {
	page    *Page
	widgets []Widget
	first   int // the grid row at which the widgets start
	rows    int
}

const (
	sheetHead = 60.0
	// alarmShare is the largest part of a picture's height that the alarms above the widgets take.
	alarmShare = 0.1
	// alarmTexts is the most alarms that are shown with their text.
	alarmTexts = 6
)

func (p *Page) sheet() sheet {
	s := sheet{page: p, widgets: slices.Clone(p.Widgets)}
	if p.WithData {
		s.widgets = closedUp(s.widgets)
	}
	for i, w := range s.widgets {
		if i == 0 || w.Y < s.first {
			s.first = w.Y
		}
		s.rows = max(s.rows, w.Y+w.Height)
	}
	return s
}

// closedUp returns the metric and log widgets that have data, in their order, placed in rows without gaps. Widgets of
// the same row stay together.
func closedUp(all []Widget) []Widget {
	slices.SortStableFunc(all, func(a, b Widget) int { return cmp.Or(cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X)) })
	var left []Widget
	x, y, row, high := 0, 0, 0, 0
	for _, w := range all {
		if w.Type != typeMetric && w.Type != typeLog || w.Empty() {
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
	return left
}

// height returns the height of the widgets.
func (s sheet) height() float64 { return float64(s.rows-s.first) * unitHeight }

// alarmHeight returns the height of the alarms above the widgets, at most alarmShare of the picture.
func (s sheet) alarmHeight() float64 {
	all := s.page.Alarms
	if len(all) == 0 {
		return 0
	}
	fired := 0
	for i := range all {
		fired += btoi(all[i].Tripped)
	}
	texts := min(fired, alarmTexts)
	width := gridColumns*column - gap - 12
	columns := int(width / alarmWidth)
	lines := float64(texts + (len(all)-texts+columns-1)/columns)
	most := max(2, float64(int(alarmShare*(s.height()+sheetHead)/alarmLine)))
	return min(lines, most)*alarmLine + 8
}

// top returns the position at which the widgets start.
func (s sheet) top() float64 {
	if high := s.alarmHeight(); high > 0 {
		return sheetHead + high + gap
	}
	return sheetHead
}

func (s sheet) size() (width, height float64) {
	return gridColumns*column + gap, s.top() + s.height() + gap
}

func (s sheet) draw(on canvas) {
	on.text(point{gap, 30}, begins, heading, s.page.Name)
	on.text(point{gap, 48}, begins, small, s.page.span())
	if high := s.alarmHeight(); high > 0 {
		width := gridColumns*column - gap
		on.card(box{gap, sheetHead, width, high})
		drawAlarms(on.moved(point{gap, sheetHead}), s.page.Alarms, width, high-4, alarmTexts)
	}
	for i := range s.widgets {
		w := &s.widgets[i]
		width, height := w.size()
		at := on.moved(point{float64(w.X)*column + gap, s.top() + float64(w.Y-s.first)*unitHeight})
		at.card(box{0, 0, width, height})
		w.draw(at, s.page.Window)
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
		return string(r[:max(0, letters-1)]) + "…"
	}
	return text
}

// SVG draws the page as one self-contained SVG file.
func (p Page) SVG(out io.Writer) error {
	s := p.sheet()
	width, height := s.size()
	var page bytes.Buffer
	fmt.Fprintf(&page, "<svg class=\"dash\" xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" font-family=\"system-ui,sans-serif\"><style>%s</style>\n"+
		`<rect class="ground" width="100%%" height="100%%" fill="#f4f5f7"/>`, width, height, width, height, StyleSheet)
	s.draw(svg{out: &page, file: true})
	page.WriteString("\n</svg>\n")
	_, err := out.Write(page.Bytes())
	return err
}

// maxPixels limits the size of a bitmap.
const maxPixels = 120_000_000

// PNG draws the page as a bitmap, on a light background. The bitmap has two dots, in each direction, for each pixel
// of the SVG file. It returns an error if the page is too high for a bitmap.
func (p Page) PNG(out io.Writer) error {
	s := p.sheet()
	width, height := s.size()
	if width*height*scaling*scaling > maxPixels {
		return fmt.Errorf("the dashboard is %.0f pixels high, too high for a PNG: draw it as SVG or HTML", height)
	}
	b, err := newBitmap(width, height)
	if err != nil {
		return err
	}
	s.draw(b)
	return png.Encode(out, b.image)
}
