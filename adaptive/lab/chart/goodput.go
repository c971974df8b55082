package chart

import (
	"fmt"
	"math"

	"stepback/adaptive/lab"
	"stepback/adaptive/lab/scenario"
	"stepback/adaptive/lab/simulation"
	"stepback/adaptive/lab/statistics"
)

// palette holds the colors of policies; the policies in familiar have the same color in all charts.
var (
	familiar = map[string]string{"static": "#8a8f98", "none": "#2f6fd0", "adaptive": "#1d9a50", "oracle": "#16191f"}
	palette  = []string{"#c2571a", "#7b4fc9", "#b8860b", "#00838f", "#c2185b", "#5d4037", "#607d8b", "#9e9d24"}
)

// curve is a policy's goodput over time.
type curve struct {
	policy, color, note string
	mean, low, high     []float64
}

// curves returns a curve for each policy: the bins of a scenario's runs, averaged over the seeds.
func curves(r *lab.Report, scenarioName string, policies []string) []curve {
	var out []curve
	next := 0
	for _, name := range policies {
		runs := r.Runs(scenarioName, name)
		if len(runs) == 0 {
			continue
		}
		c := curve{policy: name, color: familiar[name]}
		if c.color == "" {
			c.color = palette[next%len(palette)]
			next++
		}
		longest, highest := 0, 0.0
		for _, run := range runs {
			longest = max(longest, len(run.Bins))
			for _, b := range run.Bins {
				highest = max(highest, float64(max(b.Offered, b.Done))/simulation.BinWidth.Seconds())
			}
		}
		for i := range longest {
			values := make([]float64, len(runs))
			for j, run := range runs {
				if i < len(run.Bins) {
					values[j] = float64(run.Bins[i].Done) / simulation.BinWidth.Seconds()
				}
			}
			e := statistics.MeanWithin(values, 0, highest)
			if math.IsNaN(e.Low) {
				e.Low, e.High = e.Mean, e.Mean
			}
			c.mean, c.low, c.high = append(c.mean, e.Mean), append(c.low, max(0, e.Low)), append(c.high, e.High)
		}
		res := r.Result(scenarioName, name)
		c.note = fmt.Sprintf("%.4g %% saved, %.0f dead letters", 100*res.Metrics["success"].Mean,
			res.Metrics["deadLettered"].Mean)
		out = append(out, c)
	}
	return out
}

// Goodput draws records done per second over time, in bins of ten seconds, with the 95 % interval of the mean over
// the seeds. The time axis begins a little before the first fault. It ends with the scenario's duration, or when
// everything is done.
func Goodput(r *lab.Report, s *scenario.Scenario, policies []string) *Figure {
	f := &Figure{Width: 760, Height: 400, Title: "Records saved per second: " + s.About}
	goodput(f, r, s, policies, 56, 60, 680, 230)
	return f
}

// goodput draws the panel and its legend at a position of a figure.
func goodput(f *Figure, r *lab.Report, s *scenario.Scenario, policies []string, x, y, w, h float64) {
	all := curves(r, s.Name, policies)
	p := &panel{Figure: f, x: x, y: y, w: w, h: h, right: s.Duration.Seconds() / 60, high: 1}
	first := firstFault(s)
	p.left = max(0, math.Floor(first/60)-5)
	if !hasStream(s) {
		p.right = 1
	}
	for _, c := range all {
		for i, v := range c.high {
			p.high = max(p.high, 1.1*v)
			if v > 0 && !hasStream(s) {
				p.right = max(p.right, float64(i+1)*simulation.BinWidth.Minutes())
			}
		}
	}
	f.heading(x-34, y-34, s.About)
	for _, fault := range s.Faults {
		if fault.IsGilbert() {
			continue
		}
		from, to := p.at(fault.At.Minutes(), 0), p.at((fault.At+fault.For).Minutes(), 0)
		f.area("#d9534f", 0.15, Point{from.X, y}, Point{max(to.X, from.X+2), y}, Point{max(to.X, from.X+2), y + h},
			Point{from.X, y + h})
	}
	p.axes("minutes", "records saved per second")
	for _, c := range all {
		p.draw(c)
	}
	for i, c := range all {
		lx, ly := x+float64(i%2)*w/2, y+h+56+18*float64(i/2)
		f.path(c.color, 3, false, Point{lx, ly - 4}, Point{lx + 18, ly - 4})
		f.text(lx+24, ly, start, 12, ink, c.policy+": "+c.note)
	}
}

func (p *panel) draw(c curve) {
	minute := simulation.BinWidth.Minutes()
	var line, band, back []Point
	for i := range c.mean {
		t := (float64(i) + 0.5) * minute
		if t < p.left || t > p.right {
			continue
		}
		line = append(line, p.at(t, c.mean[i]))
		band = append(band, p.at(t, c.low[i]))
		back = append(back, p.at(t, c.high[i]))
	}
	for i := len(back) - 1; i >= 0; i-- {
		band = append(band, back[i])
	}
	if len(line) > 1 {
		p.area(c.color, 0.25, band...)
		p.path(c.color, 1.8, false, line...)
	}
}

func firstFault(s *scenario.Scenario) float64 {
	first := s.Duration.Seconds()
	for _, f := range s.Faults {
		if !f.IsGilbert() {
			first = min(first, f.At.Seconds())
		}
	}
	if first == s.Duration.Seconds() {
		return 0
	}
	return first
}

func hasStream(s *scenario.Scenario) bool {
	for _, w := range s.Workloads {
		if w.Arrivals != nil {
			return true
		}
	}
	return false
}
