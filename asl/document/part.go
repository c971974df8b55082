package document

import (
	"strings"

	"stepback/asl"
	"stepback/asl/source"
)

// Part is the text of a definition that is part of a larger file, such as a template, with the origin of each of its
// pieces in that file. The pieces are written in the order of the definition.
type Part struct {
	file   string
	out    strings.Builder
	places mapping
	quotes Quotes
	object source.Path
	isYAML bool
}

// Quotes represents the notation in which the file writes a definition that is a string.
type Quotes byte

// The kinds of quotes. Plain text is also that of folded blocks, whose line ends are blanks.
const (
	Plain        Quotes = 0
	DoubleQuotes Quotes = '"'
	SingleQuotes Quotes = '\''
	LiteralBlock Quotes = '|'
)

// SetQuotes records how the file writes the text. Without it the text is Plain.
func (p *Part) SetQuotes(q Quotes) { p.quotes = q }

// SetObject records that the definition is an object of the file, at a path of it. yaml is true if the file is YAML,
// and false if it is JSON.
func (p *Part) SetObject(at source.Path, yaml bool) { p.object, p.isYAML = at, yaml }

// NewPart returns an empty part of a file with the given text.
func NewPart(file string) *Part { return &Part{file: file, places: mapping{}} }

// Text returns the text written so far.
func (p *Part) Text() string { return p.out.String() }

// Copy writes a piece of the file unchanged, so that each of its characters keeps its own position.
func (p *Part) Copy(from source.Span) { p.write(p.file[from.Start:from.End], from, true) }

// Write writes text that a piece of the file stands for: a decoded escape, or the placeholder that represents a
// function of the template. All of the text has the position of the piece.
func (p *Part) Write(text string, from source.Span) { p.write(text, from, false) }

func (p *Part) write(text string, from source.Span, same bool) {
	if text == "" {
		return
	}
	at := p.out.Len()
	p.out.WriteString(text)
	p.places = append(p.places, piece{at: source.Span{Start: at, End: p.out.Len()}, from: from, same: same})
}

// Read reads a definition like the function Read. Positions are those of the whole file, and Text of the document is
// the whole file.
func (p *Part) Read(o Options) *Document {
	d := read(&Document{Text: p.file, within: p.places}, p.Text(), o)
	d.quotes, d.object, d.isYAML = p.quotes, p.object, d.isYAML || p.isYAML
	return d
}

// Refuse returns a document that could not be read for a reason that lies in the file around it. at is the position of
// the reason in the file, message describes it, and hint, which may be empty, what would be accepted.
func Refuse(file string, at source.Span, message, hint string) *Document {
	d := &Document{Text: file}
	return d.refuse(problem{message: message, hint: hint, span: at, code: asl.SchemaValidationFailed})
}

// File returns the text of the whole file.
func (p *Part) File() string { return p.file }
