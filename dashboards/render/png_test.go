package render_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"

	"stepback/dashboards/render"
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

// has reports whether a color is in the picture.
func has(m image.Image, c color.RGBA) bool {
	for y := range m.Bounds().Dy() {
		for x := range m.Bounds().Dx() {
			if r, g, b, _ := m.At(x, y).RGBA(); byte(r>>8) == c.R && byte(g>>8) == c.G && byte(b>>8) == c.B {
				return true
			}
		}
	}
	return false
}

func TestPNG(t *testing.T) {
	t.Parallel()
	p := page(t, someRetries()...)
	without := picture(t, p)
	if without.Bounds().Dx() != 2*(24*56+10) {
		t.Errorf("%d dots wide", without.Bounds().Dx())
	}
	for what, c := range map[string]color.RGBA{
		"ground": {0xf4, 0xf5, 0xf7, 0xff}, "card": {0xff, 0xff, 0xff, 0xff}, "ink": {0x16, 0x19, 0x1f, 0xff},
		"a curve": {0x1f, 0x77, 0xb4, 0xff}, "a bar": {0xff, 0x7f, 0x0e, 0xff},
	} {
		if !has(without, c) {
			t.Errorf("no %s", what)
		}
	}
	p.Alarms = []render.Alarm{{Name: "quiet", State: "OK", Text: "all is well"}}
	if with := picture(t, p); with.Bounds().Dy() <= without.Bounds().Dy() || !has(with, color.RGBA{0x2c, 0xa0, 0x2c, 0xff}) {
		t.Error("the alarms are not drawn")
	}
	if picture(t, page(t)).Bounds() != without.Bounds() {
		t.Error("without data the page has another size")
	}
}

func TestColorsThatAreNotKnownAreGray(t *testing.T) {
	t.Parallel()
	p := page(t, someRetries()...)
	p.Body = bytes.ReplaceAll(p.Body, []byte("#2ca02c"), []byte("tomato"))
	if !has(picture(t, p), color.RGBA{0x7f, 0x7f, 0x7f, 0xff}) {
		t.Error("no gray")
	}
}
