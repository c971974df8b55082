package document

import (
	"strings"

	"stepback/internal/lazyregexp"
)

// placeholder matches the placeholders of DefinitionSubstitutions; the templates of Terraform and the Serverless
// Framework look alike.
var placeholder = lazyregexp.New(`\$\{([^{}"\n]{1,200})\}`)

// maxPlaceholder is the maximum length of a placeholder, in bytes.
const maxPlaceholder = 4*200 + len("${}")

// Placeholders returns the names of the placeholders in a text, each once, in the order of the text, whether or not
// they have a value.
func Placeholders(text string) []string {
	var found names
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		found.add(m[1])
	}
	return found.list
}

// pseudoParameters returns CloudFormation's pseudo parameters with plausible values.
func pseudoParameters() map[string]string {
	return map[string]string{
		"AWS::AccountId": "123456789012", "AWS::Partition": "aws", "AWS::Region": "us-east-1",
		"AWS::URLSuffix": "amazonaws.com",
	}
}

// filler marks the placeholders that are left in the JSON of a definition, because they have no value.
type filler struct {
	rewriter

	open, needed names
	key          string // the last string of the JSON that was followed by a colon
}

// fill looks at the JSON token by token. A string with open placeholders is replaced by a stand-in if it must be an
// ARN. A placeholder outside strings is always replaced, because the text would not be JSON otherwise.
func (f *filler) fill() {
	for i := 0; i < len(f.text); {
		switch f.text[i] {
		case '"':
			i = f.quoted(i)
		case '$':
			i = f.bare(i)
		default:
			i++
		}
	}
}

// quoted processes the string that begins at start. It returns the offset at which to continue.
func (f *filler) quoted(start int) int {
	end := endOfString(f.text, start)
	content := f.text[start+1 : end]
	if strings.Contains(content, "${") {
		f.copy(start + 1)
		if instead, ok := standIn(f.key, content); ok {
			open := Placeholders(content)
			for _, name := range open {
				f.open.add(name)
			}
			f.replace(end, instead, open)
		} else {
			f.within(end)
		}
	}
	if rest := strings.TrimLeft(f.text[min(end+1, len(f.text)):], " \t\r\n"); strings.HasPrefix(rest, ":") {
		f.key = content
	}
	return min(end+1, len(f.text))
}

// within marks the placeholders up to an offset as open.
func (f *filler) within(to int) {
	base := f.done
	for _, m := range placeholder.FindAllStringSubmatchIndex(f.text[base:to], -1) {
		name := f.text[base+m[2] : base+m[3]]
		f.copy(base + m[0])
		f.open.add(name)
		f.replace(base+m[1], f.text[base+m[0]:base+m[1]], []string{name})
	}
	f.copy(to)
}

// bare processes a placeholder outside a string.
func (f *filler) bare(start int) int {
	m := placeholder.FindStringSubmatchIndex(f.text[start:min(len(f.text), start+maxPlaceholder)])
	if m == nil || m[0] != 0 {
		return start + 1
	}
	end, name := start+m[1], f.text[start+m[2]:start+m[3]]
	f.copy(start)
	f.open.add(name)
	f.needed.add(name)
	f.replace(end, standInNumber(f.key), []string{name})
	return end
}

// endOfString returns the offset of the closing quote of the string that begins at start, or of the text's end.
func endOfString(text string, start int) int {
	for i := start + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(text)
}

// names is a list of distinct names in the order in which they first occurred.
type names struct {
	list []string
	seen map[string]bool
}

func (n *names) add(name string) {
	if n.seen[name] {
		return
	}
	if n.seen == nil {
		n.seen = map[string]bool{}
	}
	n.seen[name] = true
	n.list = append(n.list, name)
}
