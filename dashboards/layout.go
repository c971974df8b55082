package dashboards

import "stepback/retrymetrics"

// layout places widgets from top to bottom.
type layout struct {
	Options
	widgets []Widget
	y       int
}

func (b *layout) place(w Widget) {
	w.Y = b.y
	b.y += w.Height
	b.widgets = append(b.widgets, w)
}

func (b *layout) text(height int, markdown string) {
	b.place(Widget{Text: markdown, Width: columns, Height: height})
}

// row places graphs side by side. It leaves out graphs that have no data at the log level or, for a state machine that
// is not the CSV import, that show the outcome of rows.
func (b *layout) row(height int, graphs ...Widget) {
	var left []Widget
	for _, w := range graphs {
		var rows []Row
		for _, r := range w.Metric.Rows {
			if r.at(b.Level) && (!b.General || !r.ofRows()) {
				rows = append(rows, r)
			}
		}
		if w.Metric.Rows = rows; len(rows) > 0 {
			left = append(left, w)
		}
	}
	if len(left) == 0 {
		return
	}
	width := columns / len(left)
	for i, w := range left {
		w.X, w.Y, w.Width, w.Height = i*width, b.y, width, height
		b.widgets = append(b.widgets, w)
	}
	b.y += height
}

func graph(title string, unit retrymetrics.Unit, rows ...Row) Widget {
	zero := 0.0
	return Widget{Title: title, Metric: &MetricWidget{Rows: rows, View: timeSeries, Unit: unit, Min: &zero}}
}

func number(title string, unit retrymetrics.Unit, row Row) Widget {
	return Widget{Title: title, Metric: &MetricWidget{Rows: []Row{row}, View: singleValue, Unit: unit}}
}

func stacked(w Widget) Widget {
	w.Metric.Stacked = true
	return w
}
