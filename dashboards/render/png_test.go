package render_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"

	"stepback/dashboards/render"
	"stepback/retrymetrics"
)

func picture(t *testing.T, p render.Page) image.Image {
	t.Helper()
	var out bytes.Buffer
	if err := p.PNG(&out); err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(&out)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// colors returns the colors of the picture, and checks that it is opaque.
func colors(t *testing.T, m image.Image) map[color.RGBA]bool {
	t.Helper()
	pixels, ok := m.(*image.RGBA)
	if !ok {
		t.Fatalf("the picture is a %T", m)
	}
	found := map[color.RGBA]bool{}
	var before color.RGBA
	for i := 0; i < len(pixels.Pix); i += 4 {
		if c := (color.RGBA{pixels.Pix[i], pixels.Pix[i+1], pixels.Pix[i+2], pixels.Pix[i+3]}); c != before {
			before, found[c] = c, true
		}
	}
	return found
}

// smallPage returns a page with a chart of lines and one of bars, which is drawn quickly.
func smallPage(t *testing.T, color string, points ...retrymetrics.Point) render.Page {
	t.Helper()
	return loaded(t, `{"widgets":[
{"type":"metric","width":6,"height":4,"properties":{"title":"Lines","stat":"Sum","metrics":[["CSVProcessing/Retry","RetryAttempts","StateMachine","csv-import",{"color":"`+color+`"}]]}},
{"type":"metric","x":6,"width":6,"height":4,"properties":{"title":"Bars","stat":"Sum","stacked":true,"metrics":[["CSVProcessing/Retry","TaskFailures","StateMachine","csv-import",{"color":"#ff7f0e"}]]}}]}`, points...)
}

func TestPNG(t *testing.T) {
	t.Parallel()
	p := smallPage(t, "#1f77b4", someRetries()...)
	without := picture(t, p)
	if without.Bounds().Dx() != 2*(24*56+10) {
		t.Errorf("%d dots wide", without.Bounds().Dx())
	}
	found := colors(t, without)
	for what, c := range map[string]color.RGBA{
		"ground": {0xf4, 0xf5, 0xf7, 0xff}, "card": {0xff, 0xff, 0xff, 0xff}, "ink": {0x16, 0x19, 0x1f, 0xff},
		"a curve": {0x1f, 0x77, 0xb4, 0xff}, "a bar": {0xff, 0x7f, 0x0e, 0xff},
	} {
		if !found[c] {
			t.Errorf("no %s", what)
		}
	}
	p.Alarms = []render.Alarm{{Name: "quiet", State: "OK", Text: "all is well"}}
	if with := picture(t, p); with.Bounds().Dy() <= without.Bounds().Dy() ||
		!colors(t, with)[color.RGBA{0x2c, 0xa0, 0x2c, 0xff}] {
		t.Error("the alarms are not drawn")
	}
	if picture(t, smallPage(t, "#1f77b4")).Bounds() != without.Bounds() {
		t.Error("without data the page has another size")
	}
}

func TestColorsThatAreNotKnownAreGray(t *testing.T) {
	t.Parallel()
	p := smallPage(t, "tomato", someRetries()...)
	if !colors(t, picture(t, p))[color.RGBA{0x7f, 0x7f, 0x7f, 0xff}] {
		t.Error("no gray")
	}
}
