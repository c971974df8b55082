package definitions

import (
	"strings"

	"stepback/asl/document"
	"stepback/asl/source"
	"stepback/jsonvalue"
)

// unknown is the placeholder for a value that only the deployment knows.
const unknown = "${Unknown}"

// writer writes the definition of a state machine that a template contains.
type writer struct{ *document.Part }

// string writes a node that stands for a text, with placeholders for parts that are only known at deployment. It
// returns false if the node has no text form.
func (w writer) string(n *node) bool {
	switch {
	case n == nil || n.is(jsonvalue.Array) || n.is(jsonvalue.Null):
		return false
	case n.is(jsonvalue.String):
		w.SetQuotes(n.quotes)
		w.pieces(n.pieces)
		return true
	case !n.is(jsonvalue.Object):
		w.Write(n.text, n.at)
		return true
	}
	switch name, argument := n.function(); name {
	case "Fn::Sub":
		if argument.is(jsonvalue.Array) && len(argument.items) > 0 {
			argument = argument.items[0]
		}
		if !argument.is(jsonvalue.String) {
			return false
		}
		w.SetQuotes(argument.quotes)
		w.pieces(unescaped(argument.pieces))
		return true
	case "Fn::Join":
		if !argument.is(jsonvalue.Array) || len(argument.items) != 2 {
			return false
		}
		separator := argument.items[0].str()
		for i, part := range argument.items[1].items {
			if i > 0 {
				w.Write(separator, argument.items[0].at)
			}
			if !w.string(part) {
				return false
			}
		}
		return argument.items[1].is(jsonvalue.Array)
	case "Fn::ToJsonString":
		if !argument.is(jsonvalue.Object) && !argument.is(jsonvalue.Array) {
			return false
		}
		w.json(argument)
		return true
	default:
		text, ok := reference(name, argument)
		w.Write(text, n.at)
		return ok
	}
}

// pieces writes a text.
func (w writer) pieces(pieces []textPiece) {
	for _, p := range pieces {
		if p.same {
			w.Copy(p.at)
		} else {
			w.Write(p.text, p.at)
		}
	}
}

// reference returns the placeholder for a function whose value only the deployment knows. ok is false for other
// functions, which have no text.
func reference(name string, argument *node) (text string, ok bool) {
	switch name {
	case "Ref":
		return "${" + argument.str() + "}", true
	case "Fn::GetAtt":
		parts := []string{argument.str()}
		if argument.is(jsonvalue.Array) {
			parts = nil
			for _, e := range argument.items {
				parts = append(parts, e.str())
			}
		}
		return "${" + strings.Join(parts, ".") + "}", true
	case "Fn::ImportValue", "Fn::FindInMap", "Fn::Select", "Fn::If", "Fn::Base64":
		return unknown, true
	default:
		return "", false
	}
}

// unescaped replaces ${!NAME} in the text of Fn::Sub, which stands for ${NAME} itself.
func unescaped(pieces []textPiece) []textPiece {
	var out []textPiece
	for _, p := range pieces {
		for p.same {
			i := strings.Index(p.text, "${!")
			if i < 0 {
				break
			}
			i += len("${")
			out = append(out, textPiece{p.text[:i], source.Span{Start: p.at.Start, End: p.at.Start + i}, true})
			p.text, p.at.Start = p.text[i+1:], p.at.Start+i+1
		}
		p.text = strings.ReplaceAll(p.text, "${!", "${")
		out = append(out, p)
	}
	return out
}

// json writes a node as JSON, with functions replaced by placeholders.
func (w writer) json(n *node) {
	switch n.kind {
	case jsonvalue.Object:
		if name, _ := n.function(); name != "" {
			w.function(n)
			return
		}
		w.Write("{", n.at)
		for i, name := range n.names {
			if i > 0 {
				w.Write(",", n.keys[i])
			}
			w.Write(quoted(name), n.keys[i])
			w.Write(":", n.keys[i])
			w.json(n.items[i])
		}
		w.Write("}", n.at)
	case jsonvalue.Array:
		w.Write("[", n.at)
		for i, e := range n.items {
			if i > 0 {
				w.Write(",", e.at)
			}
			w.json(e)
		}
		w.Write("]", n.at)
	case jsonvalue.String:
		w.quoted(n.pieces, n.at)
	default:
		w.Write(n.text, n.at)
	}
}

// function writes a function inside a definition as a string.
func (w writer) function(n *node) {
	inner := writer{document.NewPart(w.File())}
	text := unknown
	if inner.string(n) {
		text = inner.Text()
	}
	w.Write(quoted(text), n.at)
}

// quoted writes a string in quotes. Where the JSON is the same text as the file, each character keeps its position.
func (w writer) quoted(pieces []textPiece, at source.Span) {
	w.Write(`"`, source.Span{Start: at.Start, End: at.Start})
	for _, p := range pieces {
		for line := range strings.Lines(p.text) {
			body := strings.TrimRight(line, "\r\n")
			if p.same && quoted(body) == `"`+body+`"` {
				w.Copy(source.Span{Start: p.at.Start, End: p.at.Start + len(body)})
				w.inner(line[len(body):], source.Span{Start: p.at.Start + len(body), End: p.at.Start + len(line)})
				p.at.Start += len(line)
				continue
			}
			to := p.at
			if p.same {
				to = source.Span{Start: p.at.Start, End: p.at.Start + len(line)}
				p.at.Start = to.End
			}
			w.inner(line, to)
		}
	}
	end := at.End
	if len(pieces) > 0 {
		end = pieces[len(pieces)-1].at.End
	}
	w.Write(`"`, source.Span{Start: end, End: end})
}

// inner writes text inside quotes.
func (w writer) inner(text string, at source.Span) {
	q := quoted(text)
	w.Write(q[1:len(q)-1], at)
}

func quoted(s string) string { return string(jsonvalue.AppendQuoted(nil, s)) }

// isS3 reports whether a value names an object in S3 rather than a local file.
func isS3(n *node) bool { return !n.is(jsonvalue.String) || strings.HasPrefix(n.text, "s3://") }
