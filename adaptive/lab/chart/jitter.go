package chart

import (
	"math"

	"stepback/adaptive/lab/contention"
)

// Jitter draws calls and completion over the number of clients, as the AWS article does.
func Jitter(points []contention.Row) *Figure {
	f := &Figure{Width: 980, Height: 400, Title: "Jitter: calls and completion of competing clients"}
	calls := &panel{Figure: f, x: 60, y: 60, w: 400, h: 250, left: 0, right: 1, high: 1}
	done := &panel{Figure: f, x: 550, y: 60, w: 400, h: 250, left: 0, right: 1, low: 0.1, high: 1, logarithmic: true}
	for _, p := range points {
		for _, q := range []*panel{calls, done} {
			q.right = math.Max(q.right, float64(p.Clients))
		}
		for _, r := range p.Results {
			calls.high = math.Max(calls.high, 1.05*r.Calls.Mean)
			done.high = math.Max(done.high, 1.2*r.Completion.Mean)
		}
	}
	f.heading(26, 26, "Calls until all clients are done")
	f.heading(516, 26, "Time until all clients are done")
	calls.axes("clients", "calls")
	done.axes("clients", "seconds, logarithmic")
	if len(points) == 0 {
		return f
	}
	colors := []string{"#8a8f98", "#c2571a", "#7b4fc9", "#2f6fd0", "#1d9a50"}
	for i, r := range points[0].Results {
		var a, b []Point
		for _, p := range points {
			a = append(a, calls.at(float64(p.Clients), p.Results[i].Calls.Mean))
			b = append(b, done.at(float64(p.Clients), p.Results[i].Completion.Mean))
		}
		color := colors[i%len(colors)]
		f.path(color, 2, false, a...)
		f.path(color, 2, false, b...)
		x := 60 + 150*float64(i)
		f.path(color, 3, false, Point{x, 376}, Point{x + 18, 376})
		f.text(x+24, 380, start, 12, ink, r.Strategy)
	}
	return f
}
