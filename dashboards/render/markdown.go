package render

import (
	"bytes"
	"html"
	"html/template"
	"regexp"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown converts the Markdown of text widgets. HTML in it is left out, as in CloudWatch.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.Strikethrough, extension.Linkify,
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(plainImages{}, 100))),
)

// plainImages renders images as their descriptions, so that a page loads nothing from elsewhere.
type plainImages struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (plainImages) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindImage, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.WriteString(html.EscapeString(inline(n, source))) // a buffer accepts everything
		}
		return ast.WalkSkipChildren, nil
	})
}

// buttons matches the beginning of a link that CloudWatch shows as a button.
var buttons = regexp.MustCompile(`\[button:(?:primary:)?`)

// parseMarkdown parses Markdown. link, if it is not nil, returns the address to use for that of a link. Headings get
// levels from 2 on, without gaps, below the heading of the page.
func parseMarkdown(source []byte, link func(string) string) ast.Node {
	root := markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext()))
	level := 1
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		switch n := n.(type) {
		case *ast.Heading:
			if entering {
				level = min(n.Level+1, level+1, 6)
				n.Level = level
			}
		case *ast.Link:
			if entering && link != nil {
				n.Destination = []byte(link(string(n.Destination)))
			}
		}
		return ast.WalkContinue, nil
	})
	return root
}

// HTML returns the text of a text widget as HTML, whose headings begin at h2. link, if it is not nil, returns the
// address to use for that of a link.
func (w *Widget) HTML(link func(string) string) template.HTML {
	source := []byte(buttons.ReplaceAllString(w.Text, "["))
	var out bytes.Buffer
	if err := markdown.Renderer().Render(&out, source, parseMarkdown(source, link)); err != nil {
		return template.HTML("<pre>" + html.EscapeString(w.Text) + "</pre>") //nolint:gosec // escaped
	}
	return template.HTML(out.String()) //nolint:gosec // goldmark escapes texts and leaves out HTML
}

// block is a line or a paragraph of a text widget in a picture.
type block struct {
	style  style
	indent float64
	text   string
	cells  []string // of a row of a table
}

// drawMarkdown draws the text of a text widget: headings, paragraphs, lists, tables and code, without links.
func drawMarkdown(on canvas, markdownText string, width, height float64) {
	const line = 17.0
	source := []byte(buttons.ReplaceAllString(markdownText, "["))
	y := 0.0
	all := blocksOf(parseMarkdown(source, nil), source, 0)
	for i := range all {
		b := &all[i]
		if len(b.cells) > 0 {
			y = tableRow(on, all, i, y, width)
			continue
		}
		high, wide := line, 6.9
		if b.style == heading {
			high, wide = 26, 11
		}
		for _, l := range wrap(b.text, int((width-24-b.indent)/wide), 200) {
			if y += high; y > height {
				return
			}
			on.text(point{12 + b.indent, y}, begins, b.style, l)
		}
		y += 5
	}
}

// tableRow draws a row of a table, whose columns are as wide as the longest texts in adjacent rows. It returns the y
// below the row.
func tableRow(on canvas, all []block, i int, y, width float64) float64 {
	from, to := i, i+1
	for from > 0 && len(all[from-1].cells) > 0 {
		from--
	}
	for to < len(all) && len(all[to].cells) > 0 {
		to++
	}
	t := Table{Columns: all[from].cells}
	for _, b := range all[from+1 : to] {
		t.Rows = append(t.Rows, b.cells)
	}
	widths := t.widths(width - 24)
	y += 17
	x := 12.0
	for n, c := range all[i].cells[:min(len(all[i].cells), len(widths))] {
		on.text(point{x, y}, begins, all[i].style, cut(c, int(widths[n]/letter)-1))
		x += widths[n]
	}
	on.grid(point{12, y + 4}, point{width - 12, y + 4})
	return y
}

// blocksOf returns the blocks below a node.
func blocksOf(parent ast.Node, source []byte, indent float64) []block {
	const step = 16.0
	var all []block
	position := 0
	if l, ok := parent.(*ast.List); ok {
		position = l.Start
	}
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			s := title
			if n.Level == 2 {
				s = heading
			}
			all = append(all, block{style: s, indent: indent, text: inline(n, source)})
		case *ast.Paragraph, *ast.TextBlock:
			for l := range strings.SplitSeq(inline(n, source), "\n") {
				all = append(all, block{style: prose, indent: indent, text: l})
			}
		case *ast.ListItem:
			mark := "• "
			if l, ok := parent.(*ast.List); ok && l.IsOrdered() {
				mark = strconv.Itoa(position) + ". "
				position++
			}
			inner := blocksOf(n, source, indent+step)
			if len(inner) > 0 && len(inner[0].cells) == 0 {
				inner[0].text, inner[0].indent = mark+inner[0].text, indent
			}
			all = append(all, inner...)
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			for i := range n.Lines().Len() {
				l := n.Lines().At(i)
				all = append(all, block{style: small, indent: indent + step, text: strings.TrimRight(string(l.Value(source)), "\n")})
			}
		case *extast.TableHeader:
			all = append(all, block{style: title, cells: cellsOf(n, source)})
		case *extast.TableRow:
			all = append(all, block{style: small, cells: cellsOf(n, source)})
		case *ast.HTMLBlock, *ast.ThematicBreak:
		default:
			all = append(all, blocksOf(n, source, indent+step*float64(btoi(n.Kind() == ast.KindBlockquote)))...)
		}
	}
	return all
}

func cellsOf(row ast.Node, source []byte) []string {
	var cells []string
	for c := row.FirstChild(); c != nil; c = c.NextSibling() {
		cells = append(cells, inline(c, source))
	}
	return cells
}

// inline returns the text of a node without its markup.
func inline(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Value(source))
			switch {
			case n.HardLineBreak():
				b.WriteByte('\n')
			case n.SoftLineBreak():
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.AutoLink:
			b.Write(n.Label(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}
