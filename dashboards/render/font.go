package render

import (
	"fmt"
	"image/color"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
)

// faces are the fonts of the styles: Go's own fonts, which are embedded in the program.
type faces [prose + 1]font.Face

// looks define the font and size of each style, as in the style sheet.
var looks = [prose + 1]struct {
	ttf  []byte
	size float64
}{
	small: {goregular.TTF, 11}, title: {gomedium.TTF, 13}, heading: {gobold.TTF, 20}, number: {gobold.TTF, 26},
	nothing: {goregular.TTF, 12}, alarming: {gobold.TTF, 12}, fine: {gomedium.TTF, 12}, prose: {goregular.TTF, 13},
}

// inks are the colors of the styles on a light background.
var inks = [prose + 1]color.Color{
	small: dimColor, title: inkColor, heading: inkColor, number: inkColor, nothing: dimColor,
	alarming: colorOf(alarmColor), fine: fineColor, prose: inkColor,
}

func newFaces() (faces, error) {
	var all faces
	for s, look := range looks {
		parsed, err := opentype.Parse(look.ttf)
		if err != nil {
			return all, fmt.Errorf("font: %w", err)
		}
		// At 72 DPI a point is one pixel.
		all[s], err = opentype.NewFace(parsed, &opentype.FaceOptions{Size: look.size * scaling, DPI: 72,
			Hinting: font.HintingNone})
		if err != nil {
			return all, fmt.Errorf("font: %w", err)
		}
	}
	return all, nil
}
