package graph

import (
	"fmt"
	"image/color"

	"stepback/engine/timeline"
)

// Presentation attributes of SVG, in the style sheet's light colors. Browsers prefer the style sheet. Programs whose
// CSS has no variables, such as Inkscape, LibreOffice and librsvg, ignore its rules and draw the attributes; without
// them everything would be black.
const (
	paintName  = `fill="#1f2328"`
	paintAbout = `fill="#59636e" font-size="11"`
	paintLabel = paintAbout + ` stroke="#fff" stroke-width="7" stroke-linejoin="round" paint-order="stroke"`
)

// plain returns attributes with a blank before them, or "" for a picture without a style sheet: the style sheet of its
// page applies.
func (o Options) plain(attributes string) string {
	if o.Bare {
		return ""
	}
	return " " + attributes
}

// dashes are the gaps of the borders of some outcomes.
var dashes = map[timeline.Outcome]string{timeline.Caught: ` stroke-dasharray="5 3"`, timeline.Aborted: ` stroke-dasharray="2 3"`}

// hex returns a color as SVG writes it.
func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// paint returns the attributes of a node.
func (n *Node) paint(mark *Mark) string {
	border, ground, further := lineColor, color.RGBA{0xff, 0xff, 0xff, 0xff}, ""
	if mark != nil {
		if ink, ok := inks[mark.Outcome]; ok {
			border, ground = ink[0], ink[1]
		}
		if further = dashes[mark.Outcome]; mark.Outcome == timeline.Running || mark.Outcome == timeline.Waiting {
			further = ` stroke-width="2"`
		}
	}
	if n.Type == "" || n.Box() {
		ground = boxColor
	}
	return fmt.Sprintf(`fill="%s" stroke="%s"%s`, hex(ground), hex(border), further)
}

// paint returns the attributes of a transition's line and of its head.
func (e *Edge) paint(taken bool) (line, head string) {
	ink, width, opacity, dash := edgeColor, "1.25", "", ""
	if taken {
		ink, width = inkColor, "2"
	}
	switch e.Kind {
	case Next, Choice:
	case Default:
		dash = ` stroke-dasharray="1.5 3"`
	case Catch:
		ink, dash = badColor, ` stroke-dasharray="4 3"`
		if !taken {
			opacity = ` opacity=".6"`
		}
	}
	return fmt.Sprintf(`fill="none" stroke="%s" stroke-width="%s"%s%s`, hex(ink), width, dash, opacity),
		fmt.Sprintf(`fill="%s"%s`, hex(ink), opacity)
}
