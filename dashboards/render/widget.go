package render

import (
	"strings"
)

const (
	column, unitHeight = 56.0, 44.0 // pixels of the grid's cells
	gap                = 10.0
	headHeight         = 26.0
)

func (w *Widget) size() (width, height float64) {
	return float64(w.Width)*column - gap, float64(w.Height)*unitHeight - gap
}

// draw draws a widget with its title. A widget whose data are missing says why. It returns the plot of a time series.
func (w *Widget) draw(on canvas, window Window) Plot {
	width, height := w.size()
	if w.Type == typeText && w.Problem == "" {
		drawMarkdown(on, w.Text, width, height)
		return Plot{}
	}
	const wide = 7.2 // approximate width of a letter of a title, in pixels
	unit := w.properties.YAxis.Left.Label
	if w.single() || w.View == viewTable {
		unit = ""
	}
	if right := w.properties.YAxis.Right.Label; right != "" && unit != "" {
		unit += " · " + right
	}
	on.text(point{12, 20}, begins, title, clip(w.Title, int((width-24-letter*float64(len(unit)))/wide)))
	if w.Problem != "" {
		for i, line := range wrap("not drawn: "+w.Problem, int(width/letter)-4, max(1, int((height-46)/16))) {
			on.text(point{12, 46 + 16*float64(i)}, begins, nothing, line)
		}
		return Plot{}
	}
	switch {
	case w.Type == typeAlarm:
		drawAlarms(on.moved(point{0, headHeight}), w.Alarms, width, height-headHeight, 0)
	case w.View == viewSingleValue:
		w.numbers(on, window, width, height)
	case w.View == viewGauge:
		w.gauge(on, width, height)
	case w.View == viewBar:
		w.barRows(on, width, height)
	case w.View == viewPie:
		w.pie(on, width, height)
	case w.View == viewTable && w.Table != nil:
		w.Table.draw(on, width, height)
	case w.View == viewTable:
		t := w.summary()
		t.draw(on, width, height)
	default:
		on.text(point{width - marginRight, 20}, ends, small, unit)
		plot := w.chart(on.moved(point{0, headHeight}), window, width, height-headHeight-4-w.noteHeight())
		w.note(on, width, height)
		return plot
	}
	w.note(on, width, height)
	return Plot{}
}

// noteHeight is the height of the line that names the parts of a widget that are not drawn.
func (w *Widget) noteHeight() float64 {
	if len(w.Notes) == 0 {
		return 0
	}
	return 16
}

func (w *Widget) note(on canvas, width, height float64) {
	if len(w.Notes) > 0 {
		on.text(point{12, height - 5}, begins, nothing, cut("not drawn: "+strings.Join(w.Notes, "; "), int(width/letter)-4))
	}
}
