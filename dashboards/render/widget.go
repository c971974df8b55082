package render

import (
	"errors"

	"stepback/retrymetrics/metricmath"
)

const (
	column, unitHeight = 56.0, 44.0 // pixels of the grid's cells
	gap                = 10.0
	headHeight         = 26.0
)

func (w widget) size() (width, height float64) {
	return float64(w.Width)*column - gap, float64(w.Height)*unitHeight - gap
}

// draw draws a metric widget with its title. If one of its rows is not supported, it shows a message instead of the
// chart, so that a custom widget does not prevent the others from being drawn.
func (w widget) draw(on canvas, data Data, g metricmath.Grid) error {
	width, height := w.size()
	const wide = 7.2 // approximate width of a letter of a title, in pixels
	unit := w.Properties.YAxis.Left.Label
	on.text(point{12, 20}, begins, title, clip(w.Properties.Title, int((width-24-letter*float64(len(unit)))/wide)))
	single := w.Properties.View == "singleValue"
	over := g
	if single {
		over = whole()
	}
	lines, err := w.lines(data, over)
	if foreign, ok := errors.AsType[*foreignError](err); ok {
		on.text(point{12, 46}, begins, nothing, cut("not drawn: "+foreign.Error(), int(width/letter)-4))
		return nil
	}
	if err != nil {
		return err
	}
	if single {
		for i, l := range lines {
			y := float64(i * 50)
			on.text(point{12, y + 58}, begins, number, short(l.values[0]))
			on.text(point{12, y + 80}, begins, small, l.label)
		}
		return nil
	}
	on.text(point{width - marginRight, 20}, ends, small, unit)
	w.chart(on.moved(point{0, headHeight}), lines, g, width, height-headHeight-4)
	return nil
}
