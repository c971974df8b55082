package render

import (
	"testing"
	"time"

	"stepback/retrymetrics/metricmath"
)

// texts is a canvas that records where texts are written.
type texts struct {
	canvas
	at []point
}

func (r *texts) text(at point, _ anchor, _ style, _ string) { r.at = append(r.at, at) }
func (r *texts) mark(point, point, string)                  {}

// The label of an annotation lies beside the curve, not on it.
func TestLabelsAvoidCurves(t *testing.T) {
	t.Parallel()
	for name, values := range map[string]metricmath.Series{
		"just above at the right": {90, 80, 53, 53}, "crossing at the right": {90, 80, 54, 45},
		"just below at the right": {10, 20, 47, 47}, "no curve": nil,
	} {
		on := &texts{}
		c := &chart{on: on, w: 400, h: 200, bottom: 0, top: 100, marks: []mark{{Label: "alarm below", Value: 50}},
			grid:  metricmath.GridOver(time.Unix(0, 0), time.Unix(180, 0), time.Minute),
			drawn: []line{{values: values}}}
		c.lower()
		width := letter * float64(letters("alarm below")+1)
		if len(on.at) != 1 || c.covers(box{on.at[0].x - width, on.at[0].y + 3 - labelHeight, width, labelHeight}) {
			t.Errorf("%s: the label is at %v, on the curve", name, on.at)
		}
	}
}
