package render

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"time"
)

// body is a dashboard body. It holds only the members that are drawn.
type body struct {
	Start          string       `json:"start"`
	PeriodOverride string       `json:"periodOverride"`
	Widgets        []widgetJSON `json:"widgets"`
}

type widgetJSON struct {
	Type       string          `json:"type"`
	X          *int            `json:"x"`
	Y          *int            `json:"y"`
	Width      *int            `json:"width"`
	Height     *int            `json:"height"`
	Properties json.RawMessage `json:"properties"`
}

// properties are the properties of a widget of any type.
type properties struct {
	Title                string              `json:"title"`
	Markdown             string              `json:"markdown"`
	Alarms               []string            `json:"alarms"`
	States               []string            `json:"states"`
	SortBy               string              `json:"sortBy"`
	View                 string              `json:"view"`
	Stacked              bool                `json:"stacked"`
	Sparkline            bool                `json:"sparkline"`
	SetPeriodToTimeRange bool                `json:"setPeriodToTimeRange"`
	Stat                 string              `json:"stat"`
	Region               string              `json:"region"`
	AccountID            string              `json:"accountId"`
	Period               float64             `json:"period"` // seconds
	Metrics              [][]json.RawMessage `json:"metrics"`
	YAxis                axes                `json:"yAxis"`
	Legend               struct {
		Position string `json:"position"`
	} `json:"legend"`
	Annotations annotations `json:"annotations"`
	Query       string      `json:"query"`
	Language    string      `json:"queryLanguage"`
	Endpoint    string      `json:"endpoint"`
}

type annotations struct {
	Horizontal []band   `json:"horizontal"`
	Vertical   []moment `json:"vertical"`
	Alarms     []string `json:"alarms"`
}

type axes struct {
	Left  axis `json:"left"`
	Right axis `json:"right"`
}

type axis struct {
	Label string   `json:"label"`
	Min   *float64 `json:"min"`
	Max   *float64 `json:"max"`
}

// mark is a horizontal annotation. Fill is above, below or none.
type mark struct {
	Label   string  `json:"label"`
	Value   float64 `json:"value"`
	Color   string  `json:"color"`
	Fill    string  `json:"fill"`
	YAxis   string  `json:"yAxis"`
	Visible *bool   `json:"visible"`
}

// band is a horizontal annotation of one line, or of two lines with the space between them filled.
type band []mark

// UnmarshalJSON accepts an annotation or a pair of them.
func (b *band) UnmarshalJSON(text []byte) error { return oneOrMore(text, (*[]mark)(b)) }

// instant is a vertical annotation. Fill is before, after or none.
type instant struct {
	Label   string    `json:"label"`
	Value   time.Time `json:"value"`
	Color   string    `json:"color"`
	Fill    string    `json:"fill"`
	Visible *bool     `json:"visible"`
}

// moment is a vertical annotation of one time, or of two times with the space between them filled.
type moment []instant

// UnmarshalJSON accepts an annotation or a pair of them.
func (m *moment) UnmarshalJSON(text []byte) error { return oneOrMore(text, (*[]instant)(m)) }

func oneOrMore[T any](text []byte, to *[]T) error {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		return json.Unmarshal(text, to)
	}
	var one T
	if err := json.Unmarshal(text, &one); err != nil {
		return err
	}
	*to = []T{one}
	return nil
}

// usualSize is the width and height of a widget that gives none.
const usualSize = 6

// gridColumns is the number of columns in a dashboard's grid.
const gridColumns = 24

// parse parses a dashboard body and places its widgets. Properties that cannot be read are the widget's own problem.
func parse(text []byte) (body, []Widget, error) {
	var b body
	if err := json.Unmarshal(text, &b); err != nil {
		return b, nil, fmt.Errorf("dashboard body: %w", err)
	}
	all := make([]Widget, len(b.Widgets))
	x, y, row := 0, 0, 0 // the next free place: to the right of the previous widget, or below everything
	for i, j := range b.Widgets {
		w := Widget{Type: j.Type, Width: usualSize, Height: usualSize}
		if j.Width != nil {
			w.Width = *j.Width
		}
		if j.Height != nil {
			w.Height = *j.Height
		}
		if w.X, w.Y = x, row; x+w.Width > gridColumns {
			w.X, w.Y = 0, y
		}
		if j.X != nil {
			w.X = *j.X
		}
		if j.Y != nil {
			w.Y = *j.Y
		}
		if w.Width < 1 || w.Height < 1 || w.X < 0 || w.Y < 0 || w.X+w.Width > gridColumns || w.Height > 1000 ||
			w.Y > maxRow {
			return b, nil, fmt.Errorf("dashboard body: widget %d is outside the grid", i+1)
		}
		x, row, y = w.X+w.Width, w.Y, max(y, w.Y+w.Height)
		if len(j.Properties) > 0 {
			if err := json.Unmarshal(j.Properties, &w.properties); err != nil {
				w.Problem = "its properties cannot be read: " + err.Error()
			}
		}
		w.Title, w.View = w.properties.Title, cmp.Or(w.properties.View, usualView(w.Type))
		all[i] = w
	}
	return b, all, nil
}

// maxRow limits the height of a page.
const maxRow = 10_000

func usualView(kind string) string {
	switch kind {
	case typeMetric:
		return viewTimeSeries
	case typeLog:
		return viewTable
	}
	return ""
}

// Range returns how far back a dashboard shows by its own setting, such as 3 h for "start":"-PT3H". ok is false if the
// body has no setting, or an absolute time.
func Range(text []byte) (back time.Duration, ok bool) {
	var b body
	if json.Unmarshal(text, &b) != nil {
		return 0, false
	}
	return isoDuration(b.Start)
}

// isoDuration parses the durations that dashboards use: -PT3H, -P1D, -P3M and the like.
func isoDuration(text string) (d time.Duration, ok bool) {
	const day = 24 * time.Hour
	var rest string
	if n, err := fmt.Sscanf(text, "-P%s", &rest); err != nil || n != 1 {
		return 0, false
	}
	units := map[byte]time.Duration{'D': day, 'W': 7 * day, 'M': 30 * day, 'Y': 365 * day}
	n := time.Duration(0)
	for i := range len(rest) {
		switch c := rest[i]; {
		case c == 'T':
			units = map[byte]time.Duration{'H': time.Hour, 'M': time.Minute, 'S': time.Second}
		case c >= '0' && c <= '9' && n < 1_000_000:
			n = 10*n + time.Duration(c-'0')
		case units[c] > 0:
			d, n = d+n*units[c], 0
		default:
			return 0, false
		}
	}
	return d, d > 0 && n == 0
}
