package render

import (
	"testing"
	"time"
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
	from := time.Unix(0, 0)
	for name, values := range map[string][]float64{
		"just above at the right": {90, 80, 53, 53}, "crossing at the right": {90, 80, 54, 45},
		"just below at the right": {10, 20, 47, 47}, "no curve": nil,
	} {
		on := &texts{}
		l := &Line{Period: time.Minute}
		for i, v := range values {
			l.Times, l.Values = append(l.Times, from.Add(time.Duration(i)*time.Minute)), append(l.Values, v)
		}
		c := &chart{on: on, w: 400, h: 200, scales: [2]scale{{0, 100}}, marks: []mark{{Label: "alarm below", Value: 50}},
			window: Window{From: from, To: from.Add(4 * time.Minute)}, widget: &Widget{}, drawn: []*Line{l}}
		c.lower()
		width := letter * float64(letters("alarm below")+1)
		if len(on.at) != 1 || c.covers(box{on.at[0].x - width, on.at[0].y + 3 - labelHeight, width, labelHeight}) {
			t.Errorf("%s: the label is at %v, on the curve", name, on.at)
		}
	}
}
