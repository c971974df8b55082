package graph_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"stepback/engine/graph"
)

// Without the style sheet, which librsvg and Inkscape do not apply, each shape has a color.
func TestShapesHaveColorsWithoutCSS(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/examples/order-saga/order-saga.asl.json")
	if err != nil {
		t.Fatal(err)
	}
	var picture strings.Builder
	if err := graph.New(parse(t, string(text)), "").SVG(&picture, graph.Options{}); err != nil {
		t.Fatal(err)
	}
	shapes := 0
	for d := xml.NewDecoder(strings.NewReader(picture.String())); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		e, ok := token.(xml.StartElement)
		if !ok || !strings.Contains(" rect path text ", " "+e.Name.Local+" ") {
			continue
		}
		shapes++
		fill := ""
		for _, a := range e.Attr {
			if a.Name.Local == "fill" {
				fill = a.Value
			}
		}
		if fill != "none" && !strings.HasPrefix(fill, "#") {
			t.Errorf("%s has the fill %q", e.Name.Local, fill)
		}
	}
	if shapes < 30 {
		t.Errorf("the picture has %d shapes", shapes)
	}
}
