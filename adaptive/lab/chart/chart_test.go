package chart_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"strings"
	"testing"

	"stepback/adaptive/lab"
	"stepback/adaptive/lab/chart"
	"stepback/adaptive/lab/contention"
	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/scenario"
	"stepback/adaptive/lab/scenarios"
)

// written returns a figure as SVG, after checking that its SVG and PNG are well formed.
func written(t *testing.T, f *chart.Figure) string {
	t.Helper()
	var text, picture bytes.Buffer
	if err := errors.Join(f.WriteSVG(&text), f.WritePNG(&picture)); err != nil {
		t.Fatal(err)
	}
	decoder := xml.NewDecoder(bytes.NewReader(text.Bytes()))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the SVG is not well formed: %v", err)
		}
	}
	m, err := png.Decode(&picture)
	if err != nil {
		t.Fatal(err)
	}
	if size := m.Bounds().Size(); size.X != int(2*f.Width) || size.Y != int(2*f.Height) {
		t.Errorf("the PNG has %v pixels", size)
	}
	colors := map[[3]uint32]bool{}
	for x := range m.Bounds().Dx() {
		for y := 0; y < m.Bounds().Dy(); y += 3 {
			r, g, b, _ := m.At(x, y).RGBA()
			colors[[3]uint32{r, g, b}] = true
		}
	}
	if len(colors) < 20 {
		t.Errorf("the PNG has only %d colors", len(colors))
	}
	if strings.Contains(text.String(), "NaN") || strings.Contains(text.String(), "Inf") {
		t.Error("a coordinate is no number")
	}
	return text.String()
}

func TestGoodputOfEveryScenario(t *testing.T) {
	t.Parallel()
	names := []string{"none", "adaptive"}
	for _, name := range []string{"outage-30s", "map-outage", "calm", "gusts"} {
		s, err := scenarios.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		e := lab.Experiment{
			Scenarios: []*scenario.Scenario{s}, Policies: policies(t, names), Seeds: 2, FirstSeed: 1,
		}
		r, err := lab.Run(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		text := written(t, chart.Goodput(r, s, names))
		for _, want := range []string{s.About, "none: ", "adaptive: ", "records saved per second", "<polyline",
			"<polygon"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in the picture", name, want)
			}
		}
	}
}

func policies(t *testing.T, names []string) []*policy.Policy {
	t.Helper()
	var out []*policy.Policy
	for _, name := range names {
		p, err := policy.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

func TestVulnerability(t *testing.T) {
	t.Parallel()
	sweep := &lab.Sweep{Outage: 60e9, Seeds: 4}
	for _, load := range []float64{0.2, 0.4, 0.6} {
		for m := range 4 {
			c := lab.Cell{Utilisation: load, Retries: m, Seeds: 4}
			if load*float64(1+m) > 1.5 {
				c.Collapsed = 4
			}
			sweep.Cells = append(sweep.Cells, c)
		}
	}
	sweep.Cells[7].Collapsed = 3
	text := written(t, chart.Vulnerability(sweep))
	for _, want := range []string{"one outage of 60 seconds", ">3/4<", "#d9534f", "#cfe8d5", "ρ(1 + m) = 1"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the picture", want)
		}
	}
}

func TestJitter(t *testing.T) {
	t.Parallel()
	points, err := contention.Table(contention.Options{Trials: 2, Seed: 1}, []int{10, 20})
	if err != nil {
		t.Fatal(err)
	}
	if text := written(t, chart.Jitter(points)); !strings.Contains(text, "decorrelated") {
		t.Error("a strategy is not in the picture")
	}
	written(t, chart.Jitter(points[:1]))
}

func TestScale(t *testing.T) {
	t.Parallel()
	text := written(t, chart.Scale("Import", "rows", chart.ScalePanel{Heading: "Time", Axis: "µs per row", Lines: []chart.Growth{
		{Name: "wall clock", Sizes: []float64{1e4, 1e5, 1e6}, Values: []float64{90, 9, 9}},
		{Name: "processor", Sizes: []float64{1e4, 1e6}, Values: []float64{50, 11}},
	}}))
	for _, want := range []string{">10k<", ">100k<", ">1M<", ">100<", ">1<", "µs per row", "wall clock", "processor",
		`points="62,66.6 252,166.6 442,166.6"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the picture", want)
		}
	}
}
